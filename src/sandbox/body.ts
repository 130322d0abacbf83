import type { IncomingMessage } from 'node:http';

import { ApiError } from './errors.ts';
import { isRow, type Row } from './rows.ts';

const MAX_BYTES = 1024 * 1024;
/** An oversized body is read up to this size, so that the client receives a response instead of a connection reset. */
const MAX_DISCARDED_BYTES = 16 * MAX_BYTES;

/** Reads a JSON object. Returns undefined if the request has no body. */
export async function readJsonBody(request: Pick<IncomingMessage, 'headers' | 'iterator'>): Promise<Row | undefined> {
  const bytes = await readBytes(request);
  if (bytes.length === 0) {
    return undefined;
  }
  const mediaType = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json') {
    throw new ApiError(415, 'Send the body with the header "Content-Type: application/json".');
  }
  const body = parseJson(bytes.toString('utf8'));
  if (!isRow(body)) {
    throw new ApiError(422, ['The body must be a JSON object.']);
  }
  return body;
}

async function readBytes(request: Pick<IncomingMessage, 'iterator'>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // The response needs the connection, so leaving the loop must not close it.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > MAX_DISCARDED_BYTES) {
      break;
    }
    if (size <= MAX_BYTES) {
      chunks.push(chunk);
    }
  }
  if (size > MAX_BYTES) {
    throw new ApiError(413, 'The body is larger than 1 MiB.', { headers: { Connection: 'close' } });
  }
  return Buffer.concat(chunks);
}

function parseJson(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    throw new ApiError(400, 'The body is not valid JSON.');
  }
}
