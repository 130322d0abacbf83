import {
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isInputObjectType,
  separateOperations,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { isDeprecated, listDeprecated } from './deprecated-elements.ts';
import { addUsage, findVariables, type Variable } from './deprecated-variables.ts';

/** Returns the coordinates of the deprecated elements that an operation uses, in its text or its variables. */
export type ReadDeprecatedUsage = (
  args: Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues'>,
) => readonly string[];

/** Use of deprecated elements by an operation of a document. */
interface Usage {
  inText: readonly string[];
  variables: readonly Variable[];
}

const NONE: readonly string[] = [];

const NO_USAGE: Usage = { inText: NONE, variables: [] };

/** Creates a function that reads deprecated usage. Caches it by document, because parsed documents are cached. */
export function createReadDeprecatedUsage(): ReadDeprecatedUsage {
  const hasDeprecated = new WeakMap<GraphQLSchema, boolean>();
  const usages = new WeakMap<DocumentNode, { schema: GraphQLSchema; byOperation: Map<unknown, Usage> }>();

  return ({ schema, document, operationName, variableValues }) => {
    let isNeeded = hasDeprecated.get(schema);
    if (isNeeded === undefined) {
      isNeeded = listDeprecated(schema).length > 0;
      hasDeprecated.set(schema, isNeeded);
    }
    if (!isNeeded) {
      return NONE;
    }
    let cached = usages.get(document);
    if (cached?.schema !== schema) {
      cached = { schema, byOperation: new Map() };
      usages.set(document, cached);
    }
    let usage = cached.byOperation.get(operationName);
    if (usage === undefined) {
      usage = readUsage(schema, document, operationName);
      cached.byOperation.set(operationName, usage);
    }
    const { inText, variables } = usage;
    if (variables.length === 0) {
      return inText;
    }
    const used = new Set(inText);
    for (const { name, type } of variables) {
      addUsage(variableValues?.[name], type, used);
    }
    return [...used];
  };
}

function readUsage(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: ExecutionArgs['operationName'],
): Usage {
  const operation = getOperationAST(document, operationName);
  // Without the document's other operations, which don't run.
  const own = operation && separateOperations(document)[operation.name?.value ?? ''];
  if (operation == null || own == null) {
    return NO_USAGE;
  }
  const used = new Set<string>();
  const add = (coordinate: string, element: Parameters<typeof isDeprecated>[0]) => {
    if (isDeprecated(element)) {
      used.add(coordinate);
    }
  };
  const info = new TypeInfo(schema);
  const fieldCoordinate = () => `${info.getParentType()?.name}.${info.getFieldDef()?.name}`;
  visit(
    own,
    visitWithTypeInfo(info, {
      Field() {
        add(fieldCoordinate(), info.getFieldDef());
      },
      Argument({ name }) {
        const directive = info.getDirective();
        add(`${directive ? `@${directive.name}` : fieldCoordinate()}(${name.value}:)`, info.getArgument());
      },
      ObjectField({ name }) {
        const type = getNamedType(info.getParentInputType());
        if (isInputObjectType(type)) {
          add(`${type.name}.${name.value}`, type.getFields()[name.value]);
        }
      },
      EnumValue({ value }) {
        add(`${getNamedType(info.getInputType())?.name}.${value}`, info.getEnumValue());
      },
    }),
  );
  return { inText: [...used], variables: findVariables(schema, operation) };
}
