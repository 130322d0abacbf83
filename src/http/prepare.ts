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

/** A parsed, validated and resolved operation. */
export interface Operation {
  /** `anonymous` if it has none. */
  readonly name: string;
  readonly type: 'query' | 'mutation';
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
  execute(variables: Readonly<Record<string, unknown>>): Promise<ExecutionResult>;
}

type Engine = Pick<YogaServerInstance<GatewayContext, object>, 'getEnveloped'>;

/** Turns the text of a document into an operation. */
export type Prepare = (text: string, context: GatewayContext) => Operation;

/** The problems that validation found in a document. */
export class InvalidDocument extends Error {
  override readonly name = 'InvalidDocument';
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super(errors[0]?.message);
    this.errors = errors;
  }
}

/**
 * Parses, validates and resolves operations with Yoga's engine and all plugins. Throws what they throw, `InvalidDocument`, or a
 * `Refusal`: OPERATION_RESOLUTION_FAILURE, METHOD_NOT_ALLOWED.
 *
 * @param hasHostPlugins whether plugins of the host may watch every validation. Without them, a document is validated once: finding it in
 * Yoga's own cache takes 3 µs, because the key names all rules.
 */
export function createPrepare(yoga: Engine, hasHostPlugins: boolean): Prepare {
  const valid = new WeakMap<DocumentNode, GraphQLSchema>();

  return (text, context) => {
    const { operationName } = context.params;
    const { schema, parse, validate, contextFactory, execute } = yoga.getEnveloped(context);
    const document: DocumentNode = parse(text);
    if (hasHostPlugins || valid.get(document) !== schema) {
      const errors: readonly GraphQLError[] = validate(schema, document);
      if (errors.length > 0) {
        throw new InvalidDocument(errors);
      }
      valid.set(document, schema);
    }
    const { name, operation } = resolveOperation(document, context); // Again: a plugin may have replaced the document.
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

/**
 * Resolves the operation as soon as the document is parsed. Yoga has the same rules, but they run after these and refuse with other
 * codes.
 */
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

/** Finds the operation to execute. Nothing may be changed by GET: links and images are fetched without the user's intent. */
function resolveOperation(document: DocumentNode, { params, request }: GatewayContext): OperationDefinitionNode {
  const operation = getOperationAST(document, params.operationName);
  if (operation == null) {
    throw refuse(
      'OPERATION_RESOLUTION_FAILURE',
      params.operationName === undefined
        ? 'The document has several operations or none. Send "operationName" with the name of the one to execute.'
        : 'The document has no operation with the name in "operationName".',
    );
  }
  if (operation.operation === 'mutation' && request.method === 'GET') {
    throw refuse('METHOD_NOT_ALLOWED', 'Mutations need POST.', { headers: { allow: 'POST' } });
  }
  return operation;
}

/** Plugins can replace the result of an execution. */
function requireSingleResult(result: unknown): ExecutionResult {
  if (typeof result !== 'object' || result === null || Symbol.asyncIterator in result) {
    throw new TypeError('The execution did not return a single result.');
  }
  return result;
}
