import { parseArgs } from 'node:util';
import { unknownName } from '../settings/setting.ts';
import { COMMON_OPTIONS, type Command, type CommandLine, type CommandOption, innerOf, isOptional } from './command.ts';

/**
 * Parses the command line leniently, so that all problems are reported together. Messages never contain values, which may be secrets.
 *
 * @param commands table of commands; the first one is the default
 */
export function readCommandLine(argv: readonly string[], commands: readonly [Command, ...Command[]]): CommandLine {
  const [first, ...others] = argv;
  const isHelp = first === 'help' && others.length > 0; // `help sandbox` is `sandbox --help`.
  const { command, rest } = findCommand(isHelp ? [...others, '--help'] : argv, commands);
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
      options[option.name] = token.value ?? '';
    }
  }
  const [argument] = command.argument === undefined ? [] : words.splice(0, 1);
  problems.push(...words.map((word, i) => explainWord(word, i === 0 && word === rest[0], command, commands)));
  if (command.argument !== undefined && argument === undefined && !isOptional(command.argument)) {
    problems.push(`notigraph ${command.name} requires an argument: ${command.argument}.`);
  }
  return { command, options, argument, problems, commands };
}

/** Finds the command that the first words name, and returns what follows them. */
function findCommand(argv: readonly string[], commands: readonly [Command, ...Command[]]) {
  const named = commands
    .toSorted((a, b) => b.name.length - a.name.length)
    .find(({ name }) => name.split(' ').every((word, i) => argv[i] === word));
  return { command: named ?? commands[0], rest: argv.slice(named?.name.split(' ').length ?? 0) };
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

/** Returns a problem for a word that the command doesn't take. */
function explainWord(word: string, isFirst: boolean, command: Command, commands: readonly Command[]): string {
  const names = commands.map(({ name }) => name);
  if (names.includes(word)) {
    return `Put the command first: notigraph ${word}.`;
  }
  const isNamed = command !== commands[0];
  const inner = isNamed ? innerOf(command, commands).map(({ name }) => name) : names;
  if (isFirst && inner.length > 0 && isPlain(word)) {
    const name = isNamed ? `${command.name} ${word}` : word;
    return `${toSentence(unknownName(name, inner, 'command'))} See ${helpOf(command)}.`;
  }
  return `Unexpected argument${isPlain(word) ? ` "${word}"` : ''}. See ${helpOf(command)}.`;
}

const toSentence = (phrase: string): string => `${phrase.charAt(0).toUpperCase()}${phrase.slice(1)}.`;

/** Whether a word is plain. Anything else may be a misplaced secret, so messages omit it. */
const isPlain = (text: string): boolean => /^[a-z][a-z-]{0,19}$/.test(text);

/** Returns the command that prints the help of a command. */
const helpOf = ({ name }: Command): string => (name === 'serve' ? 'notigraph --help' : `notigraph ${name} --help`);
