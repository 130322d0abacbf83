// Problems of the command line and the configuration: where they are, how they are printed, and the error that reports all of them.

import { randomUUID } from 'node:crypto';
import { chmodSync, lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { FileError, readTextFile, toFileError } from '../../../../src/files/text-file.ts';
import { orUndefined } from '../../../../src/lib/caught.ts';
import { truncate } from '../../../../src/lib/text.ts';
import { countOf, withoutControls } from '../text.ts';

export interface Place {
  /** File, or the variable that holds the configuration. */
  source: string;
  /** Line, counted from 1. */
  line: number;
  /** Column, counted from 1. */
  column: number;
}

export interface Problem {
  /** Place in a file; undefined for options, variables and whole files, which the sentence names. */
  place?: Place | undefined;
  /** One sentence. Never contains a value, which may be a secret. */
  sentence: string;
}

/** A setting's name in its source: `--port`, `NOTIGRAPH_PORT (environment)`, or `port` with its place in a file. */
interface SettingLocation {
  place?: Place | undefined;
  name: string;
}

export type SettingPath = readonly PropertyKey[];

/**
 * Returns the location of a setting.
 *
 * @param at path of the value in it that is wrong. @default path
 */
export type Locate = (path: SettingPath, at?: SettingPath) => SettingLocation;

/** Returns the problem of a setting: its name with a clause after it, such as ` must be on or off`. */
export const problemOf = ({ place, name }: SettingLocation, clause: string): Problem => ({
  place,
  sentence: `${name}${clause}.`,
});

/** Returns a problem as one line: `notigraph.config.yaml:12:5: port must be …`. */
export function formatProblem({ place, sentence }: Problem): string {
  const text = place === undefined ? sentence : `${place.source}:${place.line}:${place.column}: ${sentence}`;
  return withoutControls(text).replaceAll('\n', '?'); // Names of settings can be any text.
}

/** Removes repeated problems, and moves those of the configuration file to the end, in the order of their lines. */
export function sortProblems(problems: readonly Problem[]): Problem[] {
  const unique = new Map(problems.map((problem) => [formatProblem(problem), problem])).values();
  const first = { line: 0, column: 0 };
  return [...unique].toSorted(({ place: a = first }, { place: b = first }) => a.line - b.line || a.column - b.column);
}

/** Ends the command with an exit code. The message is for the person who runs it. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError';
  readonly exitCode: number = 1;
}

/** Maximum number of problems that are reported. A file of another program can have one in each line. */
export const MAX_PROBLEMS = 20;

/** Maximum length of a problem, because names of settings can have any. */
const MAX_SENTENCE = 2_000;

/** Reports the problems of the command line and the configuration together. The message has a line for each. */
export class ConfigError extends CommandError {
  override readonly name = 'ConfigError';
  override readonly exitCode = 2;
  /** The first problems, and how many others there are. */
  readonly problems: readonly Problem[];
  /** Number of all problems. */
  readonly count: number;

  /** @param problems problems, or sentences that have no place */
  constructor(problems: readonly (Problem | string)[]) {
    const reported = problems
      .slice(0, MAX_PROBLEMS)
      .map((problem) => (typeof problem === 'string' ? { sentence: problem } : problem))
      .map(({ place, sentence }) => ({ place, sentence: truncate(sentence, MAX_SENTENCE) }));
    const others = problems.length - reported.length;
    const all = others === 0 ? reported : [...reported, { sentence: `and ${countOf(others, 'more problem')}.` }];
    super(all.map(formatProblem).join('\n'));
    this.problems = all;
    this.count = problems.length;
  }
}

/** @throws {ConfigError} if there are problems */
export function rejectProblems(problems: readonly (Problem | string)[]): void {
  if (problems.length > 0) {
    throw new ConfigError(problems);
  }
}

/**
 * Reads a text file that somebody has named.
 *
 * @param subject words with which a problem begins
 * @throws {ConfigError} if it can't be read
 */
export function readNamedFile(path: string, maxBytes: number, subject = `The file ${path}`): string {
  try {
    return readTextFile(path, maxBytes);
  } catch (error) {
    throw error instanceof FileError ? new ConfigError([`${subject} ${error.message}.`]) : error;
  }
}

/**
 * Writes a file that somebody has named. What is there is replaced at once, also a symbolic link, which could lead to any file.
 *
 * @param subject words with which a problem begins
 * @param replaces whether the file may exist. It then keeps its mode
 * @throws {ConfigError} if it can't be written
 */
export function writeNamedFile(path: string, text: string, subject: string, replaces = false): void {
  try {
    if (replaces) {
      replaceFile(path, text);
    } else {
      writeFileSync(path, text, { flag: 'wx' }); // It also fails for a link that leads nowhere.
    }
  } catch (error) {
    const { isMissing, message } = toFileError(error);
    const reason = isMissing ? "can't be written: its folder doesn't exist" : message.replace('read', 'written');
    throw new ConfigError([`${subject} ${reason}.`]);
  }
}

function replaceFile(path: string, text: string): void {
  const existing = orUndefined(() => lstatSync(path));
  const part = `${path}.${randomUUID()}.part`;
  try {
    writeFileSync(part, text, { flag: 'wx' });
    if (existing?.isFile()) {
      chmodSync(part, existing.mode & 0o7777);
    }
    renameSync(part, path);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}
