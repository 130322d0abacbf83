import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { Environment } from './config/config-source.ts';
import { ConfigError } from './config/load-config.ts';

/** Returns a file's text, or undefined if it can't be read. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * Reads the file .env of the working directory, if any.
 *
 * @throws {ConfigError} if it can't be read
 */
export function readDotEnv(): Environment {
  try {
    return parseEnv(readFileSync('.env', 'utf8'));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'EISDIR') {
      return {}; // It is optional, and some projects have a directory of this name.
    }
    throw new ConfigError([`The file .env can't be read (${code ?? error}).`]);
  }
}
