import {
  type DocumentNode,
  Kind,
  type OperationDefinitionNode,
  type ValueNode,
  valueFromASTUntyped,
  visit,
} from 'graphql';

/**
 * Returns the representations that an operation passes to `_entities`, for the variables that the client sent: one list per use of the field. Uses
 * with the same variable share a list.
 */
export type ReadRepresentations = (variables: Readonly<Record<string, unknown>>) => readonly (readonly unknown[])[];

/**
 * Finds the representations of an operation. Also counts those of fields that are skipped, because that can only lead to a refusal that
 * explains itself.
 *
 * @returns undefined if the operation doesn't use `_entities`
 */
export function findRepresentations(
  document: DocumentNode,
  operation: OperationDefinitionNode,
): ReadRepresentations | undefined {
  const values: ValueNode[] = [];
  for (const definition of document.definitions) {
    if (definition === operation || definition.kind === Kind.FRAGMENT_DEFINITION) {
      visit(definition, {
        Field: ({ name, arguments: args = [] }) => {
          values.push(...(name.value === '_entities' ? args.map(({ value }) => value) : []));
        },
      });
    }
  }
  if (values.length === 0) {
    return undefined;
  }
  const defaults = Object.fromEntries(
    (operation.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
      defaultValue === undefined ? [] : [[variable.name.value, valueFromASTUntyped(defaultValue)]],
    ),
  );
  return (variables) => {
    const given = { ...defaults, ...variables };
    return values.map((value) => toList(valueFromASTUntyped(value, given)));
  };
}

/** Converts the value of an argument of a list type. A single value is a list of one item. */
function toList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) {
    return value;
  }
  return value == null ? [] : [value];
}
