// Turns the arguments of a call into what is sent, and rejects those that can't be.

import { HEADER_VALUE, suggest } from '../settings/define.ts';
import { type CallArgs, type DeclaredEndpoint, invalidCall, type WriteOptions } from './endpoint.ts';
import type { DeclaredHeaders } from './endpoint-options.ts';
import { type InputIssue, invalidInput } from './errors.ts';
import { buildPath, CONTROL_CHARACTER, encodeBody, pathPrefixOf } from './transport/path.ts';

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
  return {
    path: pathPrefixOf(upstreamUrl) + buildPath(endpoint, args),
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
