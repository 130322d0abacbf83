// Converts errors to what clients see.

import { randomUUID } from 'node:crypto';
import { type GraphQLError, Kind, type SourceLocation } from 'graphql';
import type { Logger } from 'pino';
import type { ErrorCode, RefusalError } from '../../errors/codes.ts';
import {
  DocumentError,
  isGraphQLError,
  isInvalidValueError,
  truncateMessage,
  UNREADABLE,
} from '../../errors/located-error.ts';
import { toLoggedError } from '../../errors/logged-error.ts';
import { createCredentialFilter } from '../../lib/credential-filter.ts';
import { isRecord } from '../../lib/is-record.ts';
import { logEpisodes } from '../../lib/log-limits.ts';
import { memoize } from '../../lib/memoize.ts';
import { InvalidCall } from '../../upstream/endpoint.ts';
import { describeCause, isUpstreamError, type UpstreamError, type WriteOutcome } from '../../upstream/errors.ts';
import type { RequestState } from './parts.ts';

/** The `extensions` of errors in responses. Errors never have other members. */
interface ClientExtensions extends Omit<RefusalError, 'message'> {
  requestId: string | undefined;
  /** Outcome of the write; only on mutations. */
  outcome?: WriteOutcome;
  /** Present if the service stored the failure under the idempotency key, so that only a new key can succeed. */
  replayed?: true;
  /** Id of the failure in a log: the gateway's for INTERNAL_SERVER_ERROR, the upstream's for UPSTREAM_ERROR. */
  errorId?: string;
  /** Upstream call that failed. `route` is a template, without ids. */
  upstream?: { status?: number; method: string; route: string };
}

/** Entry of `errors[]`, with its members in the order in which they are written. */
export interface ClientError {
  message: string;
  locations?: readonly SourceLocation[];
  path?: readonly (string | number)[];
  extensions: ClientExtensions;
}

type ToClientError = (error: GraphQLError) => ClientError;

export type CreateClientErrors = (state: RequestState) => ToClientError;

/**
 * Creates the conversion of errors to what clients see, which happens only here. An `UpstreamError` is shown with its code and a client's
 * mistake with its message. An upstream value that GraphQL rejects becomes UPSTREAM_BAD_RESPONSE. Any other error is masked, and logged
 * with an error id.
 */
export function createClientErrors(logger: Logger, nameTenant: (credential: string) => string): CreateClientErrors {
  const noteFailure = logEpisodes(logger, { began: '', ended: FAILURE_ENDED });
  return ({ request, requestId, trace, identity, operation, context }) => {
    const traceIds = trace?.ids;
    const wasSent = (context?.usage.requests ?? 0) > 0;
    const isDisconnected = request.signal.aborted; // Which cancels its upstream calls.
    const isBrowser = identity?.clientKind === 'browser';
    const logged = new Set<string>();
    let isShowable: ((text: string) => boolean) | undefined;

    /**
     * Logs failures of the service and rejected keys of tenants, but not mistakes of the caller: the first of each kind at an endpoint, and when they have
     * ended. Counts each once per response, because a failed list can fail fifty fields. Lines never contain a body, an id or a key. The circuit breaker and
     * responses of something else have their own.
     */
    function log(error: UpstreamError, isRejectedKey: boolean): void {
      const { code, status: httpStatus, errorId, endpoint, message } = error;
      const hasOwnLine = error.isForeign || (code === 'UPSTREAM_UNAVAILABLE' && !error.sent);
      const failure = `${code} ${httpStatus} ${endpoint.method} ${endpoint.route}`;
      if (logged.has(failure) || hasOwnLine || !(isRejectedKey || code.startsWith('UPSTREAM_'))) {
        return;
      }
      logged.add(failure);
      const tenant = identity?.credential && nameTenant(identity.credential);
      const both = {
        upstream: identity?.upstreamName,
        ...(isRejectedKey && { tenant }),
        code,
        httpStatus,
        ...endpoint,
      };
      noteFailure(Object.values(both).join(' '), () => {
        const first = { requestId, ...traceIds, tenant, errorId, cause: describeCause(error.cause) };
        return { both, first, message };
      });
    }

    /** Returns the outcome of a write. An error without a path is UNKNOWN if anything was sent upstream, and one below the write's field always. */
    const outcomeOf = (error: GraphQLError, outcome: WriteOutcome): { outcome?: WriteOutcome } => {
      if (operation?.type !== 'mutation') {
        return {};
      }
      const { path } = error;
      const isUnknown = path === undefined ? wasSent : path.length > 1 || outcome === 'UNKNOWN';
      return { outcome: isUnknown ? 'UNKNOWN' : 'NOT_APPLIED' };
    };

    function mask(error: GraphQLError, original: unknown): ClientError {
      const errorId = randomUUID();
      const [node] = error.nodes ?? [];
      const field = node?.kind === Kind.FIELD ? node.name.value : undefined;
      // Once per text, because all items of a list can fail with the same.
      isShowable ??= memoize(createCredentialFilter({ credential: identity?.credential ?? '' }), 100);
      const err = toLoggedError(original, isShowable);
      logger.error({ requestId, ...traceIds, errorId, field, path: error.path, err }, 'unexpected error');
      const outcome = outcomeOf(error, original instanceof InvalidCall ? 'NOT_APPLIED' : 'UNKNOWN');
      const code: ErrorCode = 'INTERNAL_SERVER_ERROR';
      const extensions = { code, retryable: false, requestId, errorId, ...outcome } as const;
      return { message: 'Unexpected error.', ...pickPlace(error), extensions };
    }

    function toUpstreamClientError(error: GraphQLError, original: UpstreamError): ClientError {
      // The tenant's key was rejected, not the browser's token, so signing in again would not help.
      const isRejectedKey = isBrowser && original.code === 'UNAUTHENTICATED' && original.status === 401;
      if (!isDisconnected) {
        log(original, isRejectedKey);
      }
      const isRead = original.outcome === undefined && error.path?.length === 1; // Before any write.
      const extensions = { ...upstreamExtensions(original, requestId), ...(isRead && outcomeOf(error, 'NOT_APPLIED')) };
      return {
        message: original.message,
        ...pickPlace(error),
        extensions: isRejectedKey ? { ...extensions, code: 'FORBIDDEN' satisfies ErrorCode } : extensions,
      };
    }

    const convert: ToClientError = (error) => {
      const original = originalOf(error);
      if (isUpstreamError(original)) {
        return toUpstreamClientError(error, original);
      }
      const code = codeOf(error, original);
      if (code === undefined) {
        return mask(error, original);
      }
      const isBadResponse = code === 'UPSTREAM_BAD_RESPONSE';
      return {
        message: isInvalidValueError(original)
          ? 'The notification service sent an invalid value for this field.'
          : truncateMessage(error.message),
        ...pickPlace(error),
        extensions: {
          code,
          retryable: false,
          requestId,
          ...(code !== 'RESULT_LIMIT_EXCEEDED' && outcomeOf(error, isBadResponse ? 'UNKNOWN' : 'NOT_APPLIED')),
          ...readDetails(error.extensions),
        },
      };
    };

    return (error) => {
      try {
        return convert(error);
      } catch {
        return mask(error, new Error(UNREADABLE));
      }
    };
  };
}

