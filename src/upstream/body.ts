import { isUtf8 } from 'node:buffer';
import type { Dispatcher } from 'undici';
import { parseExactJson } from '../exact-json.ts';

/** A body that breaks the contract: its message is for the log. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
}

/** What a success carries: one object, a list of objects, or nothing that matters. */
export type Expected = 'record' | 'list' | 'nothing';

type Headers = Dispatcher.ResponseData['headers'];

/** An error body is one sentence or a few; more is not read. */
const MAX_ERROR_BYTES = 64 * 1024;

/** What is read and thrown away, so that the socket can be used again; past it the socket is closed. */
const MAX_DISCARDED_BYTES = 128 * 1024;

/** Reads the body of a 2xx answer, out of its envelope. Throws `BodyError` where it is not what the contract says. */
export async function readSuccess(
  response: Dispatcher.ResponseData,
  expected: Expected,
  maxBytes: number,
): Promise<unknown> {
  if (expected === 'nothing') {
    await response.body.dump({ limit: MAX_DISCARDED_BYTES });
    return undefined;
  }
  const body = unwrap(await readJson(response, maxBytes));
  if (expected === 'record' ? !isRecord(body) : !(Array.isArray(body) && body.every(isRecord))) {
    throw new BodyError(`the body is not a ${expected}`);
  }
  return body;
}

/** Reads the body of a failure; undefined when there is none that can be read. */
export async function readErrorBody(response: Dispatcher.ResponseData): Promise<unknown> {
  try {
    return await readJson(response, MAX_ERROR_BYTES);
  } catch {
    return undefined; // The status alone decides which error it is.
  }
}

async function readJson({ statusCode, headers, body }: Dispatcher.ResponseData, maxBytes: number): Promise<unknown> {
  const problem = findHeaderProblem(headers);
  if (problem !== undefined) {
    await body.dump({ limit: MAX_DISCARDED_BYTES });
    throw new BodyError(`status ${statusCode} with ${problem}`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) {
      throw new BodyError(`the body is larger than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks, size);
  if (!isUtf8(bytes)) {
    throw new BodyError('the body is not UTF-8');
  }
  try {
    return parseExactJson(bytes.toString('utf8'));
  } catch (error) {
    throw new BodyError('the body is not JSON', { cause: error });
  }
}

/** What is said of a content type in the log: no text that a service made up, which could quote a key. */
const KNOWN_TYPE =
  /^(?:text\/(?:html|plain|xml|csv)|application\/(?:xml|octet-stream|x-www-form-urlencoded))(?=\s*(?:;|$))/i;

/** Leaving the loop above early closes the socket, so what cannot be JSON is refused before it is read. */
function findHeaderProblem(headers: Headers): string | undefined {
  if ((headerOf(headers, 'content-encoding') ?? 'identity') !== 'identity') {
    return 'a content encoding, although none was accepted';
  }
  const type = headerOf(headers, 'content-type') ?? '';
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)
    ? undefined
    : `${KNOWN_TYPE.exec(type)?.[0] ?? 'another content type'} instead of JSON`;
}

/** The first value of a header that should come once. */
export const headerOf = (headers: Headers, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

/** A JSON object, not an array and not null. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Takes a body out of its `{ "data": … }` envelope, if it is in one.
 *
 * A workflow or subscriber may come bare and have a field `data` of its own; every such record also carries `_organizationId`,
 * which no envelope has.
 */
export const unwrap = (body: unknown): unknown =>
  isRecord(body) && Object.hasOwn(body, 'data') && !Object.hasOwn(body, '_organizationId') ? body.data : body;
