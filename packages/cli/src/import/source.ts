// Reads the text of an import from a file, a compressed one, or standard input.

import { open } from 'node:fs/promises';
import { addAbortSignal, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { errorCodeOf } from '../../../../src/lib/caught.ts';
import { assertRegularFile, toFileError } from '../../../../src/lib/files/text-file.ts';
import { ConfigError } from '../config/problem.ts';

/** Matches the end of the name of a compressed file. */
export const GZIP = /\.gz$/i;

const CHUNK_BYTES = 256 * 1024;

/** Length of the first part, in characters, if the text isn't shorter. It shows the form of the rows. */
const HEAD_LENGTH = 64 * 1024;

/**
 * Yields the text of a file, with its byte order mark. Parts are long, because a pipe can have small ones.
 *
 * @param file path, or standard input
 * @param stopping aborted to read no more, also while nothing arrives
 * @throws {ConfigError} if it can't be read, is damaged, or isn't a regular file
 */
export async function* readText(file: string | Readable, stopping?: AbortSignal): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  try {
    const stream = typeof file === 'string' ? await openFile(file) : file;
    const bytes: AsyncIterable<Buffer> = stopping === undefined ? stream : addAbortSignal(stopping, stream);
    for await (const chunk of bytes) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length >= HEAD_LENGTH) {
        yield text;
        text = '';
      }
    }
  } catch (error) {
    stopping?.throwIfAborted();
    const reason = errorCodeOf(error)?.startsWith('Z_')
      ? 'is damaged, incomplete or not compressed by gzip'
      : toFileError(error).message;
    throw new ConfigError([`${typeof file === 'string' ? `The file ${file}` : 'Standard input'} ${reason}.`]);
  }
  yield text + decoder.decode();
}

async function openFile(path: string): Promise<Readable> {
  assertRegularFile(path);
  const file = (await open(path)).createReadStream({ highWaterMark: CHUNK_BYTES });
  return GZIP.test(path) ? pipeline(file, createGunzip({ chunkSize: CHUNK_BYTES }), () => {}) : file; // Errors are those of the result, too.
}
