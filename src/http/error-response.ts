import { GraphQLError } from 'graphql';
import type { ClientError, ToClientError } from '../graphql/client-errors.ts';
import { isRecord } from '../lib/is-record.ts';
import { Refusal, refusalErrors } from '../lib/refusal.ts';
import { InvalidDocument } from './prepare.ts';

/** Content of a response to a request that was not executed. */
export interface ErrorResponse {
  status: number;
  headers: Readonly<Record<string, string>>;
  errors: readonly ClientError[];
}

/** Codes of errors in the document or its variables, as opposed to errors in the HTTP request. */
const DOCUMENT_ERROR_CODES = new Set<string>(['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED', 'BAD_USER_INPUT']);

/** Options of `toErrorResponse`. */
interface ErrorResponseOptions {
  requestId: string;
  isMutation: boolean;
  /** Whether errors in the document have status 200, as in responses of type `application/json` (GraphQL over HTTP, section 6.4.1). */
  allowsStatus200: boolean;
}

/** Converts a thrown value to a response. The client sees refusals and GraphQL errors; everything else is a bug and masked. */
export function toErrorResponse(
  failure: unknown,
  toClientError: ToClientError,
  { requestId, isMutation, allowsStatus200 }: ErrorResponseOptions,
): ErrorResponse {
  if (failure instanceof Refusal) {
    const errors = refusalErrors(failure, { requestId, ...(isMutation && { outcome: 'NOT_APPLIED' as const }) });
    return { status: failure.status, headers: failure.headers, errors };
  }
  const graphqlErrors = toGraphQLErrors(failure);
  const errors = graphqlErrors.map(toClientError);
  const areDocumentErrors = errors.every(({ extensions }) => DOCUMENT_ERROR_CODES.has(extensions.code));
  return {
    status:
      areDocumentErrors && allowsStatus200
        ? 200
        : Math.max(...errors.map((error, i) => statusOf(error, graphqlErrors[i]))),
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
  const originalError =
    failure instanceof Error ? failure : new Error(`thrown value is not an error: ${String(failure)}`);
  return [new GraphQLError('Unexpected error.', { originalError })];
}

/** Returns `extensions.http`, in which Yoga plugins set a status and headers. */
const httpExtensionOf = (error: GraphQLError | undefined): Record<string, unknown> =>
  isRecord(error?.extensions.http) ? error.extensions.http : {};

function statusOf({ extensions }: ClientError, error: GraphQLError | undefined): number {
  const { status } = httpExtensionOf(error);
  if (typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599) {
    return status;
  }
  return extensions.code === 'INTERNAL_SERVER_ERROR' ? 500 : 400;
}

const headersOf = (error: GraphQLError): Record<string, string> => {
  const { headers } = httpExtensionOf(error);
  return isRecord(headers)
    ? Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
    : {};
};
