import { optionOf, type SettingTarget, variableOf } from '../../src/settings/setting.ts';
import { SETTING_GROUPS } from '../../src/settings/settings.ts';
import { code, table } from '../markdown.ts';
import { type Described, defaultOf, describe, rangeOf } from './describe.ts';

type Setting = readonly [name: string, schema: Described];

/** Sentence that says where the settings of a group are applied. */
const TARGETS: Record<SettingTarget, string> = {
  process: 'Settings of the command.',
  gateway: 'Settings of the gateway, and options of `createGateway`.',
  server: 'Settings of the HTTP server that the command starts.',
};

const RESTART = 'Changes take effect after a restart.';

/** Writes the tables of docs/configuration.md: all settings, by group and section. */
export function writeSettingTables(): string {
  const seen = new Set<string>();
  return SETTING_GROUPS.flatMap(({ title, appliesTo, settings }) => {
    const all = Object.entries(describe(settings));
    const single = all.filter(([, { type }]) => type !== 'object');
    return [
      `### ${title}\n`,
      `${[...appliesTo.map((target) => TARGETS[target]), appliesTo.every((target) => target === 'gateway') ? '' : RESTART].join(' ').trim()}\n`,
      ...(single.length === 0 ? [] : [table(['Setting', 'Variable', 'Default', 'Description'], single.map(toRow))]),
      ...all.flatMap(([name, schema]) => {
        const section = schema.type === 'object' ? schema : sectionIn(schema);
        return section === undefined ? [] : toSections(name, section, seen);
      }),
    ];
  }).join('\n');
}

const toRow = ([name, schema]: Setting): string[] => {
  const option = schema.flag === undefined ? '' : `${code(`--${optionOf(name)} ${schema.flag}`)}, `;
  const short = schema.short === undefined ? '' : `\`-${schema.short}\`, `;
  return [
    code(name),
    `${option}${short}\`${variableOf(name)}\``,
    toCode(defaultOf(schema)),
    toDescription(name, schema),
  ];
};

/** Writes a table of the settings in a section, and one for each section inside it that was not shown before. */
function toSections(path: string, section: Described, seen: Set<string>): string[] {
  if (section.additionalProperties?.properties !== undefined) {
    return toSections(
      `${path}.<name>`,
      { ...section.additionalProperties, description: section.description ?? '' },
      seen,
    );
  }
  seen.add(JSON.stringify(section.properties));
  const members = Object.entries(section.properties ?? {});
  const rows = members.map(([name, schema]) => [code(name), toCode(defaultOf(schema)), toDescription(name, schema)]);
  const inner = members.flatMap(([name, schema]) => {
    const nested = sectionIn(schema);
    const key = JSON.stringify(nested?.properties);
    if (nested === undefined || seen.has(key)) {
      return [];
    }
    seen.add(key);
    return toSections(`${path}.${name}${schema.type === 'array' ? '[]' : ''}`, nested, seen);
  });
  return [
    `#### \`${path}\`\n`,
    `${section.description}\n`,
    table(['Setting', 'Default', 'Description'], rows),
    ...inner,
  ];
}

/** Returns the section that a setting is, or a list of, or one form of. Sections with a single member are shown in place. */
function sectionIn(schema: Described): Described | undefined {
  const forms = [schema, ...(schema.anyOf ?? []), ...(schema.items === undefined ? [] : [schema.items])];
  const section = forms.find(({ properties = {} }) => Object.keys(properties).length > 1);
  return section && { ...section, description: schema.description ?? '' };
}

function toDescription(name: string, schema: Described): string {
  const range = rangeOf(name, schema);
  const words = schema.enum?.map((word) => `\`${word}\``).join(', ');
  const reload = schema.isReloadable === true ? 'Changed files are reloaded.' : '';
  const restart =
    schema.needsRestart === undefined
      ? ''
      : schema.needsRestart
        ? RESTART
        : RESTART.replace('after a restart', 'without a restart');
  return [
    schema.description,
    range && `${range}.`,
    words && name !== 'scopes' ? `One of ${words}.` : '',
    reload,
    restart,
  ]
    .filter((part) => part)
    .join(' ');
}

/** Words for switches, as in variables and in the help. */
const SWITCHES: Readonly<Record<string, string>> = { true: 'on', false: 'off' };

/** Marks a value as code; words that describe a default are text. */
const toCode = (text: string): string =>
  /^(?:required|none|all|random|as )|`/.test(text) ? text : code(SWITCHES[text] ?? text.replace(/^'(.*)'$/, '$1'));
