// Reads the command line, and options of one kind.

import { listAny, unknownName } from '../../../src/lib/words.ts';
import { COMMON_OPTIONS, type Command, type CommandLine, innerOf, isOptional } from './command.ts';
import { ConfigError } from './config/problem.ts';

/** Matches `--name`, `--name=value`, `-n`, `-n=value` and `-nvalue`. */
const OPTION = /^(?:--([^=]+)(?:=(.*))?|-([^-])=?(.+)?)$/s;

/**
 * Parses the command line leniently, so that all problems are reported together. Messages never contain values, which may be secrets.
 *
 * @param commands table of commands; the first one is the default
 * @throws {ConfigError} if a command or a topic of the help is unknown, because what follows it can't be understood then
 */
export function readCommandLine(argv: readonly string[], commands: readonly [Command, ...Command[]]): CommandLine {
  const [first, ...others] = argv;
  const isHelp = first === 'help'; // `help sandbox` is `sandbox --help`.
  const line = isHelp || first === 'version' ? [...others, `--${first}`] : argv;
  const { command, isNamed, rest } = findCommand(line, commands);
  const allOptions = [...command.options, ...COMMON_OPTIONS];
  const options: Record<string, string> = {};
  const lists: Record<string, readonly string[]> = {};
  const words: string[] = [];
  const problems: string[] = [];
  const unread = [...rest];
  for (let arg = unread.shift(); arg !== undefined; arg = unread.shift()) {
    const [, long, assigned, letter, attached] = OPTION.exec(arg) ?? [];
    if (long === undefined && letter === undefined) {
      words.push(arg, ...(arg === '--' ? unread.splice(0) : []));
      continue;
    }
    const option = allOptions.find(({ name, short }) => name === long || (letter !== undefined && short === letter));
    const takesValue = option === undefined || option.value !== undefined; // A word after an unknown option is probably its value.
    const isNext = takesValue && !/^--?[a-z]|^--$/i.test(unread[0] ?? '--');
    const value = assigned ?? attached ?? (isNext ? unread.shift() : undefined);
    if (option === undefined) {
      const names = allOptions.map(({ name }) => `--${name}`);
      const name = long === undefined ? `-${letter}` : `--${long}`; // The rest may be a secret.
      problems.push(`${toSentence(unknownName(name, names, 'option'))} See ${helpOf(command)}.`);
    } else if (option.value !== undefined && !value && !isOptional(option.value)) {
      problems.push(`--${option.name} requires a value.`);
    } else if (option.value === undefined && value !== undefined) {
      problems.push(`--${option.name} takes no value.`);
    } else if (option.value?.endsWith(' …')) {
      lists[option.name] = [...(lists[option.name] ?? []), value ?? ''];
    } else {
      const before = option.value?.endsWith(',…') ? options[option.name] : undefined;
      options[option.name] = before === undefined ? (value ?? '') : `${before},${value}`;
    }
  }
  const placeholders = command.args ?? [];
  const args = words.splice(0, placeholders.length);
  const unexpected = explainWords(words, isNamed ? command : undefined, commands);
  if (isHelp && unexpected.length > 0) {
    throw new ConfigError(unexpected);
  }
  problems.push(...unexpected);
  const missing = placeholders.slice(args.length).filter((placeholder) => !isOptional(placeholder));
  if (missing.length > 0) {
    problems.push(`notigraph ${command.name} requires an argument: ${missing.join(' ')}.`);
  }
  return { command, isNamed, options, lists, args, problems };
}

/**
 * Finds the command that the first words name, and returns what follows them.
 *
 * @throws {ConfigError} if they name an unknown command
 */
function findCommand(argv: readonly string[], commands: readonly [Command, ...Command[]]) {
  const named = commands
    .toSorted((a, b) => b.name.length - a.name.length)
    .find(({ name }) => name.split(' ').every((word, i) => argv[i] === word));
  const rest = argv.slice(named?.name.split(' ').length ?? 0);
  const [word = ''] = rest;
  const inner = (named === undefined ? commands : innerOf(named, commands)).map(({ name }) => name);
  if (inner.length > 0 && isPlain(word) && commands.every(({ name }) => name !== word)) {
    const name = named === undefined ? word : `${named.name} ${word}`;
    const full = commands.find((command) => command.name.endsWith(` ${word}`)); // `subscribers import` for `import`.
    const hint = full
      ? `unknown command "${name}" (did you mean "${full.name}"?)`
      : unknownName(name, inner, 'command');
    throw new ConfigError([`${toSentence(hint)} See ${helpOf(full ?? named)}.`]);
  }
  return { command: named ?? commands[0], isNamed: named !== undefined, rest };
}

/** Returns the problems of words that the command doesn't take. Those after a misplaced command belong to it. */
function explainWords(words: readonly string[], command: Command | undefined, commands: readonly Command[]): string[] {
  const names = commands.map(({ name }) => name);
  const misplaced = words.findIndex((word) => names.includes(word));
  return words
    .slice(0, misplaced < 0 ? words.length : misplaced + 1)
    .map((word) =>
      names.includes(word)
        ? `Put the command first: notigraph ${word}.`
        : `Unexpected argument${isPlain(word) ? ` "${word}"` : ''}. See ${helpOf(command)}.`,
    );
}

const toSentence = (phrase: string): string => `${phrase.charAt(0).toUpperCase()}${phrase.slice(1)}.`;

/** Whether a word is plain. Anything else may be a misplaced secret, so messages omit it. */
const isPlain = (text: string): boolean => /^[a-z][a-z-]{0,19}$/.test(text);

/** Returns the command that prints the help of a command, or of the program. */
const helpOf = (command: Command | undefined): string =>
  command === undefined ? 'notigraph --help' : `notigraph ${command.name} --help`;

/**
 * Returns the value of `--format`, by default the first one of those that the command accepts.
 *
 * @throws {ConfigError} with all problems of the command line if it is none of them
 */
export function readFormat({ command, options, problems }: CommandLine): string {
  const words = command.options.find(({ name }) => name === 'format')?.value?.split('|') ?? [];
  const { format = words[0] ?? '' } = options;
  if (!words.includes(format)) {
    throw new ConfigError([...problems, `--format must be ${listAny(words)}.`]);
  }
  return format;
}

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
