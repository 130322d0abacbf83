import { isUtf8 } from 'node:buffer';
import type { Refusal } from '../lib/refusal.ts';
import { refuse } from '../settings/refuse.ts';
import type { IncomingRequest } from './request.ts';

/**
 * Reads the body as JSON. A body whose `Content-Length` exceeds the limit is rejected before it is read.
 *
 * @throws {Refusal} PAYLOAD_TOO_LARGE, BAD_REQUEST or CLIENT_CLOSED
 */
export async function readBody(request: IncomingRequest, maxBytes: number): Promise<unknown> {
  if (Number(request.header('content-length')) > maxBytes) {
    throw bodyTooLarge(maxBytes);
  }
  const text = await request.body(maxBytes);
  try {
    return JSON.parse(text);
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

/** Creates the error for a body that is too large. The rest of it is never read, so the connection can't be reused. */
export const bodyTooLarge = (maxBytes: number): Refusal =>
  refuse('PAYLOAD_TOO_LARGE', `The request body is larger than ${maxBytes} bytes. Send a smaller one.`, {
    headers: { connection: 'close' },
  });

/** Creates the error that stops a request whose client has disconnected. */
export const clientClosed = (): Refusal => refuse('CLIENT_CLOSED', 'The client disconnected.');
