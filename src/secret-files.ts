import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

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

/** Says what is wrong with the secrets, by name. */
export type FindProblem = (secrets: ReadonlyMap<string, string>) => string | undefined;

/**
 * Reads secrets; a line break at a file's end is not part of one.
 *
 * @throws {SecretError} when one cannot be read or `findProblem` finds something
 */
export function createSecretFiles(sources: SecretSources, findProblem: FindProblem = () => undefined): SecretFiles {
  let signature: string | undefined;
  let present: ReadonlyMap<string, string> = new Map();

  function reload(): void {
    const files = filesOf(sources);
    const found = files.map(([, file]) => signatureOf(file)).join('\n');
    if (found === signature) {
      return;
    }
    const inFiles = new Map(files.map(([name, file]) => [name, readSecret(file)]));
    const given = Object.entries(sources.secrets ?? {}).map(
      ([name, secret]) => [name, typeof secret === 'string' ? secret : (inFiles.get(name) ?? '')] as const,
    );
    const secrets = new Map([...given, ...inFiles]); // In the order in which they are given.
    const problem = findProblem(secrets);
    if (problem !== undefined) {
      throw new SecretError(problem);
    }
    present = secrets;
    signature = found;
  }

  reload();
  return { secrets: () => present, reload };
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

/** Changes whenever the file does, also when another file takes its place through a link. */
function signatureOf(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file);
    return `${file} ${ino} ${size} ${mtimeMs}`;
  } catch (cause) {
    throw new SecretError(`the file ${file} cannot be read`, { cause });
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
