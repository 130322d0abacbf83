import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { assertRegularFile, toFileError } from '../../lib/files/text-file.ts';
import { ConfigError } from '../config/problem.ts';

/** File to import. It stays open between the passes, so that replacing it by another file doesn't mix both. */
export interface InputFile extends AsyncDisposable {
  path: string;
  /** Size when it was opened. */
  bytes: number;
  /** Reads it from the beginning. */
  read(): InputText;
}

/** One reading of the file. */
export interface InputText extends AsyncIterable<string> {
  /** Bytes that were read so far. */
  readonly bytesRead: number;
  /** Returns the SHA-256 of what was read, in hexadecimal digits. */
  digest(): string;
}

/** The file is not UTF-8. */
export class EncodingError extends Error {
  override readonly name = 'EncodingError';
  readonly line: number;

  /** @param line line of the first invalid byte */
  constructor(line: number) {
    super('The file is not UTF-8 here. Save it as UTF-8.');
    this.line = line;
  }
}

const CHUNK_BYTES = 256 * 1024;
const LINE_FEED = 10;

/** Opens a file. @throws {ConfigError} if it can't be read, or isn't a regular file, which could be read only once */
export async function openInput(path: string): Promise<InputFile> {
  const handle = await openRegular(path);
  const { size } = await handle.stat();
  return {
    path,
    bytes: size,
    read: () => new Reading(handle),
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

async function openRegular(path: string): Promise<FileHandle> {
  try {
    assertRegularFile(path);
    return await open(path);
  } catch (error) {
    throw new ConfigError([`The file ${path} ${toFileError(error).message}.`]);
  }
}

class Reading implements InputText {
  readonly #handle: FileHandle;
  readonly #hash = createHash('sha256');
  bytesRead = 0;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  digest(): string {
    return this.#hash.copy().digest('hex');
  }

  /** @throws {EncodingError} at the first byte that isn't UTF-8 */
  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    const decoder = new TextDecoder('utf-8', { fatal: true }); // Removes the byte order mark.
    let line = 1;
    for (;;) {
      const { bytesRead, buffer } = await this.#handle.read(
        Buffer.allocUnsafe(CHUNK_BYTES),
        0,
        CHUNK_BYTES,
        this.bytesRead,
      );
      const chunk = buffer.subarray(0, bytesRead);
      this.bytesRead += bytesRead;
      this.#hash.update(chunk);
      const isLast = bytesRead === 0;
      yield decode(decoder, chunk, isLast, line);
      if (isLast) {
        return;
      }
      line += countLineFeeds(chunk);
    }
  }
}

function decode(decoder: TextDecoder, chunk: Buffer, isLast: boolean, line: number): string {
  try {
    return decoder.decode(chunk, { stream: !isLast });
  } catch {
    throw new EncodingError(findInvalidLine(chunk, line));
  }
}

/** Returns the first line that isn't UTF-8, of a chunk that may begin within a character. */
function findInvalidLine(chunk: Buffer, first: number): number {
  let line = first;
  let start = chunk.findIndex((byte) => (byte & 0xc0) !== 0x80);
  for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
    if (!isUtf8(chunk.subarray(start, end))) {
      return line;
    }
    line += 1;
    start = end + 1;
  }
  return line;
}

function countLineFeeds(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) {
    count += 1;
  }
  return count;
}
