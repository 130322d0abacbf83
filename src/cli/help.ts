import { z } from 'zod';
import { SETTING_INFO, variableOf } from '../settings/setting.ts';
import { SETTING_GROUPS, SETTINGS } from '../settings/settings.ts';
import { FLAGS } from './command-line.ts';

const WIDTH = 80;
const INDENT = ' '.repeat(24);

/** Returns the text of `notigraph --help`: the options, and the variables of general settings. */
export function writeHelp(): string {
  const variables = SETTING_GROUPS.filter(({ title }) => title === 'Command' || title === 'General')
    .flatMap(({ settings }) => Object.entries<z.ZodType>(settings))
    .filter(([, schema]) => SETTING_INFO.get(schema)?.flag === undefined);
  return `notigraph: a GraphQL gateway in front of a notification service's /v1 REST API

Usage: notigraph [options]

${FLAGS.map((name) => entry(`--${name} ${SETTING_INFO.get(SETTINGS[name])?.flag}`, `${describe(SETTINGS[name])} ${variableOf(name)}`)).join('')}\
${entry('--config FILE', 'Configuration file. Default: notigraph.config.yaml, .yml or .json, if it exists. NOTIGRAPH_CONFIG')}\
${entry('--help', 'Print this help.')}\
${entry('--version', 'Print the version.')}
Environment variables:

${entry('NOTIGRAPH_CONFIG_TEXT', 'The configuration inline, instead of a file.')}\
${variables.map(([name, schema]) => entry(variableOf(name), describe(schema))).join('')}\
${entry('NODE_ENV', 'If "production", the sandbox and GraphiQL are off unless you turn them on.')}
Limits, timeouts and policies have variables too: see docs/configuration.md.

Options override environment variables, which override the file .env in the
working directory, which overrides the configuration file. Without an upstream,
Notigraph runs the sandbox; with NODE_ENV=production, it exits with an error.
`;
}

/** Returns a setting's description and default as plain text. */
function describe(schema: z.ZodType): string {
  const { description = '', defaultText } = SETTING_INFO.get(schema) ?? {};
  const fallback = defaultText ?? toText(z.toJSONSchema(schema, { io: 'input' }).default);
  const text = fallback === undefined ? description : `${description} Default: ${fallback}.`;
  return text.replaceAll('`', '');
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'boolean') {
    return value ? 'on' : 'off';
  }
  return value === undefined ? undefined : String(value) || 'none';
}

/** Formats a term and its description, wrapped to `WIDTH`. */
function entry(term: string, description: string): string {
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
