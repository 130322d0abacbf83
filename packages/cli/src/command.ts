// What a command is, and what the command line says.

export interface CommandOption {
  /** Name without dashes. */
  name: string;
  /** Letter of its short form. @default none */
  short?: string | undefined;
  /**
   * Placeholder of its value: `FILE`, `[FILE]` if the value is optional, `FILE,…` if it is a list, so that several options add up, `TEXT …` if each
   * option adds a value that can have commas, or words such as `on|off`. @default none: a switch
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
  /** All values of the options that add up as `TEXT …`, by name. */
  lists: Readonly<Record<string, readonly string[]>>;
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
