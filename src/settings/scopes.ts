import { SCOPES } from './scopes.gen.ts';

export { SCOPES };

/** A permission of a token: to read or to write the records of one noun. */
export type Scope = (typeof SCOPES)[number];

const KNOWN = new Set<string>(SCOPES);

/** Whether a text is a scope. */
export const isScope = (text: unknown): text is Scope => typeof text === 'string' && KNOWN.has(text);
