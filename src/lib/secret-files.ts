import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileFingerprint } from './file-fingerprint.ts';

/** A secret as it is, or where it is kept. */
export type Secret = string | { file: string };

/** Where secrets come from, each by a name. */
export interface SecretSources {
  secrets?: Readonly<Record<string, Secret>>;
  /** A folder in which each file's name is a secret's name; hidden files are none, as orchestrators keep their own there. */
  directory?: string | undefined;
}

/** Secrets that can be replaced while the process runs. */
export interface SecretFiles {
  /** The present ones, by name; another map as soon as one has changed. */
  secrets(): ReadonlyMap<string, string>;
  /** Looks at the files again. @throws {SecretError} and keeps what was there */
  reload(): void;
}

/** Why secrets cannot be used: one clause for the operator, without the secret. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/** The largest file that is taken for a secret, in bytes. */
const MAX_BYTES = 64 * 1024;

/** What is wrong with one of the secrets. */
export interface SecretProblem {
  /** Whose. */
  name: string;
  /** One clause. */
  problem: string;
}

/** Finds one that cannot be used; undefined: there is none. */
export type FindProblem = (secrets: ReadonlyMap<string, string>) => SecretProblem | undefined;

/**
 * Reads secrets; a line break at a file's end is not part of one. Later each file stands alone: one that cannot be used keeps its secret as
 * it was, and one that is gone from the folder takes it away.
 *
 * @throws {SecretError} when one cannot be read or `findProblem` finds something
 */
export function createSecretFiles(sources: SecretSources, findProblem: FindProblem = () => undefined): SecretFiles {
  let signature: string | undefined;
  let present: ReadonlyMap<string, string> = new Map();
  let problem: string | undefined;

  function reload(): void {
    const files = filesOf(sources);
    const found = files.map(([, file]) => signatureOf(file)).join('\n');
    if (found !== signature) {
      const { secrets, problems } = readAll(sources, files, findProblem, present);
      problem = problems.length === 0 ? undefined : problems.join('; ');
      present = secrets;
      signature = found;
    }
    if (problem !== undefined) {
      throw new SecretError(problem);
    }
  }

  reload();
  return { secrets: () => present, reload };
}

/** In the order in which they are given. What cannot be used is as it was `before`, or left out. */
function readAll(
  { secrets: given = {} }: SecretSources,
  files: readonly [name: string, file: string][],
  findProblem: FindProblem,
  before: ReadonlyMap<string, string>,
): { secrets: Map<string, string>; problems: string[] } {
  const problems: string[] = [];
  const secrets = new Map<string, string>();
  const keepAsBefore = (name: string) => {
    const old = before.get(name);
    if (old === undefined || old === secrets.get(name)) {
      secrets.delete(name);
    } else {
      secrets.set(name, old);
    }
  };
  for (const [name, secret] of Object.entries(given)) {
    secrets.set(name, typeof secret === 'string' ? secret : '');
  }
  for (const [name, file] of files) {
    try {
      secrets.set(name, readSecret(file));
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
      keepAsBefore(name);
    }
  }
  for (let found = findProblem(secrets); found !== undefined; found = findProblem(secrets)) {
    problems.push(found.problem);
    keepAsBefore(found.name);
  }
  return { secrets, problems };
}

/** Every file with the name of its secret. */
function filesOf({ secrets = {}, directory }: SecretSources): [name: string, file: string][] {
  const single = Object.entries(secrets).flatMap(([name, secret]): [string, string][] =>
    typeof secret === 'string' ? [] : [[name, secret.file]],
  );
  if (directory === undefined) {
    return single;
  }
  const files = filesIn(directory);
  const twice = files.find(([name]) => Object.hasOwn(secrets, name))?.[0];
  if (twice !== undefined) {
    throw new SecretError(`${twice} has a file in the folder ${directory}, and is set besides: keep one of them`);
  }
  return [...single, ...files];
}

function filesIn(directory: string): [name: string, file: string][] {
  try {
    const names = readdirSync(directory).filter((name) => !name.startsWith('.'));
    const files = names.map((name): [string, string] => [name, join(directory, name)]);
    return files.filter(([, file]) => statSync(file).isFile());
  } catch (cause) {
    throw new SecretError(`the folder ${directory} cannot be read`, { cause });
  }
}

/** One that cannot be read has a signature too: reading it says what is wrong. */
function signatureOf(file: string): string {
  try {
    return fileFingerprint(file);
  } catch {
    return `${file} cannot be read`;
  }
}

function readSecret(file: string): string {
  try {
    if (statSync(file).size > MAX_BYTES) {
      throw new SecretError(`the file ${file} is too large for a secret`);
    }
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (cause) {
    throw cause instanceof SecretError ? cause : new SecretError(`the file ${file} cannot be read`, { cause });
  }
}
