import {
  astFromValue,
  type GraphQLArgument,
  type GraphQLEnumType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
  Kind,
  parse,
  print,
} from 'graphql';
import { loadOperations, type ShippedOperation } from '../src/graphql/documents/shipped-operations.ts';
import { restCallsOf } from './docs-tables.ts';
import { code, table } from './markdown.ts';
import { byModule, type CostlyField, listCostlyFields, moduleOf } from './schema-fields.ts';

/** Page of the types. Those that GraphQL itself defines are not on it. */
const TYPES_PAGE = 'schema-types.md';

/** Links a type as it is written, such as `[Workflow!]`, to its place on a page. */
function linkType(type: GraphQLType, page = ''): string {
  const named = getNamedType(type);
  const text = code(String(type));
  return isSpecifiedScalarType(named) ? text : `[${text}](${page}#${named.name.toLowerCase()})`;
}

/** Links a shipped module to its part of a page. */
const linkModule = (module: string): string => `[${module}](schema.md#module-${module})`;

/** Returns a description without the parts that the reference shows separately. */
const textOf = ({ description }: { description?: string | null | undefined }): string =>
  (description ?? '').replace(/\n\n(?:REST|Token scope): .*/g, '');

/** Members of almost every input or result, which another page explains. */
const REPEATED: Readonly<Record<string, string>> = {
  idempotencyKey: 'The [idempotency key](rest-calls.md#what-to-know) of the change.',
  replayed: 'Whether [the key](rest-calls.md#what-to-know) was used before, so that this is the stored result.',
};

const cellOf = (part: {
  name?: string;
  description?: string | null | undefined;
  deprecationReason?: string | null | undefined;
}): string =>
  [
    REPEATED[part.name ?? ''] ?? part.description ?? '',
    part.deprecationReason ? `Deprecated: ${part.deprecationReason}` : '',
  ]
    .filter((text) => text !== '')
    .join(' ')
    .replaceAll(/\s*\n\s*/g, ' ');

/** Writes the default of an argument or input field, as in the schema. */
function defaultOf({ defaultValue, type }: Pick<GraphQLArgument, 'defaultValue' | 'type'>): string {
  const value = defaultValue === undefined ? undefined : astFromValue(defaultValue, type);
  return value == null ? '' : ` Default: ${code(print(value))}.`;
}

function writeInputs(head: string, inputs: readonly (GraphQLArgument | GraphQLInputField)[], page?: string): string {
  const rows = inputs.map((input) => [code(input.name), linkType(input.type, page), cellOf(input) + defaultOf(input)]);
  return rows.length === 0 ? '' : table([head, 'type', 'description'], rows);
}

/** Returns the names of the root fields that an operation selects. */
function rootFieldsOf({ query }: ShippedOperation): string[] {
  const [operation] = parse(query).definitions;
  return operation?.kind === Kind.OPERATION_DEFINITION
    ? operation.selectionSet.selections.flatMap((field) => (field.kind === Kind.FIELD ? field.name.value : []))
    : [];
}

const writeExample = ({ name, query, variables }: ShippedOperation): string =>
  [
    `Example: ${code(name)}\n`,
    `\`\`\`graphql\n${query.replace(/^# .*\n/, '').trim()}\n\`\`\`\n`,
    ...(variables === undefined ? [] : [`\`\`\`json\n${variables}\n\`\`\`\n`]),
  ].join('\n');

