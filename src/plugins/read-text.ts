/** Why a body was not read to its end. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

/** The connection has broken before the whole body had come: nobody reads the answer. */
export class ClientClosedError extends Error {
  override readonly name = 'ClientClosedError';

  constructor(cause: unknown) {
    super('The client has disconnected.', { cause });
  }
}

/**
 * Reads a request's body: a `Content-Length` above the limit is refused before anything is read, a body without one while it is read.
 *
 * @throws {TooLargeError}
 * @throws {ClientClosedError}
 */
export async function readText(request: Request, maxBytes: number): Promise<string> {
  try {
    return await readAll(request, maxBytes);
  } catch (error) {
    throw error instanceof TooLargeError ? error : new ClientClosedError(error);
  }
}

async function readAll(request: Request, maxBytes: number): Promise<string> {
  const length = request.headers.get('content-length');
  if (length !== null) {
    if (Number(length) > maxBytes) {
      throw new TooLargeError();
    }
    return request.text(); // HTTP's framing ends it there.
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    size += part.value.byteLength;
    if (size > maxBytes) {
      throw new TooLargeError();
    }
    chunks.push(part.value);
  }
  return Buffer.concat(chunks).toString('utf8');
}
