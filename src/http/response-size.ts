import type { ExecutionResult } from 'graphql';
import type { ClientError } from '../graphql/client-errors.ts';
import type { Operation } from './prepare.ts';

/** Body of a GraphQL response. */
export interface ResponseBody {
  data?: ExecutionResult['data'];
  errors?: readonly ClientError[];
  extensions?: { upstream?: unknown; [name: string]: unknown };
}

/**
 * Serializes a response. If it exceeds the maximum size, its data is replaced by an error. The executor already stops at an estimated size,
 * which non-ASCII text can exceed; this counts bytes. In a mutation, each executed root field gets an error with an unknown outcome. The report of
 * upstream calls is kept, because they were made.
 *
 * @param type type of the operation; undefined if it was not executed
 */
export function limitSize(
  body: ResponseBody,
  maxBytes: number,
  requestId: string,
  type: Operation['type'] | undefined,
): { text: string; errors: readonly ClientError[] | undefined } {
  const text = JSON.stringify(body);
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) {
    return { text, errors: body.errors };
  }
  const message = `The result is larger than ${maxBytes} bytes and was dropped. Request less data, or use several operations.`;
  const details = { code: 'RESULT_LIMIT_EXCEEDED', retryable: false, requestId } as const;
  const rootFields = type === 'mutation' ? Object.keys(body.data ?? {}) : [];
  const errors: readonly ClientError[] =
    rootFields.length === 0
      ? [{ message, extensions: details }]
      : rootFields.map(
          (name) =>
            findNotApplied(body.errors, name) ?? {
              message,
              path: [name],
              extensions: { ...details, outcome: 'UNKNOWN' },
            },
        );
  const data = type === 'mutation' ? Object.fromEntries(rootFields.map((name) => [name, null])) : null;
  const { upstream } = body.extensions ?? {};
  return {
    text: JSON.stringify({ data, errors, ...(upstream !== undefined && { extensions: { upstream } }) }),
    errors,
  };
}

/** Returns the error of a root field that was not executed because execution had already stopped. */
const findNotApplied = (errors: readonly ClientError[] = [], name: string): ClientError | undefined =>
  errors.find(({ path, extensions }) => path?.length === 1 && path[0] === name && extensions.outcome === 'NOT_APPLIED');
