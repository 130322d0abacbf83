import { COMMON_OPTIONS, type Command, type CommandOption, innerOf } from './command.ts';

const MORE = 'Run notigraph <command> --help for the options of a command.';

/** Returns the help of a command. That of the default command begins with the list of commands. */
export function writeHelp(command: Command, commands: readonly Command[]): string {
  const isDefault = command === commands[0];
  const inner = isDefault ? commands : innerOf(command, commands);
  const usage = [isDefault ? '[command]' : command.name, command.argument, '[options]'].filter(Boolean).join(' ');
  return [
    isDefault ? "notigraph: a GraphQL gateway in front of a notification service's /v1 REST API" : command.summary,
    `Usage: notigraph ${usage}`,
    ...(inner.length === 0
      ? []
      : [`Commands:\n\n${writeEntries(inner.map(({ name, summary }) => [name, summary]))}\n${MORE}`]),
    `Options${isDefault ? ` of ${command.name}` : ''}:\n\n${writeEntries([...command.options, ...COMMON_OPTIONS].map(toEntry))}`,
    ...(command.details === undefined ? [] : [command.details]),
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

/** Formats terms and their descriptions, wrapped to `WIDTH`. */
export const writeEntries = (entries: readonly (readonly [term: string, description: string])[]): string =>
  entries.map(([term, description]) => writeEntry(term, description)).join('');

function writeEntry(term: string, description: string): string {
  const lines: string[] = [];
  let line = `  ${term}`.padEnd(INDENT.length);
  if (!line.endsWith(' ')) {
    lines.push(line);
    line = INDENT;
  }
  for (const word of description.split(' ')) {
    if (line.length + word.length + 1 > WIDTH) {
      lines.push(line);
      line = INDENT;
    }
    line += line.endsWith(' ') ? word : ` ${word}`;
  }
  return `${[...lines, line].join('\n')}\n`;
}
