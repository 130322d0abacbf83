// Reads secrets from files, which can be replaced while the process runs.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { caught, orUndefined, SetupError } from '../lib/caught.ts';
import { createWatchedFiles, type WatchedFiles } from './file-watcher.ts';
import { FileError, fingerprintOf, readFolder, readTextFile } from './text-file.ts';

export type Secret = string | { file: string };

interface SecretSources {
  /** Name of their content, in the log and in metrics. @default `secrets` */
  name?: string;
  secrets?: Readonly<Record<string, Secret>>;
  /** Folder with one file per secret, named like the secret. Hidden files are ignored, because orchestrators store their own data in them. */
  directory?: string | undefined;
}

/** Secrets that can be replaced while the process runs. */
export interface SecretFiles extends WatchedFiles {
  /** Returns the current secrets by name. The map is a new object after they were read again. */
  secrets(): ReadonlyMap<string, string>;
}

/** Problem of one secret; without a name, of the folder. */
export type SourceProblem = Partial<SecretProblem> & Pick<SecretProblem, 'problem'>;

/** Error of invalid secrets. The message doesn't contain a secret. */
export class SecretError extends SetupError {
  override readonly name = 'SecretError';
  readonly problems: readonly SourceProblem[];

  constructor(problems: string | readonly SourceProblem[], options?: ErrorOptions) {
    const all = typeof problems === 'string' ? [{ problem: problems }] : problems;
    super(all.map(({ problem }) => problem).join('; '), options);
    this.problems = all;
  }
}

/** Maximum size of a file with a secret, in bytes. */
const MAX_SECRET_BYTES = 64 * 1024;

export interface SecretProblem {
  name: string;
  /** Problem as a clause, without the secret. */
  problem: string;
}

/** Returns a problem of the secrets, or undefined if they are valid. */
export type FindProblem = (secrets: ReadonlyMap<string, string>) => SecretProblem | undefined;

/** Creates the check of each secret by itself. @param problemOf returns its problem as a clause, or undefined */
export const checkEach =
  (problemOf: (secret: string, name: string) => string | undefined): FindProblem =>
  (secrets) =>
    [...secrets].flatMap(([name, secret]) => {
      const problem = problemOf(secret, name);
      return problem === undefined ? [] : { name, problem };
    })[0];

/** Returns the problems with which reading secrets fails; none if it succeeds. */
export const problemsOf = (read: () => unknown): readonly SourceProblem[] => caught(SecretError, read)?.problems ?? [];

/** Reads secrets once, without watching their files. Returns the valid ones, and the problems of the others. */
export function readSecrets(sources: SecretSources, findProblem: FindProblem) {
  let found: { secrets: ReadonlyMap<string, string>; problems: readonly SourceProblem[] } | undefined;
  const problems = problemsOf(() => {
    found = collect(sources, findProblem, new Map());
  });
  return found ?? { secrets: new Map<string, string>(), problems };
}

/**
 * Reads secrets, without the line break at the end of a file. On reload, files are independent: an invalid file keeps its previous secret, and
 * a file that was removed from the folder removes its secret.
 *
 * @param onChange called after a reload that changed secrets
 * @throws {SecretError} if a secret can't be read, or `findProblem` returns a problem
 */
export function createSecretFiles(
  sources: SecretSources,
  findProblem: FindProblem = () => undefined,
  onChange?: (change: ReturnType<typeof compare>) => void,
): SecretFiles {
  let current: ReadonlyMap<string, string> | undefined;

  const files = createWatchedFiles(
    () => fingerprintOf(listSecretFiles(sources).map(([, file]) => file)),
    () => collect(sources, findProblem, current ?? new Map()),
    ({ secrets, problems }) => {
      const change = current && compare(current, secrets);
      current = secrets;
      if (change !== undefined && Object.values(change).some(({ length }) => length > 0)) {
        onChange?.(change);
      }
      if (problems.length > 0) {
        throw new SecretError(problems);
      }
    },
    sources.name ?? 'secrets',
  );
  return { ...files, secrets: () => current ?? new Map() };
}

function compare(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>) {
  const names = [...after.keys()];
  return {
    added: names.filter((name) => !before.has(name)),
    replaced: names.filter((name) => before.has(name) && before.get(name) !== after.get(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
  };
}

/** Reads all secrets in the order of their sources. Keeps the previous value of invalid ones, or omits them if they had none. */
function collect(
  sources: SecretSources,
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
  for (const [name, secret] of Object.entries(sources.secrets ?? {})) {
    secrets.set(name, typeof secret === 'string' ? withLineBreaks(secret) : '');
  }
  for (const [name, file] of listSecretFiles(sources)) {
    try {
      secrets.set(name, readSecret(file));
    } catch (error) {
      problems.push({ name, problem: error instanceof Error ? error.message : String(error) });
      keepPrevious(name);
    }
  }
  const find = () => findProblem(unchangedFirst(secrets, previous));
  for (let found = find(); found !== undefined; found = find()) {
    problems.push(found);
    keepPrevious(found.name);
  }
  return { secrets, problems };
}

/** Returns the secrets with the unchanged ones first: if two can't be used together, the one that was in use before stays. */
function unchangedFirst(secrets: ReadonlyMap<string, string>, previous: ReadonlyMap<string, string>) {
  const isChanged = ([name, secret]: [string, string]) => previous.get(name) !== secret;
  return new Map([...secrets].sort((a, b) => Number(isChanged(a)) - Number(isChanged(b))));
}

/** Returns the paths of all files, with the names of their secrets. Throws a `SecretError` if the folder can't be used. */
export function listSecretFiles({ secrets = {}, directory }: SecretSources): [name: string, file: string][] {
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
    const names = readFolder(directory).filter((name) => !name.startsWith('.'));
    return names.map((name): [string, string] => [name, join(directory, name)]).filter(([, file]) => !isOther(file));
  } catch (cause) {
    throw cause instanceof FileError ? new SecretError(`the folder ${directory} ${cause.message}`, { cause }) : cause;
  }
}

/** Whether the path leads to something other than a file, such as a folder. If it leads nowhere, reading it reports the problem. */
const isOther = (path: string): boolean => orUndefined(() => statSync(path).isFile()) === false;

/** Returns PEM with its line breaks, which env files and secret stores write as `\n`; other texts unchanged. */
const withLineBreaks = (text: string): string =>
  text.includes('-----BEGIN ') ? text.replace(/(?:\\r)?\\n/g, '\n') : text;

function readSecret(file: string): string {
  try {
    return withLineBreaks(readTextFile(file, MAX_SECRET_BYTES).replace(/\r?\n$/, ''));
  } catch (cause) {
    throw cause instanceof FileError ? new SecretError(`the file ${file} ${cause.message}`, { cause }) : cause;
  }
}
