import type { GraphQLSchema } from 'graphql';
import type { ReadRequiredScopes } from '../graphql/required-scopes.ts';
import type { CheckDocument } from '../plugins/check-document.ts';
import { createCompile, type PreparedOperation } from './compile.ts';

export interface PreparedOperationsOptions {
  schema: GraphQLSchema;
  check: CheckDocument;
  readRequiredScopes: ReadRequiredScopes;
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

/** What an operation can be called (GraphQL, 2.1.9): with anything else, two different requests could have one key. */
const NAME = /^[_A-Za-z]\w{0,99}$/; // A longer one is no frontend's.

/** The count of what was refused: it will be refused again. */
const NEVER = Number.NEGATIVE_INFINITY;

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
  readRequiredScopes,
  compileAfter = 3,
  maxOperations = 200,
}: PreparedOperationsOptions): PreparedOperations {
  const compile = createCompile(schema, readRequiredScopes);
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
    const operation = document && compile(document, operationName);
    if (operation === undefined) {
      candidates.set(key, NEVER);
    } else {
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
      if (text.length > MAX_TEXT || (operationName !== undefined && !NAME.test(operationName))) {
        return undefined;
      }
      const key = operationName === undefined ? text : `${operationName}\0${text}`; // No name holds a NUL.
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
