import { COMMON_OPTIONS, type Command, type CommandOption, innerOf, wordsOf } from '../command.ts';
import { ConfigError } from '../config/problem.ts';
import { createPrinter } from './printer.ts';

const SHELLS = 'bash|zsh';

/** Lets zsh use completions for bash. */
const ZSH = 'autoload -U +X bashcompinit && bashcompinit\n';

/** Prints a script that completes commands, options and values in a shell. */
export const completion = createPrinter({
  name: 'completion',
  summary: 'Prints a completion script for bash or zsh.',
  args: [SHELLS],
  options: [],
  details: `Add one of these lines to ~/.bashrc or ~/.zshrc (after compinit):

  source <(notigraph completion bash)
  source <(notigraph completion zsh)`,
  write({ args: [shell = ''], commands }) {
    if (!wordsOf(SHELLS).includes(shell)) {
      throw new ConfigError(['The shell must be bash or zsh.']);
    }
    return `${shell === 'zsh' ? ZSH : ''}${writeScript(commands)}`;
  },
});

/** Writes the completion script for bash. It works with bash 3.2, which macOS has, with zsh, and needs no other package. */
function writeScript(commands: readonly Command[]): string {
  const outer = topLevelOf(commands);
  const names = outer.map(({ name }) => name);
  const inner = outer.flatMap((command) => innerOf(command, commands));
  return `# Completion of notigraph, for bash and zsh

_notigraph_words() {
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

_notigraph_files() {
  local IFS=$'\\n'
  compopt -o filenames 2> /dev/null
  COMPREPLY=($(compgen -f -- "$cur"))
}

_notigraph() {
  local cur=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command=${commands[0]?.name}
  # "=" separates words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $previous == = ]]; then
    previous=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  case \${COMP_WORDS[1]} in
    ${names.join(' | ')}) ((COMP_CWORD > 1)) && command=\${COMP_WORDS[1]} ;;
  esac
  case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in
    ${inner.map(({ name }) => `'${name}'`).join(' | ')}) ((COMP_CWORD > 2)) && command="\${COMP_WORDS[1]} \${COMP_WORDS[2]}" ;;
  esac
  case "$command $previous" in
${commands.flatMap((command) => command.options.map((option) => valueCase(command, option))).join('')}  esac
  if [[ $cur == -* ]]; then
    case $command in
${commands.map((command) => `      '${command.name}') _notigraph_words '${flagsOf(command)}' ;;\n`).join('')}    esac
    return
  fi
  if ((COMP_CWORD == 1)); then
    _notigraph_words '${names.join(' ')}'
    return
  fi
  case $command in
${commands.map((command) => wordCase(command, commands)).join('')}  esac
}

complete -F _notigraph notigraph
`;
}

const flagsOf = ({ options }: Command): string => [...options, ...COMMON_OPTIONS].flatMap(namesOf).join(' ');

/** Writes the case of the value of an option. */
function valueCase({ name }: Command, option: CommandOption): string {
  const { value } = option;
  if (value === undefined) {
    return '';
  }
  const patterns = namesOf(option).map((flag) => `'${name} ${flag}'`);
  const words = wordsOf(value);
  const action = isPath(value) ? '_notigraph_files' : words.length > 0 ? `_notigraph_words '${words.join(' ')}'` : ':';
  return `    ${patterns.join(' | ')})
      [[ $cur == -* ]] || { ${action}; return; }
      ;;
`;
}

/** Writes the case of the arguments of a command, or of the commands that begin with its name. */
function wordCase(command: Command, commands: readonly Command[]): string {
  const { name, args = [] } = command;
  const next = innerOf(command, commands).map((other) => other.name.slice(name.length + 1));
  const words = [...next, ...args.flatMap(wordsOf)];
  if (words.length > 0) {
    return `    '${name}') _notigraph_words '${words.join(' ')}' ;;\n`;
  }
  return args.some(isPath) ? `    '${name}') _notigraph_files ;;\n` : '';
}

/** Returns the commands of one word. */
const topLevelOf = (commands: readonly Command[]): Command[] => commands.filter(({ name }) => !name.includes(' '));

/** Whether a placeholder stands for the path of a file or folder. */
const isPath = (placeholder: string): boolean => /^\[?(?:FILE|PATH|OLD|NEW)\]?$/.test(placeholder);

/** Returns an option's names with dashes. */
const namesOf = ({ name, short }: CommandOption): string[] => [
  `--${name}`,
  ...(short === undefined ? [] : [`-${short}`]),
];
