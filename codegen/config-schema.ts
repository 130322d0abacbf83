// Writes the JSON Schema of the configuration file.

import { z } from 'zod';
import { SECTION_NAMES, SETTINGS } from '../packages/cli/src/config/settings.ts';
import { isRecord } from '../src/lib/is-record.ts';
import { withoutLinks } from '../src/lib/text.ts';
import { SETTING_INFO } from '../src/settings/define.ts';
import { declaredKind } from '../src/settings/kinds.ts';

/** Form of a value that is in an environment variable or a file. */
const reference = (name: 'env' | 'file', description: string) => ({
  type: 'object',
  description,
  properties: { [name]: { type: 'string', minLength: 1 } },
  required: [name],
  additionalProperties: false,
});

const DEFINITIONS = {
  env: reference('env', 'Name of the environment variable that holds the value.'),
  file: reference('file', 'Path of the file that holds the value.'),
};

const ENV = { $ref: '#/$defs/env' };
const FILE = { $ref: '#/$defs/file' };

/** Names that describe a setting elsewhere, and are no keywords of JSON Schema. */
const DOCUMENTATION = ['flag', 'short', 'defaultText', 'needsRestart'];

/** Forms of secrets, keys and addresses in the file, which are others than those of `createGateway`. */
const FORMS: Readonly<Partial<Record<string, readonly object[]>>> = {
  secret: [ENV, FILE], // The file never contains a secret itself.
  text: [{ type: 'string', minLength: 1 }, ENV, FILE],
  address: [{ type: 'string' }, ENV],
};

type Schema = Record<string, unknown>;

/** Writes the JSON Schema of the configuration file, for editors. */
export function writeConfigSchema(): string {
  const { properties = {}, ...schema } = z.toJSONSchema(z.strictObject(SETTINGS).partial(), {
    metadata: SETTING_INFO,
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => adapt(zodSchema, jsonSchema),
  });
  const $schema = { type: 'string', description: 'Location of this JSON Schema, for editors.' };
  const isSingle = (name: string) => !SECTION_NAMES.includes(name);
  const all = { $schema, ...mapValues(properties, (member, name) => withVariables(member, isSingle(name))) };
  return `${JSON.stringify({ title: 'Configuration of Notigraph', ...schema, properties: all, $defs: DEFINITIONS }, null, 2)}\n`;
}

/** Patterns that Helm can't read, because Go's regular expressions have no lookaround. */
const LOOKAROUND = /\(\?<?[=!]/;

/** Writes the schema of the chart's values, whose `config` is a configuration file. It is a resource of its own, so that its references stay as they are. */
export function writeChartSchema(chart: string, configSchema: string): string {
  const schema = JSON.parse(chart);
  const config = JSON.parse(configSchema, (name, value: unknown) =>
    name === 'pattern' && LOOKAROUND.test(String(value)) ? undefined : value,
  );
  schema.properties.config = { $id: 'config.schema.json', ...config };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Changes the schema of a setting to that of its form in the file. */
function adapt(zodSchema: unknown, schema: Schema): void {
  const { description, defaultText } = schema;
  for (const name of DOCUMENTATION) {
    delete schema[name];
  }
  if (typeof description === 'string') {
    const isSaid = typeof defaultText !== 'string' || defaultText === 'none';
    schema.description = withoutLinks(isSaid ? description : `${description} Default: ${defaultText}.`);
  }
  if (defaultText !== undefined) {
    delete schema.default; // It depends on other things.
  }
  const forms = zodSchema instanceof z.ZodType ? FORMS[declaredKind(zodSchema)?.category ?? ''] : undefined;
  if (forms !== undefined) {
    delete schema.type;
    delete schema.minLength;
    schema.anyOf = forms;
  }
}

/** Adds the form `{ env }` to every text at any depth, and to a single setting of any type. Documentation stays outside of the forms. */
function withVariables(schema: unknown, isSingle = false): unknown {
  if (!isRecord(schema)) {
    return schema;
  }
  const { default: fallback, description, examples, ...form } = schema;
  const forms = listForms(form);
  const inner = forms.map(({ properties, items, additionalProperties, ...rest }) => ({
    ...rest,
    properties: isRecord(properties) ? mapValues(properties, (member) => withVariables(member)) : undefined,
    items: withVariables(items),
    additionalProperties: withVariables(additionalProperties),
  }));
  const takesVariable = isSingle || forms.some(({ type }) => type === 'string');
  const hasVariable = forms.some(({ $ref }) => $ref === ENV.$ref);
  const documentation = { default: fallback, description, examples };
  return takesVariable && !hasVariable
    ? { ...documentation, anyOf: [...inner, ENV] }
    : { ...documentation, ...(inner.length === 1 ? inner[0] : { anyOf: inner }) };
}

/** Returns the alternatives of a schema, and those of an alternative in its place. */
const listForms = (schema: Schema): Schema[] =>
  Array.isArray(schema.anyOf) ? schema.anyOf.filter(isRecord).flatMap(listForms) : [schema];

const mapValues = (members: object, change: (member: unknown, name: string) => unknown): Schema =>
  Object.fromEntries(Object.entries(members).map(([name, member]) => [name, change(member, name)]));
