import {
  astFromValue,
  type DocumentNode,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedInputType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  typeFromAST,
  type ValueNode,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql';

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** JSON Schema 2020-12. */
export interface JsonSchema {
  [keyword: string]: Json;
}

/** JSON Schema of an object without other properties. */
export interface ObjectSchema extends JsonSchema {
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

/** Returns the JSON Schema of an operation's variables. */
export function toInputSchema(
  operation: OperationDefinitionNode,
  document: DocumentNode,
  schema: GraphQLSchema,
): ObjectSchema {
  const descriptions = describeVariables(document, schema);
  const members = (operation.variableDefinitions ?? []).flatMap(({ variable, type: node, defaultValue }): Member[] => {
    const type: GraphQLType | undefined = typeFromAST(schema, node);
    const name = variable.name.value;
    const given = defaultValue === undefined ? {} : { default: toJson(defaultValue) };
    return isInputType(type) ? [{ name, type, description: descriptions.get(name), ...given }] : [];
  });
  return toObjectSchema(members);
}

/** Variable, or field of an input object. */
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
        { ...toSchema(type), ...(description && { description }), ...others },
      ]),
    ),
    required: members.filter(isRequired).map(({ name }) => name),
    additionalProperties: false,
  };
}

function toSchema(type: GraphQLInputType, isNullable = true): JsonSchema {
  if (isNonNullType(type)) {
    return toSchema(type.ofType, false);
  }
  const schema: JsonSchema = isListType(type) ? { type: 'array', items: toSchema(type.ofType) } : toNamedSchema(type);
  return isNullable ? toNullable(schema) : schema;
}

const toNullable = ({ type, enum: values, ...others }: JsonSchema): JsonSchema => ({
  ...(typeof type === 'string' && { type: [type, 'null'] }),
  ...(Array.isArray(values) && { enum: [...values, null] }),
  ...others,
});

/** Inline, because many agents can't follow references. No input type contains itself. */
function toNamedSchema(type: GraphQLNamedInputType): JsonSchema {
  const description = type.description ? { description: type.description } : {};
  if (isInputObjectType(type)) {
    return { ...toObjectSchema(Object.values(type.getFields()).map(toMember)), ...description };
  }
  return isEnumType(type)
    ? { type: 'string', enum: type.getValues().map(({ name }) => name), ...description }
    : { ...SCALARS[type.name], ...(!isBuiltIn(type.name) && description) };
}

const toMember = ({ name, type, description, defaultValue }: GraphQLInputField): Member => {
  const node = defaultValue === undefined ? undefined : astFromValue(defaultValue, type);
  return { name, type, description, ...(node && { default: toJson(node) }) };
};

const toJson = (node: ValueNode): Json => JSON.parse(JSON.stringify(valueFromASTUntyped(node)));

const isBuiltIn = (scalar: string): boolean => ['ID', 'String', 'Int', 'Float', 'Boolean'].includes(scalar);

/** Returns the description of the argument, or field of an input object, that each variable is used for. */
function describeVariables(document: DocumentNode, schema: GraphQLSchema): Map<string, string> {
  const descriptions = new Map<string, string>();
  const types = new TypeInfo(schema);
  function describe(value: ValueNode, description: string | null | undefined): void {
    if (value.kind === Kind.VARIABLE && description && !descriptions.has(value.name.value)) {
      descriptions.set(value.name.value, description);
    }
  }
  visit(
    document,
    visitWithTypeInfo(types, {
      Argument: ({ value }) => describe(value, types.getArgument()?.description),
      ObjectField({ name, value }) {
        const parent = getNamedType(types.getParentInputType());
        describe(value, isInputObjectType(parent) ? parent.getFields()[name.value]?.description : undefined);
      },
    }),
  );
  return descriptions;
}
