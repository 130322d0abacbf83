import {
  COMMON_OPTIONS,
  type Command,
  type CommandOption,
  innerOf,
  isOptional,
  isPath,
  namesOf,
  topLevelOf,
  wordsOf,
} from '../command.ts';

/** Writes the completion script for zsh. */
export function writeZshCompletion(commands: readonly Command[]): string {
  return `#compdef notigraph
# Completion of notigraph for zsh: source <(notigraph completion zsh)

_notigraph() {
  local command=${quote(commands[0]?.name ?? '')}
  local -a commands
  if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then
    commands=(${describe(topLevelOf(commands))})
    _describe command commands
    return
  fi
${topLevelOf(commands)
  .map((command) => writeSelection(command, commands))
  .join('')}  case $command in
${commands.map((command) => `    ${quote(command.name)}) _arguments -s ${writeArguments(command)} ;;\n`).join('')}  esac
}

# As a file on fpath, this is the body of the function.
if [[ $funcstack[1] == _notigraph ]]; then
  _notigraph "$@"
else
  compdef _notigraph notigraph
fi
`;
}

/** Writes the code that selects a command by its words and removes them, or completes the second word. */
function writeSelection(command: Command, commands: readonly Command[]): string {
  const { name } = command;
  const rest = innerOf(command, commands).map((other) => ({ ...other, name: other.name.slice(name.length + 1) }));
  const second =
    rest.length === 0
      ? ''
      : `    if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then
      commands=(${describe(rest)})
      _describe command commands
      return
    fi
${rest
  .map(
    (other) => `    if [[ $words[2] == ${quote(other.name)} ]]; then
      command=${quote(`${name} ${other.name}`)}
      shift words
      ((CURRENT--))
    fi
`,
  )
  .join('')}`;
  return `  if [[ $words[2] == ${quote(name)} ]]; then
    command=${quote(name)}
    shift words
    ((CURRENT--))
${second}  fi
`;
}

const describe = (commands: readonly Pick<Command, 'name' | 'summary'>[]): string =>
  commands.map(({ name, summary }) => quote(`${name}:${summary.replaceAll(':', '\\:')}`)).join(' ');

function writeArguments({ options, argument }: Command): string {
  const specs = [...options, ...COMMON_OPTIONS].map(writeOption);
  return [
    ...specs,
    ...(argument === undefined ? [] : [quote(`1${isOptional(argument) ? ':' : ''}:argument:${actionOf(argument)}`)]),
  ].join(' ');
}

/** Writes an option in the notation of _arguments: '(-p --port)'{-p,--port=}'[description]:value:action'. */
function writeOption(option: CommandOption): string {
  const { name, short, value, description } = option;
  const [sentence = ''] = description.split(/(?<=\.)\s/, 1);
  const label = `[${sentence.replace(/[[\]\\:]/g, String.raw`\$&`)}]`;
  const names = namesOf(option);
  const separator = value === undefined ? '' : '=';
  const action =
    value === undefined ? '' : `${isOptional(value) ? '::' : ':'}${value.replaceAll(/[[\]:]/g, '')}:${actionOf(value)}`;
  const forms =
    short === undefined
      ? `--${name}${separator}`
      : `{-${short}${value === undefined ? '' : '+'},--${name}${separator}}`;
  return `${quote(`(${names.join(' ')})`)}${forms}${quote(`${label}${action}`)}`;
}

const actionOf = (placeholder: string): string => {
  const words = wordsOf(placeholder);
  return isPath(placeholder) ? '_files' : words.length > 0 ? `(${words.join(' ')})` : ' ';
};

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
