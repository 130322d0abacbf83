// Writes the page of the docs about queries and mutations.

import {
  astFromValue,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  Kind,
  parse,
  print,
} from 'graphql';
import { loadOperations, type ShippedOperation } from '../src/documents/shipped-operations.ts';
import { code, join, joinSentences, table } from './markdown.ts';
import { listFields, type SchemaField } from './schema-fields.ts';

/** Description of a member of almost every input, which another page explains. */
const IDEMPOTENCY_KEY = 'The [idempotency key](rest-calls.md#what-to-know) of the change.';

/** Writes the row of an argument or input field, with the default as the schema writes it. */
function toRow({ name, type, description, defaultValue, deprecationReason }: GraphQLArgument | GraphQLInputField) {
  const fallback = defaultValue === undefined ? undefined : astFromValue(defaultValue, type);
  const text = joinSentences(
    name === 'idempotencyKey' ? IDEMPOTENCY_KEY : (description ?? ''),
    deprecationReason ? `Deprecated: ${deprecationReason}` : '',
    fallback ? `Default: ${code(print(fallback))}.` : '',
  );
  return [code(name), code(String(type)), text.replaceAll(/\s*\n\s*/g, ' ')];
}

/** Returns the names of the root fields that an operation selects. */
function rootFieldsOf({ query }: ShippedOperation): string[] {
  const [operation] = parse(query).definitions;
  return operation?.kind === Kind.OPERATION_DEFINITION
    ? operation.selectionSet.selections.flatMap((field) => (field.kind === Kind.FIELD ? field.name.value : []))
    : [];
}

const writeExample = ({ name, query, variables }: ShippedOperation): string =>
  join(
    `Example: ${code(name)}\n`,
    `\`\`\`graphql\n${query.replace(/^# .*\n/, '').trim()}\n\`\`\`\n`,
    variables === undefined ? '' : `\`\`\`json\n${variables}\n\`\`\`\n`,
  );

function writeRootField(root: SchemaField, examples: readonly ShippedOperation[]): string {
  const { name, isMutation, field, scope, recordScopes, endpoints, calls } = root;
  const scopes = [code(scope ?? ''), ...recordScopes.map((each) => `${code(each)} for the record in the result`)];
  const cells = {
    result: code(String(field.type)),
    scope: scopes.join(', '),
    REST: endpoints.map(code).join(', '),
    calls,
  };
  const inputs = field.args.flatMap((arg) => {
    const type = getNamedType(arg.type);
    return isInputObjectType(type) ? Object.values(type.getFields()) : [arg];
  });
  return join(
    `### ${name}\n`,
    `${(field.description ?? '').replace(/\n\n(?:REST|Token scope): .*/g, '')}\n`,
    table(Object.keys(cells), [Object.values(cells)]),
    inputs.length === 0 ? '' : table([isMutation ? 'input' : 'argument', 'type', 'description'], inputs.map(toRow)),
    ...examples.filter((example) => rootFieldsOf(example).includes(name)).map(writeExample),
  );
}

/** Writes docs/schema.md: queries and mutations, then those of each shipped module, with their arguments, scopes, calls, and a shipped operation as an example. */
export function writeSchemaReference(schema: GraphQLSchema): string {
  const examples = loadOperations(schema);
  const roots = listFields(schema).filter(({ isRoot }) => isRoot);
  const groups = Map.groupBy(roots, ({ module, isMutation }) =>
    module === '' ? (isMutation ? 'Mutations' : 'Queries') : `Module ${module}`,
  );
  return [
    '# Schema\n',
    'Every query and mutation. [Operations](rest-calls.md) has their rules, [errors](errors.md) what can fail, and [`schema/schema.graphql`](../schema/schema.graphql) every type. A module is opt-in: [`modules: [notigraph/modules/events]`](trigger.md). [`schema/released.graphql`](../schema/released.graphql) also has the types of the modules.\n',
    '<!-- generated: schema -->',
    ...[...groups].flatMap(([title, fields]) => [
      `## ${title}\n`,
      ...fields.map((field) => writeRootField(field, examples)),
    ]),
    '<!-- /generated -->\n',
  ].join('\n');
}
