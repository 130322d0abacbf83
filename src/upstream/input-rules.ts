// Says which ids and texts can be sent, so that none leads to another endpoint, or into a header of an email.

import type { CallArgs, DeclaredEndpoint } from './endpoint.ts';
import { invalidInput } from './errors.ts';

/** Maximum length of an id. Real ids are much shorter. */
const MAX_ID_LENGTH = 256;

/** Matches ordinary ids, which need no further checks. */
const PLAIN = /^[\w-]{1,256}$/;

/** Line breaks and other control characters, which ids can't have, and texts neither: services put names and addresses into headers of emails. */
export const CONTROL_CHARACTER = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/**
 * Returns why an id can't be a single segment of a URL path, or undefined if it can. Bodies have the same rule: what is created must be readable.
 *
 * `encodeURIComponent` doesn't encode `.` and `..`, which URL parsers resolve, so the call would reach another endpoint. An empty id
 * would turn "get one" into "list all". Servers and proxies may decode a segment more than once, cut parameters off it (`..;a=b`), or take characters
 * for those that look alike, so slashes and dot segments that are hidden by percent-encoding, parameters or full-width forms are rejected too.
 *
 * @param allowsSlashes whether the option `slashesInIds` of the endpoint permits slashes. @default false
 */
export function findIdProblem(id: string, allowsSlashes = false): string | undefined {
  if (PLAIN.test(id)) {
    return undefined;
  }
  if (id === '') {
    return 'must not be empty';
  }
  if (id.trim() !== id) {
    return 'must not begin or end with a space'; // The service trims some ids and stores others as they are: two records of one user.
  }
  if (id.length > MAX_ID_LENGTH) {
    return `must not be longer than ${MAX_ID_LENGTH} characters`;
  }
  if (!id.isWellFormed()) {
    return 'must be well-formed Unicode';
  }
  for (const form of decodedForms(id)) {
    if (CONTROL_CHARACTER.test(form)) {
      return 'must not contain control characters';
    }
    const parts = form.normalize('NFKC').split(/[/\\]/);
    if (parts.some(isDotSegment)) {
      return 'must not contain the path segments "." or ".."';
    }
    if (parts.length > 1 && !allowsSlashes) {
      return 'must not contain "/" or "\\", plain or encoded';
    }
  }
  return undefined;
}

/** Whether an id has the form of those that the service gives to its records. */
export const isRecordId = (id: string): boolean => /^[\da-f]{24}$/i.test(id);

const isDotSegment = (part: string): boolean => /^\s*\.{1,2}\s*(?:;|$)/.test(part);

/** Yields the id, and its form after each round of percent-decoding. */
function* decodedForms(id: string): Generator<string> {
  let form = id;
  while (true) {
    yield form;
    const decoded = form
      .replace(/%c0%a(?=[ef])/gi, '%2') // Two bytes for "." and "/", which old decoders accept.
      .replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString());
    if (decoded === form) {
      return;
    }
    form = decoded;
  }
}

/** Throws an `UpstreamError` (BAD_USER_INPUT) for the first id that can't be a single path segment. */
export function assertPathIds(endpoint: DeclaredEndpoint, args: CallArgs): void {
  for (const name of endpoint.params) {
    const problem = findIdProblem(pathIdOf(args, name), endpoint.slashesInIds);
    if (problem !== undefined) {
      throw invalidInput(endpoint, [{ path: [name], message: `The id ${problem}.` }]);
    }
  }
}

/** Returns the id for a parameter of the path. A missing one is empty, which no call accepts. */
export function pathIdOf(args: CallArgs, name: string): string {
  const id = args[name];
  return typeof id === 'string' ? id : typeof id === 'number' ? String(id) : '';
}

/**
 * Returns why a text can't be sent as a field of a record, or undefined if it can. Every field that is a text has a single line, and an avatar is
 * a URL that pages can show without risk.
 */
export function findTextProblem(field: string, text: string): string | undefined {
  if (CONTROL_CHARACTER.test(text)) {
    return 'must be a single line without control characters';
  }
  if (!text.isWellFormed()) {
    return 'must be well-formed Unicode';
  }
  return field === 'avatar' && !isHttpUrl(text) ? 'must be an http or https URL' : undefined;
}

/** Returns why a text can't be a field of a subscriber's profile. An empty one would be another way to clear it, which not every service has. */
export const findProfileProblem = (field: string, text: string): string | undefined =>
  findTextProblem(field, text) ?? (text === '' ? 'must not be empty. Use null to clear it' : undefined);

/** Returns why a text can't be a name. The service stores one of spaces too, which nobody can see. */
export const findNameProblem = (field: string, text: string): string | undefined =>
  findTextProblem(field, text) ?? (text.trim() === '' ? 'must not be blank' : undefined);

const isHttpUrl = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text);
