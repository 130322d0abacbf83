import {
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  NoDeprecatedCustomRule,
  separateOperations,
  validate,
} from 'graphql';

/** Element of a schema that can be deprecated. */
interface Element {
  name: string;
  deprecationReason?: string | null | undefined;
}

const NONE: readonly string[] = [];

/** Element in a message of `NoDeprecatedCustomRule`: `The field Workflow.draft is …`, `Field "Query.stats" argument "days" is …`. */
const IN_MESSAGE = /^(?:The (?:input )?field|The enum value|Field|Directive) "?(@?[\w.]+)"?(?: argument "(\w+)")?/;

/**
 * Creates a function that returns the coordinates of the deprecated elements in the text of an operation. Elements that are only in its variables
 * are not found. Does nothing for a schema without deprecated elements; otherwise reads each document once, because parsed documents are cached.
 */
export function createReadDeprecatedUsage(): (
  args: Pick<ExecutionArgs, 'schema' | 'document' | 'operationName'>,
) => readonly string[] {
  const schemas = new WeakMap<GraphQLSchema, WeakMap<DocumentNode, ReadonlyMap<string, readonly string[]>> | 'none'>();
  return ({ schema, document, operationName }) => {
    let documents = schemas.get(schema);
    if (documents === undefined) {
      documents = listDeprecated(schema).length === 0 ? 'none' : new WeakMap();
      schemas.set(schema, documents);
    }
    if (documents === 'none') {
      return NONE;
    }
    let operations = documents.get(document);
    if (operations === undefined) {
      operations = readDocument(schema, document);
      documents.set(document, operations);
    }
    const [only] = operations.values();
    return (operationName == null ? only : operations.get(operationName)) ?? NONE;
  };
}

/** Returns the coordinates by the names of the operations. */
function readDocument(schema: GraphQLSchema, document: DocumentNode): Map<string, readonly string[]> {
  const operations = Object.entries(separateOperations(document)).map(([name, own]): [string, readonly string[]] => {
    const found = validate(schema, own, [NoDeprecatedCustomRule]).map(({ message }) => {
      const [, element = '', argument] = IN_MESSAGE.exec(message) ?? [];
      return argument === undefined ? element : `${element}(${argument}:)`;
    });
    return [name, [...new Set(found)]];
  });
  return new Map(operations);
}

/**
 * Returns the coordinates of all deprecated elements of a schema: `Type.field`, `Type.field(argument:)`, `Input.field`, `Enum.VALUE`, and
 * `@directive(argument:)`.
 */
export function listDeprecated(schema: GraphQLSchema): readonly string[] {
  const found: string[] = [];
  const add = (elements: Iterable<Element>, toCoordinate: (name: string) => string) => {
    for (const { name, deprecationReason } of elements) {
      if (deprecationReason != null) {
        found.push(toCoordinate(name));
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
