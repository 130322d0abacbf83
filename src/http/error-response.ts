import { GraphQLError } from 'graphql';
import type { ClientError, ToClientError } from '../graphql/client-errors.ts';
import { isRecord } from '../lib/is-record.ts';
import { Refusal, refusalErrors } from '../lib/refusal.ts';
import { InvalidDocument } from './prepare.ts';

/** Response to a request that was not executed. */
export interface ErrorResponse {
  status: number;
  headers: Readonly<Record<string, string>>;
  errors: readonly ClientError[];
}

/** Problems of the document or its variables, as opposed to requests that are not GraphQL at all. */
const OF_DOCUMENT = new Set<string>(['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED', 'BAD_USER_INPUT']);

/** Facts about the request. */
interface Circumstances {
  requestId: string;
  isMutation: boolean;
  /** Whether problems of the document are 200, as for responses of type `application/json` (GraphQL over HTTP, section 6.4.1). */
  acceptsOk: boolean;
}

/** Turns whatever stopped a request into its response. Refusals and GraphQL errors are shown; everything else is a bug. */
export function toErrorResponse(
  failure: unknown,
  toClientError: ToClientError,
  { requestId, isMutation, acceptsOk }: Circumstances,
): ErrorResponse {
  if (failure instanceof Refusal) {
    const errors = refusalErrors(failure, { requestId, ...(isMutation && { outcome: 'NOT_APPLIED' as const }) });
    return { status: failure.status, headers: failure.headers, errors };
  }
  const graphqlErrors = toGraphQLErrors(failure);
  const errors = graphqlErrors.map(toClientError);
  const isOfDocument = errors.every(({ extensions }) => OF_DOCUMENT.has(extensions.code));
  return {
    status: isOfDocument && acceptsOk ? 200 : Math.max(...errors.map((error, i) => statusOf(error, graphqlErrors[i]))),
    headers: Object.assign({}, ...graphqlErrors.map(headersOf)),
    errors,
  };
}

function toGraphQLErrors(failure: unknown): readonly GraphQLError[] {
  if (failure instanceof InvalidDocument) {
    return failure.errors;
  }
  if (failure instanceof GraphQLError) {
    return [failure];
  }
  if (Array.isArray(failure) && failure.length > 0 && failure.every((error) => error instanceof GraphQLError)) {
    return failure;
  }
  const originalError = failure instanceof Error ? failure : new Error(`not an error: ${String(failure)}`);
  return [new GraphQLError('Unexpected error.', { originalError })];
}

/** Yoga's convention: plugins put a status and headers into `extensions.http`. */
const httpOf = (error: GraphQLError | undefined): Record<string, unknown> =>
  isRecord(error?.extensions.http) ? error.extensions.http : {};

function statusOf({ extensions }: ClientError, error: GraphQLError | undefined): number {
  const { status } = httpOf(error);
  if (typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599) {
    return status;
  }
  return extensions.code === 'INTERNAL_SERVER_ERROR' ? 500 : 400;
}

const headersOf = (error: GraphQLError): Record<string, string> => {
  const { headers } = httpOf(error);
  return isRecord(headers)
    ? Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
    : {};
};
