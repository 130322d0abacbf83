import { randomUUID } from 'node:crypto';
import { GraphQLError, type SourceLocation } from 'graphql';
import type { Logger } from 'pino';
import type { ClientKind } from '../auth/identity.ts';
import type { ErrorCode } from '../settings/error-codes.ts';
import { isUpstreamError, type UpstreamError, type WriteOutcome } from '../upstream/errors/errors.ts';
import { DocumentError, isInvalidValueError } from './executor/located-error.ts';

/** The `extensions` of every error a client sees: closed, nothing else gets through. */
export interface ClientExtensions {
  /** One of `settings/error-codes.ts`, or a plugin's own. */
  code: string;
  /** Whether sending the same again can help, and is safe. */
  retryable: boolean;
  requestId: string | undefined;
  retryAfterSeconds?: number;
  /** On writes: what became of the write. */
  outcome?: WriteOutcome;
  /** With UNAUTHENTICATED: what is wrong with the credential. */
  reason?: string;
  /** With FORBIDDEN: the scope that the token lacks. */
  scope?: string;
  /** Finds the failure in a log: ours for INTERNAL_SERVER_ERROR, the upstream's for UPSTREAM_ERROR. */
  errorId?: string;
  /** `route` is the template, without ids. */
  upstream?: { status?: number; method: string; route: string };
}

/** One entry of `errors[]`, in the order of its members. */
export interface ClientError {
  message: string;
  locations?: readonly SourceLocation[];
  path?: readonly (string | number)[];
  extensions: ClientExtensions;
}

/** What is known of the request that failed. */
export interface Circumstances {
  requestId: string | undefined;
  isMutation: boolean;
  /** Whether anything was sent upstream for it. */
  wasSent: boolean;
  /** Whether the client has left: its calls were ended on purpose. */
  isGone: boolean;
  /** Who asked, where that could be found out. */
  clientKind: ClientKind | undefined;
}

/** Turns the errors of one answer into what its client sees. */
export type ToClientError = (error: GraphQLError) => ClientError;

/** Made for every answer. */
export type CreateClientErrors = (circumstances: Circumstances) => ToClientError;

/**
 * The one place where errors become what a client sees: `UpstreamError` as its code says, bad requests as they are, upstream values
 * that GraphQL's own checks refuse as UPSTREAM_BAD_RESPONSE, and everything else masked and logged under an error id.
 */
export const createClientErrors =
  (logger: Logger): CreateClientErrors =>
  ({ requestId, isMutation, wasSent, isGone, clientKind }) => {
    const logged = new Set<string>();

    /** One line for each fault of an endpoint in an answer: a list that fails may fail fifty fields. */
    function logOnce(error: UpstreamError): void {
      const fault = `${error.code} ${error.status} ${error.endpoint.method} ${error.endpoint.route}`;
      if (!logged.has(fault)) {
        logged.add(fault);
        logUpstreamError(logger, error, requestId, clientKind);
      }
    }

    /** Of an error without a path, nothing was applied if nothing was sent; otherwise the write may have been applied. */
    const outcomeOf = (error: GraphQLError, known: WriteOutcome): { outcome?: WriteOutcome } => {
      if (!isMutation) {
        return {};
      }
      return { outcome: error.path === undefined ? (wasSent ? 'UNKNOWN' : 'NOT_APPLIED') : known };
    };

    function mask(error: GraphQLError, original: unknown): ClientError {
      const errorId = randomUUID();
      logger.error({ requestId, errorId, path: error.path, err: original }, 'unexpected error');
      const outcome = outcomeOf(error, 'UNKNOWN');
      const code: ErrorCode = 'INTERNAL_SERVER_ERROR';
      const extensions = { code, retryable: false, requestId, errorId, ...outcome } as const;
      return { message: 'Unexpected error.', ...placeOf(error), extensions };
    }

    function ofUpstream(error: GraphQLError, original: UpstreamError): ClientError {
      if (!isGone) {
        logOnce(original);
      }
      const extensions = upstreamExtensions(original, requestId);
      // A browser has no key that the service could refuse: signing in again would not help.
      const isRefusedKey = clientKind === 'browser' && original.code === 'UNAUTHENTICATED' && original.sent;
      return {
        message: original.message,
        ...placeOf(error),
        extensions: isRefusedKey ? { ...extensions, code: 'FORBIDDEN' satisfies ErrorCode } : extensions,
      };
    }

    return (error) => {
      const original = originalOf(error);
      if (isUpstreamError(original)) {
        return ofUpstream(error, original);
      }
      const code = codeOf(error, original);
      if (code === undefined) {
        return mask(error, original);
      }
      const isBroken = code === 'UPSTREAM_BAD_RESPONSE';
      return {
        message: isInvalidValueError(original)
          ? 'The notification service sent no valid value here.'
          : clip(error.message),
        ...placeOf(error),
        extensions: {
          code,
          retryable: false,
          requestId,
          ...(code !== 'RESULT_LIMIT_EXCEEDED' && outcomeOf(error, isBroken ? 'UNKNOWN' : 'NOT_APPLIED')),
          ...readDetails(error.extensions),
        },
      };
    };
  };

