import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import type { Plugin, YogaServerInstance } from 'graphql-yoga';
import type { GatewayContext } from '../graphql/context.ts';
import { refuse } from '../settings/refuse.ts';

/** Operation that is parsed, validated and ready to execute. */
export interface Operation {
  /** Name of the operation; `anonymous` if it has none. */
  readonly name: string;
  readonly type: 'query' | 'mutation';
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
  execute(variables: Readonly<Record<string, unknown>>): Promise<ExecutionResult>;
}

type YogaEngine = Pick<YogaServerInstance<GatewayContext, object>, 'getEnveloped'>;

/** Converts the text of a document to an operation. */
export type Prepare = (text: string, context: GatewayContext) => Operation;

/** Error of an invalid document, with all validation errors. */
export class InvalidDocument extends Error {
  override readonly name = 'InvalidDocument';
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super(errors[0]?.message);
    this.errors = errors;
  }
}

/**
 * Creates the function that parses, validates and resolves operations with Yoga's engine and all plugins. The function throws errors of
 * plugins, an `InvalidDocument`, or a `Refusal` with OPERATION_RESOLUTION_FAILURE or METHOD_NOT_ALLOWED.
 *
 * @param hasHostPlugins whether the host has plugins that may observe every validation. Without them, each document is validated once,
 * because a lookup in Yoga's own cache takes 3 µs: its key contains the names of all rules.
 */
export function createPrepare(yoga: YogaEngine, hasHostPlugins: boolean): Prepare {
  const validatedFor = new WeakMap<DocumentNode, GraphQLSchema>();

  return (text, context) => {
    const { operationName } = context.params;
    const { schema, parse, validate, contextFactory, execute } = yoga.getEnveloped(context);
    const document: DocumentNode = parse(text);
    if (hasHostPlugins || validatedFor.get(document) !== schema) {
      const errors: readonly GraphQLError[] = validate(schema, document);
      if (errors.length > 0) {
        throw new InvalidDocument(errors);
      }
      validatedFor.set(document, schema);
    }
    const { name, operation } = resolveOperation(document, context); // A plugin may have replaced the document.
    return {
      name: name?.value ?? 'anonymous',
      type: operation === 'mutation' ? 'mutation' : 'query',
      document,
      operationName,
      async execute(variableValues) {
        const contextValue = await contextFactory();
        const args = { schema, document, contextValue, variableValues, operationName };
        const result: unknown = await execute(args);
        return requireSingleResult(result);
      },
    };
  };
}

type AfterParse = ReturnType<NonNullable<Plugin<GatewayContext>['onParse']>>;

/** Resolves the operation as soon as the document is parsed, because Yoga applies the same rules later and with other error codes. */
export function useOperationRules(): Plugin<GatewayContext> {
  const resolve: AfterParse = ({ result, context }) => {
    if (isDocument(result)) {
      resolveOperation(result, context);
    }
  };
  return { onParse: () => resolve };
}

const isDocument = (result: unknown): result is DocumentNode =>
  typeof result === 'object' && result !== null && 'kind' in result && result.kind === Kind.DOCUMENT;

/** Returns the operation to execute. GET must not change anything, because browsers fetch links and images without the user's intent. */
function resolveOperation(document: DocumentNode, { params, request }: GatewayContext): OperationDefinitionNode {
  const operation = getOperationAST(document, params.operationName);
  if (operation == null) {
    throw refuse(
      'OPERATION_RESOLUTION_FAILURE',
      params.operationName === undefined
        ? 'The document contains no operation, or several. Send "operationName" to choose one.'
        : 'The document contains no operation with the name in "operationName".',
    );
  }
  if (operation.operation === 'mutation' && request.method === 'GET') {
    throw refuse('METHOD_NOT_ALLOWED', 'Mutations require POST.', { headers: { allow: 'POST' } });
  }
  return operation;
}

/** Returns the result of an execution. Plugins could have replaced it with a stream or another value. */
function requireSingleResult(result: unknown): ExecutionResult {
  if (typeof result !== 'object' || result === null || Symbol.asyncIterator in result) {
    throw new TypeError('The execution did not return a single result.');
  }
  return result;
}
