import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { isCredential } from '../../auth/identity.ts';
import { FileError, readTextFile } from '../../lib/files/text-file.ts';
import type { Process } from '../command.ts';
import { ConfigError } from '../config/problem.ts';

/** Maximum size of a file with a key, in bytes. */
const MAX_BYTES = 64 * 1024;

/** Sources of the API key. */
export interface KeySources {
  /** Path of a file, or `-` for standard input. */
  file: string | undefined;
  /** Value of the variable. */
  variable: string | undefined;
  /** Question on a terminal, if there is neither. */
  question: string;
}

/**
 * Reads the API key from a file, a variable, or the terminal.
 *
 * @returns the `Authorization` header; undefined if there is no key
 * @throws {ConfigError} if the key can't be read or sent
 */
export async function readAuthorization(sources: KeySources, host: Process): Promise<string | undefined> {
  const key = await readKey(sources, host);
  if (key === undefined || key === '') {
    return undefined;
  }
  const authorization = `ApiKey ${key.replace(/^ApiKey\s+/i, '')}`;
  if (!isCredential(authorization)) {
    throw new ConfigError(['The API key is too long, or contains a space or another invalid character.']);
  }
  return authorization;
}

async function readKey({ file, variable, question }: KeySources, host: Process): Promise<string | undefined> {
  if (file === '-') {
    return (await text(host.stdin)).trim();
  }
  if (file !== undefined) {
    return readFile(file);
  }
  return variable ?? (host.stdin.isTTY ? ask(question, host) : undefined);
}

function readFile(file: string): string {
  try {
    return readTextFile(file, MAX_BYTES).trim();
  } catch (error) {
    throw error instanceof FileError ? new ConfigError([`--key-file: the file ${file} ${error.message}.`]) : error;
  }
}

/** Asks for the key without showing it. The question is on standard error, so that output can be piped. */
async function ask(question: string, { stdin, stderr }: Process): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  using terminal = createInterface({ input: stdin, output: nowhere, terminal: true });
  const { promise: closed, resolve } = Promise.withResolvers<string>();
  terminal.once('close', () => resolve('')); // Ctrl-C and Ctrl-D.
  stderr.write(question);
  const answer = await Promise.race([terminal.question(''), closed]);
  stderr.write('\n');
  return answer.trim();
}
