import { optionOf } from '../../src/settings/define.ts';
import { SETTING_GROUPS } from '../../src/settings/settings.ts';
import { AS_FOR_ALL } from '../../src/settings/upstreams.ts';
import { code, join, joinSentences, table } from '../markdown.ts';
import { type Described, defaultOf, describe } from './describe.ts';

/** Sections and rows that were shown before, with the path of the section. */
type Seen = Map<string, string>;

type Setting = readonly [name: string, schema: Described];

const HEAD = ['Setting', 'Default', 'Description'];
const RESTART = 'Changes take effect after a restart.';

/** Writes the tables of docs/settings.md: all settings, by group and section. */
export function writeSettingTables(): string {
  const seen: Seen = new Map();
  const groups = SETTING_GROUPS.map(({ title, appliesTo, settings }) => {
    const all = Object.entries(describe(settings));
    const single = all.filter(([, { type }]) => type !== 'object');
    return join(
      `## ${title}\n`,
      appliesTo.every((target) => target === 'gateway') ? '' : `${RESTART}\n`,
      single.length === 0 ? '' : table(HEAD, single.map(toRow)),
      ...all.flatMap(([name, schema]) => {
        const section = schema.type === 'object' ? schema : sectionIn(schema);
        return section === undefined ? [] : toSections(name, section, seen, schema.type !== 'object');
      }),
    );
  });
  return join(...groups);
}

/** Writes a row. The page says how the name of the variable follows from that of the setting. */
const toRow = ([name, schema]: Setting): string[] => {
  const option = schema.flag === undefined ? '' : `, ${code(`--${optionOf(name)} ${schema.flag}`)}`;
  const short = schema.short === undefined ? '' : `, \`-${schema.short}\``;
  return [`${code(name)}${option}${short}`, toCode(defaultOf(schema)), toDescription(name, schema)];
};

/** Writes a table of the settings in a section, and one for each section inside it that was not shown before. The option of the command for a section is a row of another table. */
function toSections(path: string, section: Described, seen: Seen, isRow: boolean): string {
  const { description = '', properties = {}, additionalProperties: named } = section;
  if (named?.properties !== undefined) {
    return toSections(`${path}.<name>`, { ...named, description }, seen, isRow);
  }
  seen.set(keyOf(section), path);
  const members = Object.entries(properties);
  const isInherited = ([, schema]: Setting) => schema.defaultText === AS_FOR_ALL;
  const inherited = members.filter(isInherited).map(([name]) => code(name));
  const all = members
    .filter((member) => !isInherited(member))
    .map(([name, schema]) => [code(name), toCode(defaultOf(schema)), toDescription(name, schema)]);
  const isNested = ([name = '']: string[]) => {
    const schema = properties[name.replaceAll('`', '')];
    const nested = schema && sectionIn(schema);
    return nested !== undefined && !seen.has(keyOf(nested));
  };
  const rows = all.filter((row) => !seen.has(row.join()));
  const repeated = Map.groupBy(
    all.filter((row) => !rows.includes(row)),
    (row) => seen.get(row.join()),
  );
  const shown = rows.filter((row) => !isNested(row)); // The others are below, under their own headings.
  for (const row of rows) {
    seen.set(row.join(), path);
  }
  return join(
    `### \`${path}\`\n`,
    isRow ? '' : `${description}${defaultIn(section)}\n`,
    shown.length === 0 ? '' : table(HEAD, shown),
    ...[...repeated].map(([first, same]) => `As in \`${first}\`: ${same.map(([name]) => name).join(', ')}.\n`),
    inherited.length === 0 ? '' : `In place of the settings for all upstreams, if set: ${inherited.join(', ')}.\n`,
    ...members.map(([name, schema]) => {
      const nested = sectionIn(schema);
      const isNew = nested !== undefined && !seen.has(keyOf(nested));
      return isNew ? toSections(`${path}.${name}${schema.type === 'array' ? '[]' : ''}`, nested, seen, false) : '';
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
  return section && { ...section, description: schema.description ?? '' };
}

function toDescription(name: string, { description = '', enum: values, flag, needsRestart }: Described): string {
  const words = values?.map((word) => code(String(word)));
  const isExplained = name === 'scopes' || flag !== undefined || words?.every((word) => description.includes(word));
  const restart = needsRestart === false ? RESTART.replace('after a restart', 'without a restart') : RESTART;
  return joinSentences(
    description,
    words === undefined || isExplained ? '' : `One of ${words.join(', ')}.`,
    needsRestart === undefined ? '' : restart,
  );
}

/** Words for switches, as in variables and in the help. */
const SWITCHES: Readonly<Record<string, string>> = { true: 'on', false: 'off' };

/** Marks a value as code; words that describe a default are text. */
const toCode = (text: string): string =>
  /^(?:required|none|all|random|as )|`/.test(text) ? text : code(SWITCHES[text] ?? text.replace(/^'(.*)'$/, '$1'));
