import type { CallToolResult } from '@modelcontextprotocol/server';
import { isRecord } from '../../lib/is-record.ts';
import { ERROR_CODES, isErrorCode } from '../../settings/error-codes.ts';
import { withoutMarkdown } from '../../settings/markdown.ts';
import type { OutgoingResponse } from '../request.ts';

/** Maximum errors whose messages are written out. The structured result has all of them. */
const MAX_ERRORS = 5;

/**
 * Converts the response to a GraphQL request to the result of a tool. The structured result is the GraphQL response. The text is its data, or for an
 * error its messages and what to do.
 *
 * @param failures types of mutation results that are failures, and their codes
 */
export function toToolResult({ body }: OutgoingResponse, failures: ReadonlySet<unknown>): CallToolResult {
  const response: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
  if (!isRecord(response)) {
    throw new TypeError('The response to a tool call is not a GraphQL response.');
  }
  const { data } = response;
  const errors = Array.isArray(response.errors) ? response.errors.filter(isRecord) : [];
  const hasData = isRecord(data) && Object.values(data).some((value) => value !== null);
  const texts = [
    ...errors.slice(0, MAX_ERRORS).map(explain),
    ...(errors.length === 0 || hasData ? [JSON.stringify(data)] : []),
  ];
  const isFailure = (value: unknown) => isRecord(value) && (failures.has(value.code) || failures.has(value.__typename));
  const isError = errors.length > 0 || (isRecord(data) && Object.values(data).some(isFailure));
  return {
    content: [{ type: 'text', text: texts.join('\n') }],
    structuredContent: response,
    ...(isError && { isError }),
  };
}

/** Returns the message of an error, and what an agent can do about it. */
function explain({ message, extensions }: Record<string, unknown>): string {
  const { code, retryable, retryAfterSeconds, outcome } = isRecord(extensions) ? extensions : {};
  const advice =
    outcome === 'UNKNOWN'
      ? 'Read the record before you call the tool again.'
      : advise(code, retryable === true, retryAfterSeconds);
  return [
    toSentence(String(message)),
    ...(outcome === 'NOT_APPLIED' ? ['The change was not applied.'] : []),
    advice,
  ].join(' ');
}

const toSentence = (message: string): string => (/[.!?]$/.test(message) ? message : `${message}.`);

function advise(code: unknown, retryable: boolean, retryAfterSeconds: unknown): string {
  if (retryable) {
    return typeof retryAfterSeconds === 'number'
      ? `Call the tool again in ${retryAfterSeconds} s.`
      : 'Calling the tool again can succeed.';
  }
  return isErrorCode(code) && ERROR_CODES[code].retryable === false
    ? withoutMarkdown(ERROR_CODES[code].remedy)
    : 'Do not call the tool again with the same arguments.';
}
