// Encodes the arguments of a call as path, query, headers and body, and rejects those that can't be sent.

import { isRecord } from '../../lib/is-record.ts';
import { suggest } from '../../lib/words.ts';
import { HEADER_VALUE } from '../../settings/define.ts';
import type { DeclaredHeaders } from '../declaration/endpoint-options.ts';
import { type CallArgs, type DeclaredEndpoint, invalidCall, type WriteOptions } from '../endpoint.ts';
import { type InputIssue, invalidInput } from '../errors.ts';
import { assertPathIds, findTextProblem, pathIdOf } from '../input-rules.ts';

/**
 * Returns the path with the query, the headers and the body that are sent for the arguments of a call.
 *
 * @throws {UpstreamError} BAD_USER_INPUT if ids, headers or texts can't be sent
 * @throws {InvalidCall} if they are not arguments of the endpoint, which is a bug of its module
 */
export function encodeArgs(endpoint: DeclaredEndpoint, upstreamUrl: URL, args: CallArgs & WriteOptions) {
  if (endpoint.module !== undefined) {
    assertArgs(endpoint, args);
  }
  assertPathIds(endpoint, args);
  return {
    path: pathPrefixOf(upstreamUrl) + fillPath(endpoint, args),
    headers: endpoint.headers && headersOf(endpoint, endpoint.headers, args),
    body: args.body && bodyOf(endpoint, args.body),
  };
}

/** Throws an error if the arguments of a call are not those of its endpoint, which the compiler finds only in TypeScript. */
function assertArgs(endpoint: DeclaredEndpoint, args: CallArgs & WriteOptions): void {
  const { params, method, headers } = endpoint;
  const ofWrites = method === 'GET' ? [] : ['body', 'idempotencyKey', 'deriveKey', 'isBulkItem'];
  const argNames = [...params, 'query', ...(headers === undefined ? [] : ['headers']), ...ofWrites];
  for (const name of Object.keys(args)) {
    const value = args[name];
    if (!argNames.includes(name) && value !== undefined) {
      throw invalidCall(endpoint, `it has no argument "${name}"${suggest(name, argNames)}`);
    }
    if (PARTS.includes(name) && value !== undefined && (typeof value !== 'object' || value === null)) {
      throw invalidCall(endpoint, `the argument "${name}" must be an object`);
    }
  }
  const missing = params.find((name) => typeof args[name] !== 'string' && !Number.isFinite(args[name]));
  if (missing !== undefined) {
    throw invalidCall(endpoint, `the argument "${missing}" must be a text`);
  }
}

const PARTS = ['query', 'body', 'headers'];

export function headersOf(endpoint: DeclaredEndpoint, declared: DeclaredHeaders, args: CallArgs) {
  const { headers: given = {} } = args;
  const unknown = Object.keys(given).find((name) => declared[name] !== true);
  if (unknown !== undefined) {
    throw invalidCall(endpoint, `it takes no header "${unknown}"${suggest(unknown, Object.keys(declared))}`);
  }
  const headers: Record<string, string> = {};
  for (const [name, fixed] of Object.entries(declared)) {
    const value = fixed === true ? given[name] : fixed;
    if (value == null) {
      continue;
    }
    if (typeof value !== 'string') {
      throw invalidCall(endpoint, `the header "${name}" must be a text`);
    }
    if (!HEADER_VALUE.test(value)) {
      throw invalidInput(endpoint, [{ path: [name], message: `${name} must be a single line of Latin-1 characters.` }]);
    }
    headers[name] = value;
  }
  return headers;
}

/**
 * Returns a body as it is sent.
 *
 * @throws {UpstreamError} BAD_USER_INPUT if texts in it can't be sent. Those in free-form objects can be any.
 */
function bodyOf(endpoint: DeclaredEndpoint, body: object): string {
  const issues: InputIssue[] = [];
  for (const [field, value] of Object.entries(body)) {
    const problem =
      typeof value === 'string' && !endpoint.multiline.includes(field) ? findTextProblem(field, value) : undefined;
    if (problem !== undefined) {
      issues.push({ path: [field], message: `${field} ${problem}.` });
    }
  }
  if (issues.length > 0) {
    throw invalidInput(endpoint, issues);
  }
  return encodeBody(endpoint, body);
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
function encodeBody(endpoint: DeclaredEndpoint, body: object): string {
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
