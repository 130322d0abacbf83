import { z } from 'zod';
import { optionOf, variableOf } from '../../settings/define.ts';
import { formsOf } from '../../settings/kinds.ts';
import { SECTION_NAMES, SETTINGS, type SettingName } from '../../settings/settings.ts';
import type { ConfigFile, SettingPath } from './config-file.ts';
import type { Environment } from './environment.ts';
import type { SettingLocation } from './problem.ts';

export interface MergedSettings {
  values: Readonly<Record<string, unknown>>;
  /**
   * Returns the location of a setting.
   *
   * @param at path of the value in it that is wrong. @default path
   */
  locate(path: SettingPath, at?: SettingPath): SettingLocation;
  /** Names a setting without its location. */
  nameOf(name: SettingName): string;
}

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** Settings that have a variable. Sections can only be set in the configuration file. */
export const VARIABLE_NAMES = SETTING_NAMES.filter((name) => !SECTION_NAMES.includes(name));

/** Indexes of sources in ascending order of precedence, after the file. */
const VARIABLE = 1;
const OPTION = 2;

/** Merges the configuration file, environment variables and command-line options. Later ones override earlier ones. */
export function mergeSources(
  file: Pick<ConfigFile, 'values' | 'placeOf'> | undefined,
  environment: Environment,
  options: Readonly<Record<string, string | undefined>>,
): MergedSettings {
  const values: Record<string, unknown> = {};
  const sources: Record<string, number> = {};
  for (const name of SETTING_NAMES) {
    const variable = VARIABLE_NAMES.includes(name) ? environment.values[variableOf(name)] || undefined : undefined;
    const candidates = [file?.values?.[name], variable, options[optionOf(name)]];
    const source = candidates.findLastIndex((candidate) => candidate !== undefined);
    const value = candidates[source];
    const converted = typeof value === 'string' ? fromText(name, value) : value;
    if (converted !== undefined && !(name === 'sandbox' && isOff(converted))) {
      values[name] = converted;
      sources[name] = source;
    }
  }
  const { upstream = -1, sandbox = -1 } = sources;
  if (upstream !== sandbox) {
    delete values[upstream > sandbox ? 'sandbox' : 'upstream'];
  }
  const nameOf = (name: string) => [name, variableOf(name), `--${optionOf(name)}`][sources[name] ?? VARIABLE] ?? name;
  return {
    values,
    nameOf,
    locate(path, at = path) {
      const [name = '', ...inner] = path.map(String);
      switch (sources[name]) {
        case VARIABLE:
          return { name: environment.nameOf(variableOf(name), inner[0]) };
        case OPTION:
          return { name: [nameOf(name), ...inner].join('.') };
        default:
          return name === 'sandbox' && values.sandbox === undefined
            ? { name: 'The sandbox' }
            : { place: file?.placeOf(at), name: [name, ...inner].join('.') };
      }
    },
  };
}

/** Whether the sandbox is off. `NOTIGRAPH_SANDBOX=0` means `off`, although a file could have that name. */
const isOff = (value: unknown): boolean => value === false || value === '0';

/** Converts the text of an option or variable to a type that the setting's schema accepts. Returns the text unchanged if none matches. */
function fromText(name: SettingName, text: string): unknown {
  const forms = formsOf(SETTINGS[name]);
  if (forms.some((form) => form instanceof z.ZodBoolean) && /^(?:on|off|true|false)$/i.test(text)) {
    return /^(?:on|true)$/i.test(text);
  }
  if (forms.some((form) => form instanceof z.ZodNumber) && /^\d{1,10}(?:\.\d{1,10})?$/.test(text)) {
    return Number(text);
  }
  const items = text === 'off' ? [] : text.split(',').map((item) => item.trim());
  return forms.some((form) => form instanceof z.ZodArray) ? items : text;
}
