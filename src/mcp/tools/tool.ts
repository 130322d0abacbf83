// Describes an operation as a tool for AI agents, with JSON Schemas of its variables and its response.

import {
  astFromValue,
  type DocumentNode,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isObjectType,
  isSpecifiedScalarType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type Token,
  TokenKind,
  TypeInfo,
  typeFromAST,
  type ValueNode,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { sha256Of } from '../../documents/manifest.ts';
import type { Operation } from '../../documents/prepared-documents.ts';
import { collectFields, fragmentsOf } from '../../executor/selections.ts';

/** Operation of a trusted document that AI agents can call. */
export interface Tool extends Pick<Operation, 'type' | 'findMissingScopes'> {
  name: string;
  description: string;
  inputSchema: ObjectSchema;
  /** Schema of the GraphQL response to a call that succeeds or fails. */
  outputSchema: JsonSchema & { type: 'object' };
  /** Hints for the people and programs that decide about a call. `destructiveHint`: whether it may change or delete what exists; absent for reads. */
  annotations: { readOnlyHint: boolean; destructiveHint?: boolean };
  text: string;
  /** SHA-256 of the text, by which requests refer to it. */
  hash: string;
}

/** Creates a tool from a valid document with one operation, which has a name. */
export function createTool(
  name: string,
  { node, type, findMissingScopes }: Operation,
  { document, text, schema }: { document: DocumentNode; text: string; schema: GraphQLSchema },
): Tool {
  const fields = rootFieldsOf(node, schema);
  return {
    name,
    type,
    description: readComment(node) || describe(fields) || `Executes the ${type} ${name}.`,
    inputSchema: toInputSchema(node, document, schema),
    outputSchema: toOutputSchema(node, { document, text, schema }),
    annotations:
      type === 'query'
        ? { readOnlyHint: true }
        : {
            readOnlyHint: false,
            destructiveHint: fields.length === 0 || !fields.every(({ extensions }) => 'addsOnly' in extensions),
          },
    findMissingScopes,
    text,
    hash: sha256Of(text),
  };
}

/** Returns the root fields of an operation; none if it has fragments there. */
function rootFieldsOf(
  { operation, selectionSet: { selections } }: OperationDefinitionNode,
  schema: GraphQLSchema,
): GraphQLField<unknown, unknown>[] {
  const rootFields = schema.getRootType(operation)?.getFields() ?? {};
  const fields = selections.flatMap((selection) =>
    selection.kind === Kind.FIELD ? (rootFields[selection.name.value] ?? []) : [],
  );
  return selections.every(({ kind }) => kind === Kind.FIELD) ? fields : [];
}

/** Returns the comment lines directly above an operation, without their marks. */
function readComment({ loc }: OperationDefinitionNode): string {
  const lines: string[] = [];
  let token: Token | null | undefined = loc?.startToken;
  for (let next = token; next !== undefined && next !== null; next = token) {
    token = next.prev;
    if (token?.kind !== TokenKind.COMMENT || token.line !== next.line - 1) {
      break;
    }
    lines.unshift(token.value.trim());
  }
  return lines.join('\n').trim();
}

/** Returns the first paragraphs of the fields' descriptions. The others name REST calls and scopes. */
const describe = (fields: readonly GraphQLField<unknown, unknown>[]): string =>
  fields
    .map(({ description }) => description?.split('\n\n')[0] ?? '')
    .join(' ')
    .trim();

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** JSON Schema 2020-12. */
interface JsonSchema {
  [keyword: string]: Json;
}

/** JSON Schema of an object without other properties. */
interface ObjectSchema extends JsonSchema {
  type: 'object';
  properties: Record<string, JsonSchema>;
  required: string[];
  additionalProperties: false;
}

/** JSON Schema of each scalar. Those that are not listed accept any value. */
const SCALARS: Readonly<Record<string, JsonSchema>> = {
  ID: { type: 'string' },
  String: { type: 'string' },
  Int: { type: 'integer' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  DateTime: { type: 'string' },
  LocalDate: { type: 'string', format: 'date' },
  JSONObject: { type: 'object' },
};

function toInputSchema(operation: OperationDefinitionNode, document: DocumentNode, schema: GraphQLSchema) {
  const descriptions = describeVariables(document, schema);
  const members = (operation.variableDefinitions ?? []).flatMap(({ variable, type: node, defaultValue }): Member[] => {
    const type: GraphQLType | undefined = typeFromAST(schema, node);
    const name = variable.name.value;
    const defaults = defaultValue === undefined ? {} : { default: toJson(defaultValue) };
    return isInputType(type) ? [{ name, type, description: descriptions.get(name), ...defaults }] : [];
  });
  return toObjectSchema(members);
}

/** Describes an input without the header that sets it, because agents send none. */
const describedAs = (text: string | null | undefined): JsonSchema =>
  text ? { description: text.replace(/Default: the `[\w-]+` header\./, 'Default: none.') } : {};

interface Member {
  name: string;
  type: GraphQLInputType;
  description: string | null | undefined;
  /** @default none */
  default?: Json;
}

function toObjectSchema(members: readonly Member[]): ObjectSchema {
  const isRequired = (member: Member) => isNonNullType(member.type) && !('default' in member);
  return {
    type: 'object',
    properties: Object.fromEntries(
      members.map(({ name, type, description, ...others }) => [
        name,
        { ...toSchema(type, toInputTypeSchema), ...describedAs(description), ...others },
      ]),
    ),
    required: members.filter(isRequired).map(({ name }) => name),
    additionalProperties: false,
  };
}

function toSchema(type: GraphQLType, toNamed: (type: GraphQLNamedType) => JsonSchema, isNullable = true): JsonSchema {
  if (isNonNullType(type)) {
    return toSchema(type.ofType, toNamed, false);
  }
  const schema = isListType(type) ? { type: 'array', items: toSchema(type.ofType, toNamed) } : toNamed(type);
  return isNullable ? toNullable(schema) : schema;
}

const toNullable = ({ type, enum: values, anyOf, ...others }: JsonSchema): JsonSchema => ({
  ...(typeof type === 'string' && { type: [type, 'null'] }),
  ...(Array.isArray(anyOf) && { anyOf: [...anyOf, { type: 'null' }] }),
  ...(Array.isArray(values) && { enum: [...values, null] }),
  ...others,
});

/** Inline, because many agents can't follow references. No input type contains itself. */
function toInputTypeSchema(type: GraphQLNamedType): JsonSchema {
  const schema = isInputObjectType(type)
    ? toObjectSchema(Object.values(type.getFields()).map(toMember))
    : toLeafSchema(type);
  return { ...schema, ...(!isSpecifiedScalarType(type) && describedAs(type.description)) };
}

const toLeafSchema = (type: GraphQLNamedType): JsonSchema =>
  isEnumType(type) ? { type: 'string', enum: type.getValues().map(({ name }) => name) } : { ...SCALARS[type.name] };

const toMember = ({ name, type, description, defaultValue }: GraphQLInputField): Member => {
  const node = defaultValue === undefined ? undefined : astFromValue(defaultValue, type);
  return { name, type, description, ...(node && { default: toJson(node) }) };
};

const toJson = (node: ValueNode): Json => JSON.parse(JSON.stringify(valueFromASTUntyped(node)));

/** Returns the description of the argument, or field of an input object, that each variable is used for. */
function describeVariables(document: DocumentNode, schema: GraphQLSchema): Map<string, string> {
  const descriptions = new Map<string, string>();
  const types = new TypeInfo(schema);
  function note(value: ValueNode, description: string | null | undefined): void {
    if (value.kind === Kind.VARIABLE && description && !descriptions.has(value.name.value)) {
      descriptions.set(value.name.value, description);
    }
  }
  visit(
    document,
    visitWithTypeInfo(types, {
      Argument: ({ value }) => note(value, types.getArgument()?.description),
      ObjectField({ name, value }) {
        const parent = getNamedType(types.getParentInputType());
        note(value, isInputObjectType(parent) ? parent.getFields()[name.value]?.description : undefined);
      },
    }),
  );
  return descriptions;
}

/** Without descriptions, which would make the list of tools much longer. Errors can leave out data, so no member of the response is required. */
function toOutputSchema(
  { operation, selectionSet }: OperationDefinitionNode,
  { document, text, schema }: { document: DocumentNode; text: string; schema: GraphQLSchema },
): Tool['outputSchema'] {
  const source = { schema, fragments: fragmentsOf(document) };
  const isConditional = /@(?:skip|include)\b/.test(text);

  function toOutputType(type: GraphQLNamedType, sets: readonly SelectionSetNode[]): JsonSchema {
    if (isAbstractType(type)) {
      const schemas = schema.getPossibleTypes(type).map((each) => toOutputType(each, sets));
      return { anyOf: [...new Map(schemas.map((each) => [JSON.stringify(each), each])).values()] };
    }
    if (!isObjectType(type)) {
      return toLeafSchema(type);
    }
    const fields = [...collectFields(source, type, sets, 'all')].map(([key, nodes]): [string, JsonSchema] => {
      const inner = nodes.flatMap((node) => node.selectionSet ?? []);
      const field = type.getFields()[nodes[0]?.name.value ?? '']; // `__typename` and introspection have none.
      return [key, field ? toSchema(field.type, (named) => toOutputType(named, inner)) : {}];
    });
    const required = isConditional ? [] : fields.map(([key]) => key);
    return { type: 'object', properties: Object.fromEntries(fields), required };
  }

  const root = schema.getRootType(operation);
  const data = root ? toNullable(toOutputType(root, [selectionSet])) : {};
  return { type: 'object', properties: { data, errors: { type: 'array', items: { type: 'object' } } } };
}
