import type { ExecutionResult } from 'graphql';
import type { ClientError } from '../graphql/client-errors.ts';
import type { Operation } from './prepare.ts';

/** Body of a response. */
export interface ResponseBody {
  data?: ExecutionResult['data'];
  errors?: readonly ClientError[];
  extensions?: ExecutionResult['extensions'];
}

/**
 * Serializes a response within the size limit. The executor stops at an estimate of the size, which text outside of ASCII can exceed;
 * this counts bytes. Of a mutation, each root field reports an unknown outcome, unless it was not executed.
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
  const message = `The result is larger than ${maxBytes} bytes and was dropped. Ask for less, or use several operations.`;
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

/** Returns the error of a root field that was not executed, because execution had stopped before. */
const findNotApplied = (errors: readonly ClientError[] = [], name: string): ClientError | undefined =>
  errors.find(({ path, extensions }) => path?.length === 1 && path[0] === name && extensions.outcome === 'NOT_APPLIED');
