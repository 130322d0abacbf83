/** All scopes: a token can permit reading or writing the records of a noun. */
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

/** Whether a value is a scope. */
export const isScope = (text: unknown): text is Scope => typeof text === 'string' && KNOWN.has(text);
