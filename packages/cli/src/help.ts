// Writes the help from the table of commands.

import { COMMON_OPTIONS, type Command, type CommandOption, innerOf } from './command.ts';

const MORE = 'Run notigraph <command> --help for the options of a command.';

const MORE_OF_PROGRAM = `${MORE} Those of serve
work without its name. Its help also lists the environment variables.`;

const EXAMPLES: readonly (readonly [command: string, description: string])[] = [
  ['notigraph', "Serves the sandbox's sample data on port 4000."],
  ['notigraph --upstream https://notifications.example.com', 'Serves your notification service.'],
  ['notigraph check --config notigraph.config.yaml', 'Checks a configuration file.'],
  ['notigraph schema diff schema.graphql', 'Lists what has changed since you saved the schema.'],
];

/** Returns the help of a command; without one, that of the program, which lists the commands. */
export function writeHelp(command: Command | undefined, commands: readonly Command[]): string {
  const inner = command === undefined ? commands : innerOf(command, commands);
  const usage = command === undefined ? ['[command]'] : [command.name, ...(command.args ?? [])];
  return [
    command?.summary ?? "notigraph: a GraphQL gateway in front of a notification service's /v1 REST API",
    `Usage: notigraph ${[...usage, '[options]'].join(' ')}`,
    ...(inner.length === 0 ? [] : [`Commands:\n\n${writeEntries(inner.map(({ name, summary }) => [name, summary]))}`]),
    ...(command === undefined ? [`Examples:\n\n${writeEntries(EXAMPLES)}`] : []),
    `Options:\n\n${writeEntries([...(command?.options ?? []), ...COMMON_OPTIONS].map(toEntry))}`,
    ...(inner.length === 0 ? [] : [command === undefined ? MORE_OF_PROGRAM : MORE]),
    ...(command?.details === undefined ? [] : [command.details]),
  ]
    .map((part) => part.trimEnd())
    .join('\n\n')
    .concat('\n');
}

const toEntry = ({ name, short, value, description }: CommandOption): readonly [string, string] => [
  `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
  description,
];

const WIDTH = 80;
const INDENT = ' '.repeat(24);

/** Matches the words that fit into a line, or a longer one. */
const LINE = new RegExp(`\\S.{0,${WIDTH - INDENT.length - 1}}(?= |$)|\\S+`, 'g');

/** Formats terms and their descriptions, wrapped to `WIDTH`. */
export const writeEntries = (entries: readonly (readonly [term: string, description: string])[]): string =>
  entries.map(([term, description]) => writeEntry(term, description)).join('');

function writeEntry(term: string, description: string): string {
  const start = `  ${term}`.padEnd(INDENT.length);
  const lines = [...(start.endsWith(' ') ? [] : ['']), ...(description.match(LINE) ?? [])];
  return `${start}${lines.join(`\n${INDENT}`)}\n`;
}
