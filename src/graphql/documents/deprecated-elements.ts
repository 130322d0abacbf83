import { type GraphQLSchema, isEnumType, isInputObjectType, isInterfaceType, isObjectType } from 'graphql';

/** Element of a schema that can be deprecated. */
interface Element {
  name: string;
  deprecationReason?: string | null | undefined;
}

/** Whether an element of a schema is deprecated. */
export const isDeprecated = (element: Element | null | undefined): boolean => element?.deprecationReason != null;

/**
 * Returns the coordinates of all deprecated elements of a schema: `Type.field`, `Type.field(argument:)`, `Input.field`, `Enum.VALUE`, and
 * `@directive(argument:)`.
 */
export function listDeprecated(schema: GraphQLSchema): readonly string[] {
  const found: string[] = [];
  const add = (elements: Iterable<Element>, toCoordinate: (name: string) => string) => {
    for (const element of elements) {
      if (isDeprecated(element)) {
        found.push(toCoordinate(element.name));
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
