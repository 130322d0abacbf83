// Writes the tables of settings in the docs, and the type of the options of `createGateway`.

import { z } from 'zod';
import { optionOf, SETTING_GROUPS } from '../packages/cli/src/config/settings.ts';
import { withoutLinks } from '../src/lib/text.ts';
import { SETTING_INFO, type SettingInfo } from '../src/settings/define.ts';
import { AS_FOR_ALL } from '../src/settings/sections/upstreams.ts';
import { GATEWAY_SETTINGS } from '../src/settings/settings.ts';
import { code, join, joinSentences, table } from './markdown.ts';

/** JSON Schema of a setting, with its documentation. */
type Described = Omit<
  z.core.JSONSchema.JSONSchema,
  'properties' | 'items' | 'anyOf' | 'additionalProperties' | 'enum' | 'required' | 'pattern'
> &
  Partial<SettingInfo> & {
    properties?: Record<string, Described>;
    items?: Described;
    anyOf?: Described[];
    enum?: readonly unknown[];
    required?: readonly string[];
    pattern?: string;
    additionalProperties?: Described;
  };

function describe(settings: Readonly<Record<string, z.ZodType>>): Described {
  const schema = z.toJSONSchema(z.strictObject(settings), { metadata: SETTING_INFO, io: 'input' });
  return schema as Described; // The schemas have no other forms of JSON Schema.
}

const UNITS = { Ms: 'ms', Seconds: 's', Bytes: 'bytes', Percent: '%' };

/** Returns `100 to 600000 ms`, or an empty string if there is no range. */
function rangeOf(name: string, { type, minimum, maximum }: Described): string {
  if (type !== 'integer') {
    return '';
  }
  const unit = Object.entries(UNITS).find(([suffix]) => name.endsWith(suffix))?.[1];
  return `${minimum} to ${maximum}${unit === undefined ? '' : ` ${unit}`}`;
}

/** Returns the default as text, or `required`. @throws {Error} if it is in neither the schema nor its `defaultText` */
function defaultOf(name: string, schema: Described, { required = [] }: Described): string {
  if (schema.defaultText !== undefined) {
    return schema.defaultText;
  }
  if (required.includes(name)) {
    return 'required';
  }
  if (schema.default === undefined) {
    throw new Error(`JSON Schema doesn't have the default of ${name}: give it a defaultText`);
  }
  const text = JSON.stringify(schema.default).replaceAll('"', "'");
  return text === '[]' ? 'none' : text;
}

type Setting = readonly [name: string, schema: Described];

const HEAD = ['Setting', 'Default', 'Description'];
const RESTART = 'Changes take effect after a restart.';

/** Writes the tables of docs/settings.md: all settings, by group and section. */
export function writeSettingTables(): string {
  const seen = new Set<string>();
  const groups = SETTING_GROUPS.map(({ title, needsRestart, settings }) => {
    const group = describe(settings);
    const all = Object.entries(group.properties ?? {});
    const single = all.filter(([, { type }]) => type !== 'object');
    return join(
      `## ${title}\n`,
      needsRestart ? `${RESTART}\n` : '',
      single.length === 0 ? '' : table(HEAD, single.map(toRowOf(group))),
      ...all.flatMap(([name, schema]) => {
        const section = schema.type === 'object' ? schema : sectionIn(schema);
        return section === undefined ? [] : toSections(name, section, seen, schema.type !== 'object');
      }),
    );
  });
  return join(...groups);
}

/** Writes a row of a group or section. The page says how the name of the variable follows from that of the setting. */
const toRowOf =
  (group: Described) =>
  ([name, schema]: Setting): string[] => {
    const option = schema.flag === undefined ? '' : `, ${code(`--${optionOf(name)} ${schema.flag}`)}`;
    const short = schema.short === undefined ? '' : `, \`-${schema.short}\``;
    return [`${code(name)}${option}${short}`, toCode(defaultOf(name, schema, group)), toDescription(name, schema)];
  };

/**
 * Writes a table of the settings in a section, and one for each section inside it that was not shown before. The option of the command for a section
 * is a row of another table.
 *
 * @param seen keys of the sections that were shown
 */
function toSections(path: string, section: Described, seen: Set<string>, isRow: boolean): string {
  const { description = '', properties = {}, additionalProperties: named } = section;
  if (named?.properties !== undefined) {
    return toSections(`${path}.<name>`, { ...named, description }, seen, isRow);
  }
  seen.add(keyOf(section));
  const members = Object.entries(properties);
  const isInherited = ([, schema]: Setting) => schema.defaultText === AS_FOR_ALL;
  const inherited = members.filter(isInherited).map(([name]) => code(name));
  const newSectionIn = ([, schema]: Setting) => {
    const nested = sectionIn(schema);
    return nested !== undefined && !seen.has(keyOf(nested)) ? nested : undefined;
  };
  // New sections are below, under their own headings.
  const shown = members.filter((member) => !isInherited(member) && newSectionIn(member) === undefined);
  return join(
    `### \`${path}\`\n`,
    isRow ? '' : `${description}${defaultIn(section)}\n`,
    shown.length === 0 ? '' : table(HEAD, shown.map(toRowOf(section))),
    inherited.length === 0 ? '' : `In place of the settings for all upstreams, if set: ${inherited.join(', ')}.\n`,
    ...members.map((member) => {
      const [name, { type }] = member;
      const nested = newSectionIn(member);
      return nested ? toSections(`${path}.${name}${type === 'array' ? '[]' : ''}`, nested, seen, false) : '';
    }),
  );
}

