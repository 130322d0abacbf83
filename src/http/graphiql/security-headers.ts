/**
 * Returns the headers that protect a page. The browser loads nothing that the sources don't permit.
 *
 * @param sources directives of the Content-Security-Policy, such as `script-src 'self'`
 */
export const securityHeaders = (...sources: readonly string[]) => ({
  'content-security-policy': [
    "default-src 'none'",
    ...sources,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
});