/** Maximum length of a message that can quote the request, in characters: documents and variables are long. */
const MAX_MESSAGE = 300;

const clip = (message: string): string =>
  message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE - 1).replace(/\p{Cs}$/u, '')}…`;

/** A conflict of fields can concern hundreds of places. */
const MAX_LOCATIONS = 10;

const placeOf = ({ locations, path }: GraphQLError): Pick<ClientError, 'locations' | 'path'> => ({
  ...(locations !== undefined && { locations: locations.slice(0, MAX_LOCATIONS) }),
  ...(path !== undefined && { path }),
});

/** What refusals of our own say besides their code; an operation's errors say nothing of the kind by themselves. */
function readDetails(extensions: GraphQLError['extensions'] | undefined): Partial<ClientExtensions> {
  const { retryable, retryAfterSeconds, reason, scope, outcome } = extensions ?? {};
  return {
    ...((outcome === 'NOT_APPLIED' || outcome === 'UNKNOWN') && { outcome }),
    ...(typeof retryable === 'boolean' && { retryable }),
    ...(typeof retryAfterSeconds === 'number' && { retryAfterSeconds }),
    ...(typeof reason === 'string' && { reason }),
    ...(typeof scope === 'string' && { scope }),
  };
}

/** The innermost cause: execution wraps what a resolver threw, some layers twice. */
function originalOf(error: GraphQLError): unknown {
  let inner: unknown = error;
  while (inner instanceof GraphQLError && inner.originalError !== undefined) {
    inner = inner.originalError;
  }
  return inner;
}

/** The code of an error that is the caller's or the upstream's fault; undefined: it is ours. */
function codeOf(error: GraphQLError, original: unknown): string | undefined {
  if (isInvalidValueError(original)) {
    return 'UPSTREAM_BAD_RESPONSE';
  }
  if (!(original instanceof GraphQLError)) {
    return undefined;
  }
  const code = original.extensions?.code; // One of a compiled operation may have none.
  if (typeof code === 'string') {
    return code === 'INTERNAL_SERVER_ERROR' ? undefined : code;
  }
  // A variable (before execution) or an argument that does not fit its type.
  return error.path === undefined || original instanceof DocumentError ? 'BAD_USER_INPUT' : undefined;
}

/** Codes as clients see them: of a conflict or a missing record outside a result union, only that the upstream refused. */
const visibleCode = (error: UpstreamError): ErrorCode =>
  error.code === 'CONFLICT' || error.code === 'NOT_FOUND' ? 'UPSTREAM_ERROR' : error.code;

const upstreamExtensions = (error: UpstreamError, requestId: string | undefined): ClientExtensions => ({
  code: visibleCode(error),
  retryable: error.retryable,
  requestId,
  ...(error.retryAfterSeconds !== undefined && { retryAfterSeconds: error.retryAfterSeconds }),
  ...(error.outcome !== undefined && { outcome: error.outcome }),
  ...(error.errorId !== undefined && { errorId: error.errorId }),
  ...(error.sent && {
    upstream: { ...(error.status !== undefined && { status: error.status }), ...error.endpoint },
  }),
});

/**
 * Faults of the service are worth an operator's eye, and so is a tenant's key that it refuses; what the caller did wrong is not. Never a
 * body, an id or a key.
 */
function logUpstreamError(
  logger: Logger,
  error: UpstreamError,
  requestId: string | undefined,
  clientKind: ClientKind | undefined,
): void {
  if (/^UPSTREAM_/.test(error.code) || (clientKind === 'browser' && error.code === 'UNAUTHENTICATED' && error.sent)) {
    const { code, status, errorId, endpoint, cause } = error;
    logger.warn({ requestId, code, status, errorId, ...endpoint, cause: describeCause(cause) }, error.message);
  }
}

function describeCause(cause: unknown): string | undefined {
  if (cause instanceof Error || cause instanceof DOMException) {
    const code: unknown = Reflect.get(cause, 'code');
    return typeof code === 'string' ? code : cause.message;
  }
  return typeof cause === 'string' ? cause : undefined;
}
