import type { ExecutionResult } from 'graphql';
import type { ClientError } from '../graphql/client-errors.ts';
import type { Operation } from './prepare.ts';

/** Body of a GraphQL response. */
export interface ResponseBody {
  data?: ExecutionResult['data'];
  errors?: readonly ClientError[];
  extensions?: ExecutionResult['extensions'];
}

/**
 * Serializes a response. If it exceeds the maximum size, its data is replaced by an error. The executor already stops at an estimated size,
 * which non-ASCII text can exceed; this counts bytes. In a mutation, each executed root field gets an error with an unknown outcome.
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
  const extensions = { code: 'RESULT_LIMIT_EXCEEDED', retryable: false, requestId } as const;
  const rootFields = type === 'mutation' ? Object.keys(body.data ?? {}) : [];
  const errors: readonly ClientError[] =
    rootFields.length === 0
      ? [{ message, extensions }]
      : rootFields.map(
          (name) =>
            findNotApplied(body.errors, name) ?? {
              message,
              path: [name],
              extensions: { ...extensions, outcome: 'UNKNOWN' },
            },
        );
  const data = type === 'mutation' ? Object.fromEntries(rootFields.map((name) => [name, null])) : null;
  return { text: JSON.stringify({ data, errors }), errors };
}

/** Returns the error of a root field that was not executed because execution had already stopped. */
const findNotApplied = (errors: readonly ClientError[] = [], name: string): ClientError | undefined =>
  errors.find(({ path, extensions }) => path?.length === 1 && path[0] === name && extensions.outcome === 'NOT_APPLIED');
