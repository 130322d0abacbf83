import { optionOf } from '../../src/settings/setting.ts';
import { SETTING_GROUPS } from '../../src/settings/settings.ts';
import { AS_FOR_ALL } from '../../src/settings/upstreams.ts';
import { code, table } from '../markdown.ts';
import { type Described, defaultOf, describe } from './describe.ts';

/** Sections and rows that were shown before, with the path of the section. */
type Seen = Map<string, string>;

type Setting = readonly [name: string, schema: Described];

const HEAD = ['Setting', 'Default', 'Description'];
const RESTART = 'Changes take effect after a restart.';

/** Writes the tables of docs/settings.md: all settings, by group and section. */
export function writeSettingTables(): string {
  const seen: Seen = new Map();
  return SETTING_GROUPS.flatMap(({ title, appliesTo, settings }) => {
    const all = Object.entries(describe(settings));
    const single = all.filter(([, { type }]) => type !== 'object');
    return [
      `## ${title}\n`,
      ...(appliesTo.every((target) => target === 'gateway') ? [] : [`${RESTART}\n`]),
      ...(single.length === 0 ? [] : [table(HEAD, single.map(toRow))]),
      ...all.flatMap(([name, schema]) => {
        const section = schema.type === 'object' ? schema : sectionIn(schema);
        return section === undefined ? [] : toSections(name, section, seen, schema.type !== 'object');
      }),
    ];
  }).join('\n');
}

/** Writes a row. The page says how the name of the variable follows from that of the setting. */
const toRow = ([name, schema]: Setting): string[] => {
  const option = schema.flag === undefined ? '' : `, ${code(`--${optionOf(name)} ${schema.flag}`)}`;
  const short = schema.short === undefined ? '' : `, \`-${schema.short}\``;
  return [`${code(name)}${option}${short}`, toCode(defaultOf(schema)), toDescription(name, schema)];
};

/** Writes a table of the settings in a section, and one for each section inside it that was not shown before. The option of the command for a section is a row of another table. */
function toSections(path: string, section: Described, seen: Seen, isRow: boolean): string[] {
  if (section.additionalProperties?.properties !== undefined) {
    return toSections(
      `${path}.<name>`,
      { ...section.additionalProperties, description: section.description ?? '' },
      seen,
      isRow,
    );
  }
  seen.set(keyOf(section), path);
  const members = Object.entries(section.properties ?? {});
  const inherited = members.filter(([, schema]) => schema.defaultText === AS_FOR_ALL).map(([name]) => code(name));
  const all = members
    .filter(([, schema]) => schema.defaultText !== AS_FOR_ALL)
    .map(([name, schema]) => [code(name), toCode(defaultOf(schema)), toDescription(name, schema)]);
  const isNested = ([name = '']: string[]) => {
    const schema = section.properties?.[name.replaceAll('`', '')];
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
  const inner = members.flatMap(([name, schema]) => {
    const nested = sectionIn(schema);
    return nested === undefined || seen.has(keyOf(nested))
      ? []
      : toSections(`${path}.${name}${schema.type === 'array' ? '[]' : ''}`, nested, seen, false);
  });
  return [
    `### \`${path}\`\n`,
    ...(isRow ? [] : [`${section.description}${defaultIn(section)}\n`]),
    ...(shown.length === 0 ? [] : [table(HEAD, shown)]),
    ...[...repeated].map(([first, same]) => `As in \`${first}\`: ${same.map(([name]) => name).join(', ')}.\n`),
    ...(inherited.length === 0
      ? []
      : [`In place of the settings for all upstreams, if set: ${inherited.join(', ')}.\n`]),
    ...inner,
  ];
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

function toDescription(name: string, schema: Described): string {
  const words = schema.enum?.map((word) => `\`${word}\``);
  const isExplained = words?.every((word) => schema.description?.includes(word) || schema.flag !== undefined);
  const restart =
    schema.needsRestart === undefined
      ? ''
      : schema.needsRestart
        ? RESTART
        : RESTART.replace('after a restart', 'without a restart');
  return [schema.description, words && !isExplained && name !== 'scopes' ? `One of ${words.join(', ')}.` : '', restart]
    .filter((part) => part)
    .join(' ');
}

/** Words for switches, as in variables and in the help. */
const SWITCHES: Readonly<Record<string, string>> = { true: 'on', false: 'off' };

/** Marks a value as code; words that describe a default are text. */
const toCode = (text: string): string =>
  /^(?:required|none|all|random|as )|`/.test(text) ? text : code(SWITCHES[text] ?? text.replace(/^'(.*)'$/, '$1'));
