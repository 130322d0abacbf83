/** What a token can permit: reading or writing the records of one noun. */
export const SCOPES = [
  'workflows:read',
  'workflows:write',
  'subscribers:read',
  'subscribers:write',
  'groups:read',
  'groups:write',
  'feeds:read',
  'feeds:write',
  'messages:write',
  'stats:read',
] as const;

export type Scope = (typeof SCOPES)[number];

const KNOWN = new Set<string>(SCOPES);

export const isScope = (text: unknown): text is Scope => typeof text === 'string' && KNOWN.has(text);

/** The scopes in a token's claim, a text with spaces between (RFC 8693, 4.2) or a list; those that are not ours are left out. */
export function readScopes(claim: unknown): Scope[] {
  const texts: unknown[] = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [];
  return texts.filter(isScope);
}
