import {
  astFromValue,
  type GraphQLArgument,
  type GraphQLEnumValue,
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
import { code, join, joinSentences, table } from './markdown.ts';
import { listFields, moduleOf, type SchemaField, scopeOf } from './schema-fields.ts';

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

/** Fields that many types have. Another page explains them, and a type only names those it has. */
const EXPLAINED_ELSEWHERE: readonly string[] = ['extra', 'idempotencyKey', 'replayed'];

type Member = GraphQLField<unknown, unknown> | GraphQLArgument | GraphQLInputField;

/** Returns a description in one line, with the default as the schema writes it. */
function cellOf(part: Member | GraphQLEnumValue): string {
  const fallback =
    'defaultValue' in part && part.defaultValue !== undefined && astFromValue(part.defaultValue, part.type);
  return joinSentences(
    part.description ?? '',
    part.deprecationReason ? `Deprecated: ${part.deprecationReason}` : '',
    fallback ? `Default: ${code(print(fallback))}.` : '',
  ).replaceAll(/\s*\n\s*/g, ' ');
}

/** Writes the table of fields, arguments or input fields, if there are some. */
function writeMembers(head: string, members: readonly Member[], page?: string): string {
  const rows = members.map((member) => {
    const args = 'args' in member ? member.args : [];
    const list = args.map(({ name, type }) => `${name}: ${type}`).join(', ');
    const notes = args.map((arg) => ` ${code(arg.name)}: ${cellOf(arg)}`);
    return [code(member.name + (list && `(${list})`)), linkType(member.type, page), cellOf(member) + notes.join('')];
  });
  return rows.length === 0 ? '' : table([head, 'type', 'description'], rows);
}

/** Returns the names of the root fields that an operation selects. */
function rootFieldsOf({ query }: ShippedOperation): string[] {
  const [operation] = parse(query).definitions;
  return operation?.kind === Kind.OPERATION_DEFINITION
    ? operation.selectionSet.selections.flatMap((field) => (field.kind === Kind.FIELD ? field.name.value : []))
    : [];
}

function writeRootField(root: SchemaField, examples: readonly ShippedOperation[]): string {
  const { name, isMutation, field, scope, recordScopes, module } = root;
  const scopes = [code(scope ?? ''), ...recordScopes.map((each) => `${code(each)} for the record in the result`)];
  const folder = `../schema/${module === '' ? 'operations' : 'module-operations'}`;
  const example = examples.filter((operation) => rootFieldsOf(operation).includes(name)).at(0)?.name;
  const [input] = isMutation ? field.args : [];
  return join(
    `### ${name}\n`,
    `${textOf(field)}\n`,
    `${joinSentences(
      input === undefined ? '' : `Input: ${linkType(input.type, TYPES_PAGE)}.`,
      `Result: ${linkType(field.type, TYPES_PAGE)}.`,
      `Scope: ${scopes.join(', ')}.`,
      example === undefined ? '' : `[Example](${folder}/${example}.graphql)`,
    )}\n`,
    isMutation ? '' : writeMembers('argument', field.args, TYPES_PAGE),
  );
}

/** Writes docs/schema.md: queries and mutations, then those of each shipped module, with their arguments, scopes and an example. */
export function writeSchemaReference(schema: GraphQLSchema): string {
  const examples = loadOperations(schema);
  const roots = listFields(schema).filter(({ isRoot }) => isRoot);
  const groups = Map.groupBy(roots, ({ module, isMutation }) =>
    module === '' ? (isMutation ? 'Mutations' : 'Queries') : `Module ${module}`,
  );
  return [
    '# Schema\n',
    `Every query and mutation. [Types](${TYPES_PAGE}) has their results and inputs, [operations](rest-calls.md) their REST calls and rules, and [errors](errors.md) what can fail. A module is opt-in: [\`modules: [notigraph/modules/events]\`](trigger.md). The file [\`schema/schema.graphql\`](../schema/schema.graphql) has none of them.\n`,
    '<!-- generated: schema -->',
    ...[...groups].flatMap(([title, fields]) => [
      `## ${title}\n`,
      ...fields.map((field) => writeRootField(field, examples)),
    ]),
    '<!-- /generated -->\n',
  ].join('\n');
}

function writeType(schema: GraphQLSchema, type: GraphQLNamedType): string {
  const [scope, module] = [scopeOf(type), moduleOf(type)];
  const interfaces = isObjectType(type) ? type.getInterfaces() : [];
  const members = isUnionType(type) ? type.getTypes() : isInterfaceType(type) ? schema.getPossibleTypes(type) : [];
  const links = (types: readonly GraphQLNamedType[]) => types.map((each) => linkType(each)).join(', ');
  const values = isEnumType(type) ? type.getValues().map((value) => [code(value.name), cellOf(value)]) : [];
  const hasFields = isObjectType(type) || isInterfaceType(type) || isInputObjectType(type);
  const inherited = new Set(interfaces.flatMap((each) => Object.keys(each.getFields())));
  const fields = hasFields ? Object.values(type.getFields()).filter(({ name }) => !inherited.has(name)) : [];
  const elsewhere = fields.filter(({ name }) => EXPLAINED_ELSEWHERE.includes(name));
  return join(
    `### ${type.name}\n`,
    `${textOf(type)}\n`,
    scope === undefined ? '' : `Scope: ${code(scope)}.\n`,
    module && `Module: ${linkModule(module)}.\n`,
    interfaces.length === 0 ? '' : `Implements ${links(interfaces)}.\n`,
    members.length === 0 ? '' : `Members: ${links(members)}.\n`,
    elsewhere.length === 0 ? '' : `Also has ${elsewhere.map(({ name }) => code(name)).join(', ')}.\n`,
    writeMembers(
      'field',
      fields.filter((field) => !elsewhere.includes(field)),
    ),
    values.length === 0 ? '' : table(['value', 'description'], values),
  );
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
    'Every type of the [schema](schema.md), with its fields. Without `!`, a field can be null. [Operations](rest-calls.md#what-to-know) explains `extra`, `idempotencyKey` and `replayed`, which many types have.\n',
    '<!-- generated: types -->',
    ...KINDS.flatMap(([title, is]) => [`## ${title}\n`, ...types.filter(is).map((type) => writeType(schema, type))]),
    '<!-- /generated -->\n',
  ].join('\n');
}
