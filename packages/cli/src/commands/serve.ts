// Serves the GraphQL API. Its options are settings of the settings table.

import { on } from 'node:events';
import { z } from 'zod';
import { withoutMarkdown } from '../../../../src/lib/text.ts';
import { SETTING_INFO } from '../../../../src/settings/define.ts';
import type { Command, CommandOption } from '../command.ts';
import { optionOf, SETTING_GROUPS, SETTINGS, variableOf } from '../config/settings.ts';
import { writeEntries } from '../help.ts';

export const serve: Command = {
  name: 'serve',
  summary: 'Serves the GraphQL API. The default command.',
  options: [
    ...listSettingOptions(),
    {
      name: 'config',
      value: 'FILE',
      description: 'Configuration file. Default: notigraph.config.yaml, if it exists. NOTIGRAPH_CONFIG',
    },
  ],
  get details() {
    return `Environment variables:

${writeEntries([
  ['NOTIGRAPH_CONFIG_TEXT', 'The configuration inline, instead of a file.'],
  ...listSettingVariables(),
  ['NODE_ENV', 'If "production", the sandbox and GraphiQL are off unless you turn them on.'],
])}
Limits, timeouts and policies have variables too: see docs/settings.md.

Options override environment variables, which override the file .env in the
working directory, which overrides the configuration file. Without an upstream,
Notigraph runs the sandbox; with NODE_ENV=production, it exits with an error.`;
  },
  async run(commandLine, host) {
    // Before anything else, because a SIGHUP would end the process. One that arrives during the start is kept until it is handled.
    const hangups = on(host, 'SIGHUP');
    const { runGateway } = await import('../serve/run-gateway.ts');
    return runGateway(commandLine, host, hangups);
  },
};

/** Returns options of `serve` that another command has too. */
export const optionsOfServe = (...names: readonly string[]): CommandOption[] =>
  serve.options.filter(({ name }) => names.includes(name));

/**
 * Returns the options of commands that call a service: its address or name, and the key.
 *
 * @param variable variable with the key
 */
export const serviceOptions = (variable: string): CommandOption[] => [
  ...optionsOfServe('upstream', 'config'),
  { name: 'name', value: 'NAME', description: 'Name of the service, if upstreams lists several.' },
  {
    name: 'key-file',
    value: 'FILE',
    description: `File with an API key of the service; - reads it from standard input. Default: ${variable}, or you are asked.`,
  },
];

function listSettingOptions(): CommandOption[] {
  return Object.entries<z.ZodType>(SETTINGS).flatMap(([name, schema]) => {
    const { flag, short } = SETTING_INFO.get(schema) ?? {};
    const option = {
      name: optionOf(name),
      short,
      value: flag,
      // Computed for the help only, because every start parses the command line.
      get description() {
        return `${describe(schema)} ${variableOf(name)}`;
      },
    };
    return flag === undefined ? [] : [option];
  });
}

/** Returns the variables of general settings that are no options, with descriptions. */
const listSettingVariables = (): [name: string, description: string][] =>
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
