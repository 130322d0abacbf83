// Reads the command line, and options of one kind.

import { parseArgs } from 'node:util';
import { listAny, unknownName } from '../settings/define.ts';
import { COMMON_OPTIONS, type Command, type CommandLine, type CommandOption, innerOf, isOptional } from './command.ts';
import { ConfigError } from './config/problem.ts';

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
  const optionOf = (name: string) => allOptions.find((option) => option.name === name);
  const { tokens } = parseArgs({
    args: normalize(rest, allOptions),
    options: Object.fromEntries(
      allOptions.map(({ name, value }) => [name, { type: value ? 'string' : 'boolean' } as const]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const options: Record<string, string> = {};
  const words: string[] = [];
  const problems: string[] = [];
  for (const [i, token] of tokens.entries()) {
    const previous = tokens[i - 1];
    if (token.kind !== 'option') {
      const isValue = previous?.kind === 'option' && previous.value === undefined && !optionOf(previous.name);
      if (!isValue) {
        words.push(token.kind === 'positional' ? token.value : '--');
      }
      continue; // A word after an unknown option is probably its value, and reported with it.
    }
    const option = optionOf(token.name);
    if (option === undefined) {
      const names = allOptions.map(({ name }) => `--${name}`);
      problems.push(`${toSentence(unknownName(token.rawName, names, 'option'))} See ${helpOf(command)}.`);
    } else if (option.value !== undefined && !token.value && !isOptional(option.value)) {
      problems.push(`--${option.name} requires a value.`);
    } else if (option.value === undefined && token.value !== undefined) {
      problems.push(`--${option.name} takes no value.`);
    } else {
      const before = option.value?.endsWith(',…') ? options[option.name] : undefined;
      options[option.name] = before === undefined ? (token.value ?? '') : `${before},${token.value}`;
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
  return { command, isNamed, options, args, problems };
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
    throw new ConfigError([`${toSentence(unknownName(name, inner, 'command'))} See ${helpOf(named)}.`]);
  }
  return { command: named ?? commands[0], isNamed: named !== undefined, rest };
}

/** Rewrites short options as long ones, and missing values as empty ones: parseArgs would use the next option as the value. */
function normalize(args: readonly string[], allOptions: readonly CommandOption[]): string[] {
  const end = args.indexOf('--');
  return args.map((arg, i) => {
    if (end >= 0 && i >= end) {
      return arg;
    }
    const [, letter, inline = ''] = /^-([^-])(.*)$/s.exec(arg) ?? [];
    const option = allOptions.find(
      ({ name, short }) => arg === `--${name}` || (letter !== undefined && short === letter),
    );
    if (option === undefined) {
      return letter === undefined ? arg : `-${letter}`; // The rest may be a secret.
    }
    const isMissing = option.value !== undefined && inline === '' && /^--?[a-z]|^--$/i.test(args[i + 1] ?? '--');
    const value = inline.replace(/^=/, '');
    return `--${option.name}${inline === '' ? '' : `=${value}`}${isMissing ? '=' : ''}`;
  });
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
