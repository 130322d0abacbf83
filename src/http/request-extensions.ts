import type { ClientRules } from '../auth/client-rules.ts';
import { refuse } from '../settings/refuse.ts';
import type { Params } from './params.ts';

/** Flags in the `extensions` of a request. */
export interface RequestExtensions {
  /** Whether the operation is only explained: its REST calls are listed, not made. */
  explain: boolean;
  /** Whether the response reports the REST calls that were made. */
  upstream: boolean;
}

const NONE: RequestExtensions = { explain: false, upstream: false };

/**
 * Reads the flags. Other extensions are ignored, because clients may send their own.
 *
 * @throws {Refusal} BAD_REQUEST if a flag is no boolean, FORBIDDEN if a setting hides REST calls from this kind of client
 */
export function readExtensions({ extensions }: Params, { hidesCalls }: ClientRules): RequestExtensions {
  if (extensions === undefined) {
    return NONE;
  }
  const flags = { explain: readFlag(extensions, 'explain'), upstream: readFlag(extensions, 'upstream') };
  if (hidesCalls !== undefined && (flags.explain || flags.upstream)) {
    const name = flags.explain ? 'explain' : 'upstream';
    throw refuse('FORBIDDEN', `"extensions.${name}" is not allowed, because ${hidesCalls} is off.`);
  }
  return flags;
}

function readFlag(extensions: Readonly<Record<string, unknown>>, name: keyof RequestExtensions): boolean {
  const value = Object.hasOwn(extensions, name) ? extensions[name] : false;
  if (typeof value !== 'boolean') {
    throw refuse('BAD_REQUEST', `"extensions.${name}" must be true or false.`);
  }
  return value;
}
