/** Upper bound in seconds; fits the schema's Int. */
const MAX_RETRY_AFTER = 999_999_999;

/** Matches HTTP dates. `Date.parse` accepts nearly any text with a number in it, such as -1 or 1.5. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*, .+ GMT$/;

/** Parses `Retry-After` (RFC 9110, 10.2.3), a date or seconds, into whole seconds. Returns undefined if it is malformed. */
export function parseRetryAfter(header: string | undefined, now: number = Date.now()): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) {
    return Number(text);
  }
  const date = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.min(MAX_RETRY_AFTER, Math.max(0, Math.ceil((date - now) / 1000)));
}