/** Returns the default of a section as a sentence, with a space before it; empty if it is required or follows from its members. */
const defaultIn = (section: Described): string =>
  section.defaultText === undefined || section.defaultText === 'none'
    ? ''
    : ` Default: ${toCode(section.defaultText)}.`;

/** Identifies a section whatever the defaults of its settings. */
const keyOf = ({ properties }: Described): string =>
  JSON.stringify(properties, (name, value: unknown) => (name === 'default' ? undefined : value));

/** Returns the section that a setting is, or a list of, or one form of. Sections with a single member are shown in place. */
function sectionIn(schema: Described): Described | undefined {
  const forms = [schema, ...(schema.anyOf ?? []), ...(schema.items === undefined ? [] : [schema.items])];
  const section = forms.find(({ properties = {} }) => Object.keys(properties).length > 1);
  return section && { defaultText: schema.defaultText ?? 'none', ...section, description: schema.description ?? '' };
}

function toDescription(name: string, { description = '', enum: values, flag, needsRestart }: Described): string {
  const words = values?.map((word) => code(String(word)));
  const isExplained = name === 'scopes' || flag !== undefined || words?.every((word) => description.includes(word));
  return joinSentences(
    description,
    words === undefined || isExplained ? '' : `One of ${words.join(', ')}.`,
    needsRestart === false ? RESTART.replace('after a restart', 'without a restart') : '',
  );
}

/** Words for switches, as in variables and in the help. */
const SWITCHES: Readonly<Record<string, string>> = { true: 'on', false: 'off' };

/** Marks a value as code; words that describe a default are text. */
const toCode = (text: string): string =>
  /^(?:required|none|all|random)$|[ `]/.test(text) ? text : code(SWITCHES[text] ?? text.replace(/^'(.*)'$/, '$1'));

/** Writes the interface of the settings that `createGateway` takes. */
export const writeGatewayOptions = (): string =>
  `/** Settings of a gateway, as options of \`createGateway\`. */
export interface GatewaySettingOptions ${toObjectType(describe(GATEWAY_SETTINGS), '')}
`;

function toObjectType(section: Described, indent: string): string {
  const { properties = {}, required = [] } = section;
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(
    ([name, member]) =>
      `${inner}/** ${toDocstring(name, member, section)} */\n${inner}${name}${required.includes(name) ? '' : '?'}: ${toType(member, inner)};\n`,
  );
  return `{\n${members.join('')}${indent}}`;
}

function toType(schema: Described, indent: string): string {
  if (schema.anyOf !== undefined) {
    const forms = schema.anyOf.filter((form) => !form.enum?.includes(false)); // Of YAML: in code, an option is left out, or has a type for it.
    return [...new Set(forms.map((each) => toType(each, indent)))].join(' | ');
  }
  const words = schema.enum ?? ('const' in schema ? [schema.const] : undefined);
  if (words !== undefined) {
    return words.map((word) => JSON.stringify(word).replaceAll('"', "'")).join(' | ');
  }
  if (schema.type === 'array') {
    const item = toType(schema.items ?? {}, indent);
    return /^\w+$/.test(item) ? `readonly ${item}[]` : `readonly (${item})[]`;
  }
  if (schema.type === 'object') {
    return schema.properties === undefined
      ? `Readonly<Record<string, ${toType(schema.additionalProperties ?? {}, indent)}>>`
      : toObjectType(schema, indent);
  }
  const [, endings] = ENDINGS.exec(schema.pattern ?? '') ?? [];
  if (endings !== undefined) {
    const texts = endings.split('|').map((ending) => `\`\${string}:${ending}\``);
    return `((${texts.join(' | ')}) & Record<never, never>)`; // As an intersection, because editors then complete the words beside it.
  }
  return schema.type === 'integer' ? 'number' : String(schema.type);
}

/** Pattern of texts that end in one of several words, such as scopes. */
const ENDINGS = /:\(([a-z|]+)\)\$$/;

/** Returns a description without `{ env }`, a form of the configuration file that options don't have. */
const withoutEnv = (description: string): string =>
  description
    .replace(/, with user name and password only as `\{ env: NAME \}`(?= or)?/, '')
    .replace(/, `\{ env \}` or /, ' or ');

function toDocstring(name: string, schema: Described, section: Described): string {
  const range = rangeOf(name, schema);
  const fallback = defaultOf(name, schema, section);
  return joinSentences(
    withoutLinks(withoutEnv(schema.description ?? '')),
    range && `${range}.`,
    /^required/.test(fallback) || fallback === '{}' ? '' : `@default ${fallback}`,
  );
}
