// Lists the deprecated elements of a schema, and finds those in an operation.

import {
  type DocumentNode,
  type GraphQLArgument,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  NoDeprecatedCustomRule,
  type OperationDefinitionNode,
  separateOperations,
  validate,
} from 'graphql';

/** Element in a message of `NoDeprecatedCustomRule`: `The field Workflow.draft is …`, `Field "Query.stats" argument "days" is …`; in graphql 17 `The argument "Query.stats(days:)" is …`. */
const IN_MESSAGE =
  /^(?:The )?(?:input field|field|enum value|argument|Directive) "?(@?[\w.]+)(?:"? argument "|\()?(\w+)?/i;

/** Returns the coordinates of the deprecated elements in the text of an operation. Elements that are only in its variables are not found. */
export function readDeprecatedUsage(
  schema: GraphQLSchema,
  document: DocumentNode,
  { name }: OperationDefinitionNode,
): readonly string[] {
  const separated = separateOperations(document)[name?.value ?? ''] ?? document;
  const found = validate(schema, separated, [NoDeprecatedCustomRule]).map(({ message }) => {
    const [, element = '', argument] = IN_MESSAGE.exec(message) ?? [];
    return argument === undefined ? element : `${element}(${argument}:)`;
  });
  return [...new Set(found)];
}

/**
 * Returns the reasons of all deprecated elements of a schema by coordinate: `Type.field`, `Type.field(argument:)`, `Input.field`,
 * `Enum.VALUE`, and `@directive(argument:)`.
 */
export function listDeprecated(schema: GraphQLSchema): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const add = (
    elements: readonly Pick<GraphQLArgument, 'name' | 'deprecationReason'>[],
    toCoordinate: (name: string) => string,
  ) => {
    for (const { name, deprecationReason } of elements) {
      if (deprecationReason != null) {
        found.set(toCoordinate(name), deprecationReason);
      }
    }
  };
  for (const { name: directive, args } of schema.getDirectives()) {
    add(args, (name) => `@${directive}(${name}:)`);
  }
  for (const type of Object.values(schema.getTypeMap())) {
    const ofType = (name: string) => `${type.name}.${name}`;
    if (isEnumType(type)) {
      add(type.getValues(), ofType);
    } else if (isInputObjectType(type)) {
      add(Object.values(type.getFields()), ofType);
    } else if (isObjectType(type) || isInterfaceType(type)) {
      const fields = Object.values(type.getFields());
      add(fields, ofType);
      for (const field of fields) {
        add(field.args, (name) => `${ofType(field.name)}(${name}:)`);
      }
    }
  }
  return found;
}