/** Sentence for the end of failures of one kind. */
const FAILURE_ENDED = 'The service no longer fails in this way, or this endpoint is no longer called.';

/** Maximum locations of an error. A conflict of fields can have hundreds. */
const MAX_LOCATIONS = 10;

const pickPlace = ({ locations, path }: GraphQLError): Pick<ClientError, 'locations' | 'path'> => ({
  ...(Array.isArray(locations) && { locations: locations.slice(0, MAX_LOCATIONS) }),
  ...(path !== undefined && { path }),
});

/** Reads the details that the gateway's own errors add to their code. */
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

/** Maximum original errors within each other. An error can be its own. */
const MAX_ORIGINALS = 10;

/** Returns the innermost original error. Execution wraps a resolver's error, sometimes twice. */
function originalOf(error: GraphQLError): unknown {
  let inner: unknown = error;
  for (let i = 0; i < MAX_ORIGINALS && isGraphQLError(inner) && inner.originalError !== undefined; i += 1) {
    inner = inner.originalError;
  }
  return inner;
}

/** Returns the code of an error caused by the caller or the upstream. Returns undefined for a bug of the gateway. */
function codeOf(error: GraphQLError, original: unknown): string | undefined {
  if (isInvalidValueError(original)) {
    return 'UPSTREAM_BAD_RESPONSE';
  }
  if (!isGraphQLError(original) || !isRecord(original.extensions)) {
    return undefined; // Subclasses of GraphQLError may have no extensions.
  }
  const { code } = original.extensions;
  if (typeof code === 'string') {
    return code === 'INTERNAL_SERVER_ERROR' ? undefined : code;
  }
  // A variable (before execution) or an argument that doesn't match its type.
  return error.path === undefined || original instanceof DocumentError ? 'BAD_USER_INPUT' : undefined;
}

/** Returns the code that clients see. Conflicts and missing records have codes of their own only in result unions. */
const visibleCode = (error: UpstreamError): ErrorCode =>
  error.code === 'CONFLICT' || error.code === 'NOT_FOUND' ? 'UPSTREAM_ERROR' : error.code;

const upstreamExtensions = (error: UpstreamError, requestId: string | undefined): ClientExtensions => ({
  code: visibleCode(error),
  retryable: error.retryable,
  requestId,
  ...(error.retryAfterSeconds !== undefined && { retryAfterSeconds: error.retryAfterSeconds }),
  ...(error.outcome !== undefined && { outcome: error.outcome }),
  ...(error.isReplayed && { replayed: true }),
  ...(error.errorId !== undefined && { errorId: error.errorId }),
  ...(error.sent && {
    upstream: { ...(error.status !== undefined && { status: error.status }), ...error.endpoint },
  }),
});
