import { variableOf } from '../../settings/setting.ts';
import { SECTION_NAMES, SETTINGS, type SettingName } from '../../settings/settings.ts';
import type { Environment } from './config-source.ts';
import { fromText } from './from-text.ts';

/** Configured settings and their sources. */
export interface MergedSettings {
  values: Readonly<Record<string, unknown>>;
  /** Name of each setting in messages: an option, a variable, or a file and the setting. */
  labels: Readonly<Record<string, string>>;
}

/** Setting names in the order of the table. */
export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** Settings that have a variable. Sections can only be set in the configuration file. */
export const VARIABLE_NAMES = SETTING_NAMES.filter((name) => !SECTION_NAMES.includes(name));

/** Merges the configuration file, environment variables and command-line options. Later ones override earlier ones. */
export function mergeSources(
  file: Readonly<Record<string, unknown>>,
  fileName: string | undefined,
  env: Environment,
  flags: Readonly<Record<string, string | undefined>>,
): MergedSettings {
  const values: Record<string, unknown> = {};
  const labels: Record<string, string> = {};
  const ranks: Record<string, number> = {};
  for (const name of SETTING_NAMES) {
    const variable = VARIABLE_NAMES.includes(name) ? env[variableOf(name)] || undefined : undefined;
    const candidates = [file[name], variable, flags[name]];
    const rank = candidates.findLastIndex((candidate) => candidate !== undefined);
    const value = candidates[rank];
    labels[name] = [`${fileName}: ${name}`, variableOf(name), `--${name}`][rank] ?? variableOf(name);
    const converted = typeof value === 'string' ? fromText(name, value) : value;
    if (converted !== undefined && !(name === 'sandbox' && isOff(converted))) {
      values[name] = converted;
      ranks[name] = rank;
    }
  }
  const { upstream = -1, sandbox = -1 } = ranks;
  if (upstream !== sandbox) {
    delete values[upstream > sandbox ? 'sandbox' : 'upstream'];
  }
  return { values, labels };
}

/** Whether the sandbox is off. `NOTIGRAPH_SANDBOX=0` means `off`, although a file could have that name. */
const isOff = (value: unknown): boolean => value === false || value === '0';
