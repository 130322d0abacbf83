import {
  type DocumentNode,
  type ExecutionResult,
  type FragmentSpreadNode,
  GraphQLSchema,
  getOperationAST,
  type InlineFragmentNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  visit,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { ReadRequiredScopes, RequiredScopes } from '../graphql/required-scopes.ts';

/** An operation that is parsed, validated and compiled: it costs nothing any more but its execution. */
export interface PreparedOperation {
  /** `anonymous` where it has none. */
  readonly name: string;
  readonly type: 'query' | 'mutation';
  /** What a token must permit for it. */
  readonly scopes: RequiredScopes;
  /**
   * Carries it out.
   *
   * @returns undefined when the variables do not fit: nothing was carried out, and graphql-js says better what is wrong with them
   */
  execute(
    context: object,
    variables: Readonly<Record<string, unknown>>,
  ): ExecutionResult | undefined | Promise<ExecutionResult>;
}

/** undefined: graphql-jit cannot compile it, or there is no such operation in it. */
export type Compile = (document: DocumentNode, operationName: string | undefined) => PreparedOperation | undefined;

export function createCompile(schema: GraphQLSchema, readRequiredScopes: ReadRequiredScopes): Compile {
  let mutations: GraphQLSchema | undefined;

  function compileOperation(document: DocumentNode, operation: OperationDefinitionNode, name: string | undefined) {
    if (!isOneMutation(operation)) {
      return compileQuery(schema, document, name);
    }
    mutations ??= mutationsOf(schema);
    return compileQuery(mutations, asQuery(document, operation), name);
  }

  return (document, operationName) => {
    const operation = getOperationAST(document, operationName);
    if (operation == null || operation.operation === 'subscription' || spreadsUnderConditions(document)) {
      return undefined;
    }
    const compiled = compileOperation(document, operation, operationName);
    if (!isCompiledQuery(compiled)) {
      return undefined;
    }
    const withData = (result: ExecutionResult) => ('data' in result ? result : undefined);
    return {
      name: operation.name?.value ?? 'anonymous',
      type: operation.operation,
      scopes: readRequiredScopes(document, operationName),
      execute(context, variables) {
        const result = compiled.query(undefined, context, variables);
        return result instanceof Promise ? result : withData(result);
      },
    };
  };
}

/**
 * Whether a fragment is spread where `@skip` or `@include` decides. graphql-jit applies the condition of one spread to all that the fragment
 * spreads in turn, wherever else that is asked for: data would be missing.
 */
function spreadsUnderConditions(document: DocumentNode): boolean {
  let conditions = 0;
  let found = false;
  visit(document, {
    InlineFragment: {
      enter: (node) => {
        conditions += isConditional(node) ? 1 : 0;
      },
      leave: (node) => {
        conditions -= isConditional(node) ? 1 : 0;
      },
    },
    FragmentSpread(node) {
      found ||= conditions > 0 || isConditional(node);
    },
  });
  return found;
}

const isConditional = ({ directives = [] }: InlineFragmentNode | FragmentSpreadNode): boolean =>
  directives.some(({ name }) => name.value === 'skip' || name.value === 'include');

/**
 * Whether it is a mutation of one field. graphql-jit carries out several one after the other by code whose garbage survives the young
 * generation's collector, 8 KB for each; of one field there is no order, so it can be compiled like a query.
 */
const isOneMutation = ({ operation, selectionSet: { selections } }: OperationDefinitionNode): boolean =>
  operation === 'mutation' && selections.length === 1 && selections[0]?.kind === Kind.FIELD;

/** The schema with its mutations as queries. */
function mutationsOf(schema: GraphQLSchema): GraphQLSchema {
  const config = schema.toConfig();
  return new GraphQLSchema({ ...config, query: config.mutation, mutation: null });
}

const asQuery = (document: DocumentNode, operation: OperationDefinitionNode): DocumentNode => ({
  ...document,
  definitions: document.definitions.map((definition) =>
    definition === operation ? { ...operation, operation: OperationTypeNode.QUERY } : definition,
  ),
});
