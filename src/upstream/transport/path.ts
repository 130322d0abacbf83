// Writes paths, queries and bodies of calls, so that no id or text leads to another endpoint.

import { isRecord } from '../../lib/is-record.ts';
import { type CallArgs, type DeclaredEndpoint, invalidCall } from '../endpoint.ts';
import { invalidInput } from '../errors.ts';

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

/** Fills a path template (`/v1/feeds/{feedId}`) with ids that `findIdProblem` accepts, each as one encoded segment. */
function fillRoute(route: string, args: CallArgs): string {
  let path = '';
  let from = 0;
  for (let open = route.indexOf('{'); open >= 0; open = route.indexOf('{', from)) {
    const close = route.indexOf('}', open);
    const name = route.slice(open + 1, close);
    path += route.slice(from, open) + encodeURIComponent(pathIdOf(args, name));
    from = close + 1;
  }
  return path + route.slice(from);
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

/** Returns the path and query of a call. Throws if an id can't be a single path segment. */
export function buildPath(endpoint: DeclaredEndpoint, args: CallArgs): string {
  assertPathIds(endpoint, args);
  return fillPath(endpoint, args);
}

/** Returns the path and query of a call, whatever its ids are. */
export function fillPath(endpoint: DeclaredEndpoint, args: CallArgs): string {
  const { route, params } = endpoint;
  const path = params.length === 0 ? route : fillRoute(route, args);
  const query = args.query === undefined ? '' : encodeFields(endpoint, 'query', args.query).toString();
  return query === '' ? path : `${path}?${query}`;
}

/** Returns the path of the service's address, to which the paths of calls are added. */
export const pathPrefixOf = ({ pathname }: URL): string => pathname.replace(/(?<!\/)\/+$/, '');

/** Returns the address of the service, the same for all ways to write it. */
export const serviceAddressOf = (upstreamUrl: URL): string => upstreamUrl.origin + pathPrefixOf(upstreamUrl);

/** Returns a body as it is sent. @throws {TypeError} if it can't be written in its format */
export function encodeBody(endpoint: DeclaredEndpoint, body: object): string {
  if (endpoint.bodyFormat === 'form') {
    return encodeFields(endpoint, 'body', body).toString();
  }
  const prototype: unknown = Object.getPrototypeOf(body);
  if (!Array.isArray(body) && prototype !== Object.prototype && prototype !== null) {
    throw invalidCall(endpoint, 'the argument "body" must be a plain object or a list'); // Others, such as a Map, have no JSON of their own.
  }
  try {
    return JSON.stringify(body, endpoint.module === undefined ? undefined : requireJson);
  } catch {
    throw invalidCall(endpoint, 'its body has a value that JSON does not have, such as NaN, a bigint or a circle');
  }
}

/** Returns a value. Throws if JSON would have null in its place, or leave it out. */
function requireJson(_key: string, value: unknown): unknown {
  if (typeof value === 'number' ? !Number.isFinite(value) : typeof value === 'function' || typeof value === 'symbol') {
    throw new TypeError('JSON has no such value.');
  }
  return value;
}

/** Maximum depth of objects. */
const MAX_DEPTH = { query: 0, body: 20 };

/** Lists the fields of a value of a form. Members of objects are `details[weight]`, and items of lists with objects are `parts[0][name]`. */
function fieldsOf(name: string, value: unknown, depth: number): [string, unknown][] {
  const isNested = isPlainObject(value) || (Array.isArray(value) && value.some(isPlainObject));
  return isNested && depth > 0
    ? Object.entries(value).flatMap(([key, each]) => fieldsOf(`${name}[${key}]`, each, depth - 1))
    : [[name, value]];
}

const isPlainObject = (value: unknown): value is object =>
  isRecord(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value));

/** Encodes a query or a form. In a query, null is left out. */
function encodeFields(endpoint: DeclaredEndpoint, part: 'query' | 'body', fields: object): URLSearchParams {
  const encoded = new URLSearchParams();
  if (!isPlainObject(fields)) {
    throw invalidCall(endpoint, `the argument "${part}" must be a plain object`);
  }
  for (const [name, value] of Object.entries(fields).flatMap((entry) => fieldsOf(...entry, MAX_DEPTH[part]))) {
    if (Array.isArray(value)) {
      const texts = value.map((item) => toText(endpoint, part, name, item));
      const isJoined = part === 'query' && endpoint.lists === 'comma' && texts.length > 0;
      if (isJoined && texts.some((text) => text.includes(','))) {
        throw invalidInput(endpoint, [{ path: [name], message: `An item of ${name} must not contain a comma.` }]);
      }
      for (const text of isJoined ? [texts.join(',')] : texts) {
        encoded.append(name, text);
      }
    } else if (value !== undefined && (value !== null || part === 'body')) {
      encoded.set(name, toText(endpoint, part, name, value ?? ''));
    }
  }
  return encoded;
}

/** Returns a value of a query or form as text. Its kind is up to the module, and the characters of a text to the caller. */
function toText(endpoint: DeclaredEndpoint, part: string, name: string, value: unknown): string {
  if (typeof value === 'string') {
    const isEmptyFilter = part === 'query' && value === ''; // Services return all records then.
    if (isEmptyFilter || !value.isWellFormed()) {
      const problem = isEmptyFilter ? 'must not be empty' : 'must be well-formed Unicode';
      throw invalidInput(endpoint, [{ path: [name], message: `${name} ${problem}.` }]);
    }
    return value;
  }
  if (typeof value === 'boolean' || Number.isFinite(value)) {
    return String(value);
  }
  const kind = typeof value === 'number' ? String(value) : Array.isArray(value) ? 'a list in a list' : typeof value;
  throw invalidCall(
    endpoint,
    `${part}.${name} must be a text, a finite number, a boolean or a list of them, not ${kind}`,
  );
}
