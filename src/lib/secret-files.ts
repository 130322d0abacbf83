import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FileError, fileFingerprint, readTextFile } from './text-file.ts';

/** Secret, or the path of a file that contains it. */
export type Secret = string | { file: string };

/** Sources of named secrets. */
export interface SecretSources {
  /** Secrets by name. */
  secrets?: Readonly<Record<string, Secret>>;
  /** Folder with one file per secret, named like the secret. Hidden files are ignored, because orchestrators store their own data in them. */
  directory?: string | undefined;
}

/** Secrets that can be replaced while the process runs. */
export interface SecretFiles {
  /** Returns the current secrets by name. The map is a new object after a change. */
  secrets(): ReadonlyMap<string, string>;
  /** Reads the files again if they changed. Throws a `SecretError` if a secret is invalid, and keeps the previous one. */
  reload(): void;
}

/** Problem of one secret; without a name, of the folder. */
export type SourceProblem = Partial<SecretProblem> & Pick<SecretProblem, 'problem'>;

/** Error of invalid secrets. The message is a clause for the operator and doesn't contain a secret. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
  readonly problems: readonly SourceProblem[];

  constructor(problems: string | readonly SourceProblem[], options?: ErrorOptions) {
    const all = typeof problems === 'string' ? [{ problem: problems }] : problems;
    super(all.map(({ problem }) => problem).join('; '), options);
    this.problems = all;
  }
}

/** Maximum size of a file with a secret, in bytes. */
const MAX_BYTES = 64 * 1024;

/** Problem of one secret. */
export interface SecretProblem {
  /** Name of the secret. */
  name: string;
  /** Problem as a clause, without the secret. */
  problem: string;
}

/** Returns a problem of the secrets, or undefined if they are valid. */
export type FindProblem = (secrets: ReadonlyMap<string, string>) => SecretProblem | undefined;

/** Reads secrets, and returns all problems. */
export function findSecretProblems(sources: SecretSources, findProblem?: FindProblem): readonly SourceProblem[] {
  try {
    createSecretFiles(sources, findProblem);
    return [];
  } catch (error) {
    if (error instanceof SecretError) {
      return error.problems;
    }
    throw error;
  }
}

/**
 * Reads secrets, without the line break at the end of a file. On reload, files are independent: an invalid file keeps its previous secret, and
 * a file that was removed from the folder removes its secret.
 *
 * @throws {SecretError} if a secret can't be read, or `findProblem` returns a problem
 */
export function createSecretFiles(sources: SecretSources, findProblem: FindProblem = () => undefined): SecretFiles {
  let fingerprint: string | undefined;
  let current: ReadonlyMap<string, string> = new Map();
  let problems: readonly SecretProblem[] = [];

  function reload(): void {
    const files = filesOf(sources);
    const newFingerprint = files.map(([, file]) => fingerprintOf(file)).join('\n');
    if (newFingerprint !== fingerprint) {
      const found = readAll(sources, files, findProblem, current);
      problems = found.problems;
      current = found.secrets;
      fingerprint = newFingerprint;
    }
    if (problems.length > 0) {
      throw new SecretError(problems);
    }
  }

  reload();
  return { secrets: () => current, reload };
}

/** Reads all secrets in the order of their sources. Keeps the previous value of invalid ones, or omits them if they had none. */
function readAll(
  { secrets: given = {} }: SecretSources,
  files: readonly [name: string, file: string][],
  findProblem: FindProblem,
  previous: ReadonlyMap<string, string>,
): { secrets: Map<string, string>; problems: SecretProblem[] } {
  const problems: SecretProblem[] = [];
  const secrets = new Map<string, string>();
  const keepPrevious = (name: string) => {
    const old = previous.get(name);
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
      problems.push({ name, problem: error instanceof Error ? error.message : String(error) });
      keepPrevious(name);
    }
  }
  for (let found = findProblem(secrets); found !== undefined; found = findProblem(secrets)) {
    problems.push(found);
    keepPrevious(found.name);
  }
  return { secrets, problems };
}

/** Returns the paths of all files, with the names of their secrets. */
function filesOf({ secrets = {}, directory }: SecretSources): [name: string, file: string][] {
  const singleFiles = Object.entries(secrets).flatMap(([name, secret]): [string, string][] =>
    typeof secret === 'string' ? [] : [[name, secret.file]],
  );
  if (directory === undefined) {
    return singleFiles;
  }
  const folderFiles = filesIn(directory);
  const duplicate = folderFiles.find(([name]) => Object.hasOwn(secrets, name))?.[0];
  if (duplicate !== undefined) {
    throw new SecretError(
      `${duplicate} is set both directly and by a file in the folder ${directory}; remove one of them`,
    );
  }
  return [...singleFiles, ...folderFiles];
}

function filesIn(directory: string): [name: string, file: string][] {
  try {
    const names = readdirSync(directory).filter((name) => !name.startsWith('.'));
    return names.map((name): [string, string] => [name, join(directory, name)]).filter(([, file]) => !isOther(file));
  } catch (cause) {
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    throw new SecretError(`the folder ${directory} ${isMissing ? "doesn't exist" : "can't be read"}`, { cause });
  }
}

/** Whether the path leads to something other than a file, such as a folder. */
function isOther(path: string): boolean {
  try {
    return !statSync(path).isFile();
  } catch {
    return false; // Reading it reports the problem.
  }
}

/** Returns the fingerprint of a file. An unreadable file has one too: reading it reports the problem. */
function fingerprintOf(file: string): string {
  try {
    return fileFingerprint(file);
  } catch {
    return `${file} is unreadable`;
  }
}

function readSecret(file: string): string {
  try {
    return readTextFile(file, MAX_BYTES).replace(/\r?\n$/, '');
  } catch (cause) {
    throw cause instanceof FileError ? new SecretError(`the file ${file} ${cause.message}`, { cause }) : cause;
  }
}