function writeRootField(costly: CostlyField, examples: readonly ShippedOperation[]): string {
  const { name, isMutation, field, scope, recordScopes } = costly;
  const { calls = '1' } = field.extensions as { calls?: string };
  const scopes = [scope ?? '', ...recordScopes.map((each) => `${each} for the record in the result`)];
  const module = moduleOf(field);
  const cells = {
    result: linkType(field.type, TYPES_PAGE),
    scope: scopes.map((each) => each.replace(/\S+/, code)).join(', '),
    REST: restCallsOf(costly).map(code).join(', '),
    calls,
  };
  return [
    `### ${name}\n`,
    `${textOf(field)}\n`,
    ...(module === undefined ? [] : [`Module: ${linkModule(module)}.\n`]),
    ...(isMutation ? field.args.map(({ type }) => `Input: ${linkType(type, TYPES_PAGE)}.\n`) : []),
    table(Object.keys(cells), [Object.values(cells)]),
    isMutation ? '' : writeInputs('argument', field.args, TYPES_PAGE),
    ...examples.filter((example) => rootFieldsOf(example).includes(name)).map(writeExample),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** Writes docs/schema.md: queries and mutations, then those of each shipped module, with their arguments, scopes, calls, and a shipped operation as an example. */
export function writeSchemaReference(schema: GraphQLSchema): string {
  const examples = loadOperations(schema);
  const roots = byModule(listCostlyFields(schema)).filter(({ name }) => !name.includes('.'));
  const groups = Map.groupBy(roots, ({ field, isMutation }) =>
    moduleOf(field) === undefined ? (isMutation ? 'Mutations' : 'Queries') : `Module ${moduleOf(field)}`,
  );
  return [
    '# Schema\n',
    `Every query and mutation. [Types](${TYPES_PAGE}) has their results and inputs, [operations](rest-calls.md) their rules, and [errors](errors.md) what can fail. A module is opt-in: [\`modules: [notigraph/modules/events]\`](trigger.md). The file [\`schema/schema.graphql\`](../schema/schema.graphql) has none of them.\n`,
    '<!-- generated: schema -->',
    ...[...groups].flatMap(([title, fields]) => [
      `## ${title}\n`,
      ...fields.map((field) => writeRootField(field, examples)),
    ]),
    '<!-- /generated -->\n',
  ].join('\n');
}

function writeFields(fields: GraphQLField<unknown, unknown>[]): string {
  const rows = fields.map((field) => {
    const list = field.args.map(({ name, type }) => `${name}: ${type}`).join(', ');
    const notes = field.args.map((arg) => ` ${code(arg.name)}: ${cellOf(arg)}${defaultOf(arg)}`);
    return [code(field.name + (list === '' ? '' : `(${list})`)), linkType(field.type), cellOf(field) + notes.join('')];
  });
  return table(['field', 'type', 'description'], rows);
}

const writeValues = (type: GraphQLEnumType): string =>
  table(
    ['value', 'description'],
    type.getValues().map((value) => [code(value.name), cellOf(value)]),
  );

function writeType(schema: GraphQLSchema, type: GraphQLNamedType): string {
  const { scope } = type.extensions as { scope?: string };
  const module = moduleOf(type);
  const interfaces = isObjectType(type) ? type.getInterfaces() : [];
  const members = isUnionType(type) ? type.getTypes() : isInterfaceType(type) ? schema.getPossibleTypes(type) : [];
  const links = (types: readonly GraphQLNamedType[]) => types.map((each) => linkType(each)).join(', ');
  return [
    `### ${type.name}\n`,
    `${textOf(type)}\n`,
    ...(scope === undefined ? [] : [`Scope: ${code(scope)}.\n`]),
    ...(module === undefined ? [] : [`Module: ${linkModule(module)}.\n`]),
    ...(interfaces.length === 0 ? [] : [`Implements ${links(interfaces)}.\n`]),
    ...(members.length === 0 ? [] : [`Members: ${links(members)}.\n`]),
    isObjectType(type) || isInterfaceType(type) ? writeFields(Object.values(type.getFields())) : '',
    isInputObjectType(type) ? writeInputs('field', Object.values(type.getFields())) : '',
    isEnumType(type) ? writeValues(type) : '',
  ]
    .filter((part) => part !== '')
    .join('\n');
}

const KINDS: [title: string, is: (type: GraphQLNamedType) => boolean][] = [
  ['Objects', isObjectType],
  ['Inputs', isInputObjectType],
  ['Unions and interfaces', (type) => isUnionType(type) || isInterfaceType(type)],
  ['Enums', isEnumType],
  ['Scalars', (type) => isScalarType(type) && !isSpecifiedScalarType(type)],
];

/** Writes docs/schema-types.md: all types except the roots. */
export function writeTypesReference(schema: GraphQLSchema): string {
  const roots: unknown[] = [schema.getQueryType(), schema.getMutationType()];
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => !isIntrospectionType(type) && !roots.includes(type),
  );
  return [
    '# Types\n',
    'Every type of the [schema](schema.md), with its fields. Without `!`, a field can be null.\n',
    '<!-- generated: types -->',
    ...KINDS.flatMap(([title, is]) => [`## ${title}\n`, ...types.filter(is).map((type) => writeType(schema, type))]),
    '<!-- /generated -->\n',
  ].join('\n');
}
