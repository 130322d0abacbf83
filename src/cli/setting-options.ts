import { z } from 'zod';
import { withoutMarkdown } from '../settings/markdown.ts';
import { optionOf, SETTING_INFO, variableOf } from '../settings/setting.ts';
import { SETTING_GROUPS, SETTINGS, type SettingName } from '../settings/settings.ts';
import type { CommandOption } from './command.ts';

/** Returns the settings that are command-line options. */
const listOptionSettings = (): SettingName[] =>
  (Object.keys(SETTINGS) as SettingName[]).filter((name) => SETTING_INFO.get(SETTINGS[name])?.flag !== undefined);

/** Returns the command-line options of the settings table. */
export const listSettingOptions = (): CommandOption[] =>
  listOptionSettings().map((name) => {
    const { flag, short } = SETTING_INFO.get(SETTINGS[name]) ?? {};
    return {
      name: optionOf(name),
      short,
      value: flag,
      // Computed for the help only, because every start parses the command line.
      get description() {
        return `${describe(SETTINGS[name])} ${variableOf(name)}`;
      },
    };
  });

/** Returns the variables of general settings that are no options, with descriptions. */
export const listSettingVariables = (): [name: string, description: string][] =>
  SETTING_GROUPS.filter(({ title }) => title === 'Command' || title === 'General')
    .flatMap(({ settings }) => Object.entries<z.ZodType>(settings))
    .filter(([, schema]) => SETTING_INFO.get(schema)?.flag === undefined)
    .map(([name, schema]) => [variableOf(name), describe(schema)]);

/** Returns a setting's description and default as plain text. */
function describe(schema: z.ZodType): string {
  const { description = '', defaultText } = SETTING_INFO.get(schema) ?? {};
  const fallback = defaultText ?? toText(z.toJSONSchema(schema, { io: 'input' }).default);
  const text = fallback === undefined ? description : `${description} Default: ${fallback}.`;
  return withoutMarkdown(text);
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'boolean') {
    return value ? 'on' : 'off';
  }
  return value === undefined ? undefined : String(value) || 'none';
}
