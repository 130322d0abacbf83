import { parseArgs } from 'node:util';
import { SETTING_INFO, unknownSetting } from '../settings/setting.ts';
import { SETTINGS, type SettingName } from '../settings/settings.ts';

/** Settings that are command-line options. */
export const FLAGS = (Object.keys(SETTINGS) as SettingName[]).filter(
  (name) => SETTING_INFO.get(SETTINGS[name])?.flag !== undefined,
);

/** Options with a value: settings, and the path of the configuration file. */
const TEXT_OPTIONS: readonly string[] = [...FLAGS, 'config'];

const SWITCHES: readonly string[] = ['help', 'version'];

const OPTIONS: readonly string[] = [...TEXT_OPTIONS, ...SWITCHES];

/** Parsed command line. */
export interface Arguments {
  help: boolean;
  version: boolean;
  /** Path of the configuration file. */
  config?: string;
  /** Settings by name. An option without a value is empty. */
  settings: Record<string, string>;
}

/** Parses the command line leniently, so that all problems are reported together. Messages never contain values. */
export function readArguments(argv: readonly string[]): { values: Arguments; problems: string[] } {
  // parseArgs doesn't support optional values and would use the next option as the value, so missing values become empty ones.
  const args = argv.map((arg, i) =>
    TEXT_OPTIONS.includes(arg.replace(/^--/, '')) && (argv[i + 1] ?? '--').startsWith('--') ? `${arg}=` : arg,
  );
  const options = Object.fromEntries([
    ...TEXT_OPTIONS.map((name) => [name, { type: 'string' as const }]),
    ...SWITCHES.map((name) => [name, { type: 'boolean' as const }]),
  ]);
  const { tokens } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
  const values: Arguments = { help: false, version: false, settings: {} };
  const problems: string[] = [];
  // A word after an unknown option is probably its value, and reported with it.
  for (const token of tokens.filter(({ kind }, i) => kind !== 'positional' || !isUnknownOption(tokens[i - 1]))) {
    if (token.kind !== 'option') {
      problems.push(
        `Unexpected argument${quoteIfPlain(token.kind === 'positional' ? token.value : '--')}. See notigraph --help.`,
      );
    } else if (token.name === 'help' || token.name === 'version') {
      values[token.name] = true;
    } else if (!TEXT_OPTIONS.includes(token.name)) {
      const option = unknownSetting(
        token.rawName,
        OPTIONS.map((name) => `--${name}`),
        'option',
      );
      problems.push(`The command line has ${option}. See notigraph --help.`);
    } else if (!token.value && token.name !== 'sandbox') {
      problems.push(`--${token.name} requires a value.`);
    } else if (token.name === 'config') {
      values.config = token.value ?? '';
    } else {
      values.settings[token.name] = token.value ?? '';
    }
  }
  return { values, problems };
}

type Token = ReturnType<typeof parseArgs<{ tokens: true; strict: false }>>['tokens'][number];

/** Whether a token is an unknown option without `=`. */
const isUnknownOption = (token: Token | undefined): boolean =>
  token?.kind === 'option' && token.value === undefined && !OPTIONS.includes(token.name);

/** Quotes a plain word. Anything else may be a misplaced secret, so messages omit it. */
const quoteIfPlain = (text: string): string => (/^[a-z-]{1,20}$/.test(text) ? ` "${text}"` : '');
