import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { CheckDocument } from '../plugins/check-document.ts';

/** An operation that is parsed, validated and compiled: it costs nothing any more but its execution. */
export interface PreparedOperation {
  /** `anonymous` where it has none. */
  readonly name: string;
  readonly type: 'query' | 'mutation';
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

export interface PreparedOperationsOptions {
  schema: GraphQLSchema;
  check: CheckDocument;
  /** How often an operation is asked for before it is compiled; 0: at once. @default 3 */
  compileAfter?: number;
  /** Operations that are kept, those least recently used go first. @default 200 */
  maxOperations?: number;
}

/** The operations that clients send again and again. */
export interface PreparedOperations {
  /** The operation, where it is prepared already; counts how often it is asked for. */
  find(text: string, operationName: string | undefined): PreparedOperation | undefined;
}

/** Texts that are counted before they are prepared, each with its name. */
const MAX_CANDIDATES = 1_000;

/** No frontend's document is longer; one that is takes long to compile, too. */
const MAX_TEXT = 16 * 1024;

/** Compiling takes 1 to 30 ms: one at a time, and then none for 20 times as long, so that a stream of new documents holds up nobody. */
const PAUSES = 20;

interface Kept {
  operation: PreparedOperation;
  usedAt: number;
}

/**
 * Compiles what is asked for often with graphql-jit, in the background. Whoever sends ever new documents makes it forget
 * candidates, never what is in use.
 */
export function createPreparedOperations({
  schema,
  check,
  compileAfter = 3,
  maxOperations = 200,
}: PreparedOperationsOptions): PreparedOperations {
  const kept = new Map<string, Kept>();
  const candidates = new Map<string, number>();
  let uses = 0;
  let isCompiling = false;

  function count(key: string): number {
    const times = (candidates.get(key) ?? 0) + 1;
    if (times === 1 && candidates.size >= MAX_CANDIDATES) {
      candidates.delete(candidates.keys().next().value ?? '');
    }
    candidates.set(key, times);
    return times;
  }

  function keep(key: string, operation: PreparedOperation): void {
    if (kept.size >= maxOperations) {
      const [oldest] = [...kept].reduce((a, b) => (a[1].usedAt <= b[1].usedAt ? a : b));
      kept.delete(oldest);
    }
    kept.set(key, { operation, usedAt: uses });
    candidates.delete(key);
  }

  function prepare(key: string, text: string, operationName: string | undefined): PreparedOperation | undefined {
    const document = check.accept(text, schema);
    const operation = document && compile(schema, document, operationName);
    if (operation !== undefined) {
      keep(key, operation);
    }
    return operation;
  }

  /** Leaves time between two: other requests come first. */
  function prepareLater(key: string, text: string, operationName: string | undefined): void {
    if (isCompiling) {
      return; // It will be asked for again.
    }
    isCompiling = true;
    setImmediate(() => {
      const startedAt = performance.now();
      prepare(key, text, operationName);
      setTimeout(
        () => {
          isCompiling = false;
        },
        PAUSES * (performance.now() - startedAt),
      ).unref();
    });
  }

  return {
    find(text, operationName) {
      if (text.length > MAX_TEXT) {
        return undefined;
      }
      const key = operationName === undefined ? text : `${operationName}\n${text}`;
      const found = kept.get(key);
      if (found !== undefined) {
        uses += 1;
        found.usedAt = uses;
        return found.operation;
      }
      if (compileAfter === 0) {
        return prepare(key, text, operationName);
      }
      if (count(key) > compileAfter) {
        prepareLater(key, text, operationName);
      }
      return undefined;
    },
  };
}

/** undefined: graphql-jit cannot compile it, or there is no such operation in it. */
function compile(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | undefined,
): PreparedOperation | undefined {
  const operation = getOperationAST(document, operationName);
  if (operation == null || operation.operation === 'subscription') {
    return undefined;
  }
  const compiled = isOneMutation(operation)
    ? compileQuery(mutationsOf(schema), asQuery(document, operation), operationName)
    : compileQuery(schema, document, operationName);
  if (!isCompiledQuery(compiled)) {
    return undefined;
  }
  const withData = (result: ExecutionResult) => ('data' in result ? result : undefined);
  return {
    name: operation.name?.value ?? 'anonymous',
    type: operation.operation,
    execute(context, variables) {
      const result = compiled.query(undefined, context, variables);
      return result instanceof Promise ? result : withData(result);
    },
  };
}

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
