import { parseArgs } from 'node:util';
import { SETTING_INFO, unknownSetting } from '../settings/setting.ts';
import { SETTINGS, type SettingName } from '../settings/settings.ts';

/** Settings that are options of the command. */
export const FLAGS = (Object.keys(SETTINGS) as SettingName[]).filter(
  (name) => SETTING_INFO.get(SETTINGS[name])?.flag !== undefined,
);

/** Options with a value: settings, and the path of the configuration file. */
const TEXT_OPTIONS: readonly string[] = [...FLAGS, 'config'];

const SWITCHES: readonly string[] = ['help', 'version'];

/** Options that were given. */
export interface Arguments {
  help: boolean;
  version: boolean;
  /** Path of the configuration file. */
  config?: string;
  /** Settings by name. An option without a value is empty. */
  settings: Record<string, string>;
}

/** Reads the command line leniently, so that all problems are reported together. Messages do not repeat values. */
export function readArguments(argv: readonly string[]): { values: Arguments; problems: string[] } {
  // An option without a value gets an empty one: parseArgs has no optional values and would take the next option for it.
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
  for (const token of tokens) {
    if (token.kind !== 'option') {
      problems.push(
        `Unexpected argument${quoteWord(token.kind === 'positional' ? token.value : '--')}. See notigraph --help.`,
      );
    } else if (token.name === 'help' || token.name === 'version') {
      values[token.name] = true;
    } else if (!TEXT_OPTIONS.includes(token.name)) {
      const option = unknownSetting(
        token.rawName,
        [...TEXT_OPTIONS, ...SWITCHES].map((name) => `--${name}`),
        'option',
      );
      problems.push(`The command line has ${option}. See notigraph --help.`);
    } else if (!token.value && token.name !== 'sandbox') {
      problems.push(`--${token.name} needs a value.`);
    } else if (token.name === 'config') {
      values.config = token.value ?? '';
    } else {
      values.settings[token.name] = token.value ?? '';
    }
  }
  return { values, problems };
}

/** Quotes a plain word. Anything else may be a secret in the wrong place, so messages leave it out. */
const quoteWord = (text: string): string => (/^[a-z-]{1,20}$/.test(text) ? ` "${text}"` : '');
