// The parameters of a request: from its body or its query string, with the flags in their extensions.

import { isUtf8 } from 'node:buffer';
import type { ClientRules } from '../auth/identity.ts';
import type { DocumentRequest } from '../documents/trusted-documents.ts';
import { bodyTooLarge, type Refusal, refuse } from '../errors/codes.ts';
import { withoutByteOrderMark } from '../files/text-file.ts';
import type { RequestFlags } from '../graphql/context.ts';
import { isRecord } from '../lib/is-record.ts';
import type { IncomingRequest } from './message.ts';

/** Parameters of a GraphQL request (GraphQL over HTTP, section 5.1), and the id of a trusted document. */
export interface Params extends DocumentRequest {
  operationName: string | undefined;
  variables: Readonly<Record<string, unknown>>;
}

const KNOWN = new Set(['query', 'documentId', 'operationName', 'variables', 'extensions']);

/**
 * Reads the parameters from a parsed body.
 *
 * @throws {Refusal} BAD_REQUEST with the name of the invalid parameter
 */
export function paramsFromBody(body: unknown): Params {
  if (Array.isArray(body)) {
    throw refuse('BAD_REQUEST', 'Batching is not supported; send one operation per request.');
  }
  if (!isRecord(body)) {
    throw refuse('BAD_REQUEST', 'The request body must be a JSON object with a "query".');
  }
  for (const name in body) {
    if (!KNOWN.has(name) && body[name] != null) {
      throw refuse('BAD_REQUEST', `Unknown parameter "${name.slice(0, 100)}". Use only ${[...KNOWN].join(', ')}.`);
    }
  }
  return {
    query: readString(body, 'query'),
    documentId: readString(body, 'documentId'),
    operationName: readString(body, 'operationName') || undefined,
    variables: readObject(body, 'variables') ?? {},
    extensions: readObject(body, 'extensions'),
  };
}

/**
 * Reads the parameters from the query string of a GET request. Unknown parameters are ignored, because links can contain tracking parameters.
 *
 * @throws {Refusal} BAD_REQUEST with the name of the invalid parameter
 */
export function paramsFromQuery(query: string): Params {
  const search = new URLSearchParams(query);
  return paramsFromBody({
    query: search.get('query') || undefined,
    documentId: search.get('documentId') ?? undefined,
    operationName: search.get('operationName') ?? undefined,
    variables: parseParam('variables', search),
    extensions: parseParam('extensions', search),
  });
}

function parseParam(name: string, search: URLSearchParams): unknown {
  try {
    return JSON.parse(search.get(name) || 'null');
  } catch {
    throw refuse('BAD_REQUEST', `The URL parameter "${name}" is not valid JSON.`);
  }
}

function readString(body: Record<string, unknown>, name: string): string | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && typeof value !== 'string') {
    throw refuse('BAD_REQUEST', `"${name}" must be a string.`);
  }
  return value;
}

function readObject(body: Record<string, unknown>, name: string): Record<string, unknown> | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && !isRecord(value)) {
    throw refuse('BAD_REQUEST', `"${name}" must be an object.`);
  }
  return value;
}

/**
 * Reads the text of the body. A body whose `Content-Length` exceeds the limit is rejected before it is read.
 *
 * @throws {Refusal} PAYLOAD_TOO_LARGE, BAD_REQUEST or CLIENT_CLOSED
 */
export function readBody(request: IncomingRequest, maxBytes: number): Promise<string> {
  if (Number(request.header('content-length')) > maxBytes) {
    throw bodyTooLarge(maxBytes);
  }
  return request.body(maxBytes);
}

/**
 * Parses the text of a body.
 *
 * @throws {Refusal} BAD_REQUEST
 */
export function parseBody(text: string): unknown {
  try {
    return JSON.parse(withoutByteOrderMark(text));
  } catch {
    throw refuse('BAD_REQUEST', 'The request body is not valid JSON.');
  }
}

/**
 * Decodes a body. Bytes that are not UTF-8 would become replacement characters, which a write would store.
 *
 * @throws {Refusal} BAD_REQUEST
 */
export function decodeBody(bytes: Buffer): string {
  if (!isUtf8(bytes)) {
    throw refuse('BAD_REQUEST', 'The request body is not UTF-8.');
  }
  return bytes.toString('utf8');
}

/**
 * Returns the bytes of a body that a body parser has left: an object, its text or its bytes.
 *
 * @throws {Refusal} BAD_REQUEST
 */
export function toBytes(parsed: unknown): Buffer {
  if (parsed instanceof Uint8Array) {
    return Buffer.from(parsed.buffer, parsed.byteOffset, parsed.byteLength);
  }
  try {
    return Buffer.from(typeof parsed === 'string' ? parsed : JSON.stringify(parsed));
  } catch {
    throw refuse('BAD_REQUEST', 'The request body is nested too deeply.'); // JSON.parse accepts more levels than JSON.stringify.
  }
}

/** Creates the error for a body that the host has read without leaving a parsed one. */
export const bodyAlreadyRead = (): Refusal =>
  refuse(
    'BODY_ALREADY_READ',
    'The server has read the request body and left none for the gateway. Mount the gateway before body parsers.',
  );

/** Creates the error that stops a request whose client has disconnected. */
export const requestAborted = (): Refusal => refuse('CLIENT_CLOSED', 'The client disconnected.');

const NO_FLAGS: RequestFlags = { isExplained: false, reportsCalls: false };

/**
 * Reads the flags. Other extensions are ignored, because clients may send their own.
 *
 * @throws {Refusal} BAD_REQUEST if a flag is no boolean, FORBIDDEN if a setting hides REST calls from this kind of client
 */
export function readFlags({ extensions }: Params, { hidesCalls }: ClientRules): RequestFlags {
  if (extensions === undefined) {
    return NO_FLAGS;
  }
  const isExplained = readFlag(extensions, 'explain');
  const reportsCalls = readFlag(extensions, 'upstream');
  if (hidesCalls && (isExplained || reportsCalls)) {
    const name = isExplained ? 'explain' : 'upstream';
    throw refuse('FORBIDDEN', `"extensions.${name}" is not allowed, because clients.browser.explain is off.`);
  }
  return { isExplained, reportsCalls: reportsCalls && !isExplained };
}

function readFlag(extensions: Readonly<Record<string, unknown>>, name: 'explain' | 'upstream'): boolean {
  const value = Object.hasOwn(extensions, name) ? extensions[name] : false;
  if (typeof value !== 'boolean') {
    throw refuse('BAD_REQUEST', `"extensions.${name}" must be true or false.`);
  }
  return value;
}
