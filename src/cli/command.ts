// What a command is, and what several commands do: read options of one kind, or only print a text.

import { listAny } from '../settings/setting.ts';
import { ConfigError } from './config/problem.ts';

export interface CommandOption {
  /** Name without dashes. */
  name: string;
  /** Letter of its short form. @default none */
  short?: string | undefined;
  /**
   * Placeholder of its value: `FILE`, `[FILE]` if the value is optional, `FILE,…` if it is a list, so that several options add up, or words such as
   * `on|off`. @default none: a switch
   */
  value?: string | undefined;
  description: string;
}

/** Command of the program. The help and suggestions follow from the table of commands. */
export interface Command {
  /** Words that select it, such as `sandbox reset`. */
  name: string;
  summary: string;
  /** More about it, for its help. @default none */
  details?: string;
  /** Placeholders of its arguments: `[FILE]` if one is optional. @default none */
  args?: readonly string[];
  options: readonly CommandOption[];
  /**
   * Runs the command.
   *
   * @throws {ConfigError} if the command line is invalid
   */
  run(commandLine: CommandLine, host: Process): Promise<void>;
}

export interface CommandLine {
  command: Command;
  /** Whether the first words name the command. If not, it is the default one. */
  isNamed: boolean;
  /** Values of the options by name; empty for switches and options without their optional value. */
  options: Readonly<Record<string, string>>;
  args: readonly string[];
  problems: readonly string[];
}

/** The process. Commands get it from the entry point, which is the only file that refers to it. */
export type Process = NodeJS.Process;

export const COMMON_OPTIONS: readonly CommandOption[] = [
  { name: 'help', short: 'h', description: 'Print this help.' },
  { name: 'version', short: 'v', description: 'Print the version.' },
];

export const innerOf = ({ name }: Command, commands: readonly Command[]): Command[] =>
  commands.filter((other) => other.name.startsWith(`${name} `));

export const isOptional = (placeholder: string | undefined): boolean => placeholder?.startsWith('[') === true;

/**
 * Returns the value of `--format`.
 *
 * @param formats words such as `text|json`; the first one is the default
 * @throws {ConfigError} with all problems of the command line if it is none of them
 */
export function readFormat({ options, problems }: CommandLine, formats: string): string {
  const words = formats.split('|');
  const { format = words[0] ?? '' } = options;
  if (!words.includes(format)) {
    throw new ConfigError([...problems, `--format must be ${listAny(words)}.`]);
  }
  return format;
}

/** Creates a command that only prints a text. */
export const createPrinter = ({
  write,
  ...command
}: Omit<Command, 'run'> & {
  write(commandLine: CommandLine, host: Process): string | Promise<string>;
}): Command => ({
  ...command,
  async run(commandLine, host) {
    if (commandLine.problems.length > 0) {
      throw new ConfigError(commandLine.problems);
    }
    host.stdout.write(await write(commandLine, host));
  },
});

/**
 * Returns the number of an option; undefined if it is not given.
 *
 * @param problems receives a problem if it is not a whole number from `min` to `max`
 */
export function readInteger(
  options: CommandLine['options'],
  name: string,
  [min, max]: readonly [min: number, max: number],
  problems: string[],
): number | undefined {
  const text = options[name];
  if (text !== undefined && (!/^\d{1,6}$/.test(text) || Number(text) < min || Number(text) > max)) {
    problems.push(`--${name} must be a whole number from ${min} to ${max}.`);
  }
  return text === undefined ? undefined : Number(text);
}
