// Creates the context of each operation, with its caller, upstream client, loaders and deadline.

import type { YogaInitialContext } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { Identity } from '../auth/identity.ts';
import type { Deadline, Signal } from '../lib/signal.ts';
import type { AuditLog } from '../telemetry/audit-log.ts';
import type { GatewayMetrics } from '../telemetry/gateway-metrics.ts';
import type { OperationTrace } from '../telemetry/tracing/operation-trace.ts';
import { type NoteEpisode, Usage } from '../telemetry/usage.ts';
import type { CallBudget, OperationWrites, UpstreamClient } from '../upstream/client.ts';
import { readToTryKey } from '../upstream/endpoints.ts';
import { errorOf } from '../upstream/errors.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import { Explainer } from './calls/explainer.ts';
import { FieldCallCounts } from './calls/field-calls.ts';
import { type Loaders, OperationLoaders } from './loaders.ts';

/** Parameters of the operation and its request, for plugins. The request has no body, because it was already read. */
type PluginContext = Pick<YogaInitialContext, 'params' | 'request'>;

/** Context of one operation. Each operation has its own, so that callers share nothing. */
export interface GatewayContext extends PluginContext {
  /** Id of this request in the response, the gateway's log and the upstream's log. */
  readonly requestId: string;
  readonly identity: Identity;
  /** Cost of the upstream calls made for the operation so far. */
  readonly usage: Usage;
  /** Calls that the operation has made, none if it is only explained. */
  readonly budget: Readonly<CallBudget>;
  /** Client of the service, with the caller's credential. Only the resolver of a mutation's field can write. */
  readonly upstream: UpstreamClient;
  /**
   * Tries the caller's API key with a read, which fails if the service doesn't accept it. Returns undefined if the service has accepted it within the last
   * minute, or the gateway has verified a token. For fields that may answer without a call, because only the service knows its keys.
   *
   * Fails with UNAUTHENTICATED if the operation is only explained, because then nothing is sent.
   */
  readonly tryKey: () => Promise<unknown> | undefined;
  readonly writes: OperationWrites;
  /** Ends the operation, whatever its resolvers do. */
  readonly deadline: Deadline;
  readonly loaders: Loaders;
  /** Calls by field; undefined unless the request asks for a report of its calls. */
  readonly fieldCalls?: FieldCallCounts | undefined;
  /** Whether the operation is only explained: what a resolver does itself, such as a request to another service, must not happen. */
  readonly isExplained: boolean;
  /** Explains the operation; undefined if it is executed. */
  readonly explainer: Explainer | undefined;
  /** `Idempotency-Key` header of the request: the default of every input's `idempotencyKey`. */
  readonly idempotencyKey: string | undefined;
  readonly logger: Logger;
  readonly now: () => Date;
}

export interface OperationRequest {
  identity: Identity;
  idempotencyKey: string | undefined;
  requestId: string;
  /** Trace of the operation; undefined if there is none. */
  trace: OperationTrace | undefined;
  /** IP address of the client; undefined if it is not logged. */
  address: string | undefined;
  /** Aborted when the client disconnects. */
  signal: Signal;
  /** Whether reads use no stored responses. */
  bypassesCache: boolean;
  reportsCalls: boolean;
  /** Whether the operation is only explained: nothing is sent upstream. */
  isExplained: boolean;
}

const UNTRIED_KEY =
  'This field is explained only for an API key that the service has accepted within the last minute. Send an operation that calls it first.';

export type CreateContext = (operation: OperationRequest, plugins: PluginContext) => GatewayContext;

export function createContextFactory(options: {
  upstreams: Pick<Upstreams, 'bind' | 'hasAccepted' | 'record'>;
  logger: Logger;
  now: () => Date;
  /** Maximum time for one operation with all its upstream calls, in milliseconds. */
  operationTimeoutMs: number;
  /** Whether the log names the REST calls of each operation. */
  logsCalls: boolean;
  metrics: GatewayMetrics;
  noteEpisode: NoteEpisode;
  audit: AuditLog | undefined;
}): CreateContext {
  const { upstreams, noteEpisode, logsCalls, logger, now } = options;
  return (operation, { params, request }) => {
    const { identity, requestId, trace, address } = operation;
    const { credential, upstreamName } = identity;
    const usage = new Usage({
      metrics: options.metrics,
      usesTenantKey: identity.clientKind === 'browser',
      noteEpisode,
      upstreamName,
      trace,
      audit: options.audit && { log: options.audit, identity, address },
      logsCalls,
    });
    const writes: OperationWrites = { ofField: undefined };
    const explainer = operation.isExplained
      ? new Explainer(upstreams.record(upstreamName, { credential, requestId, writes }))
      : undefined;
    const client = upstreams.bind(upstreamName, {
      credential,
      signal: operation.signal,
      deadlineAt: performance.now() + options.operationTimeoutMs,
      requestId,
      events: usage,
      bypassesCache: operation.bypassesCache,
      writes,
    });
    const upstream = explainer?.client ?? client;
    const fieldCalls = operation.reportsCalls ? new FieldCallCounts(client, client.budget) : undefined;
    const tryKey = () => {
      if (identity.clientKind !== 'server' || upstreams.hasAccepted(upstreamName, identity.credential)) {
        return undefined;
      }
      return explainer === undefined
        ? client.read(readToTryKey, {})
        : Promise.reject(errorOf('missingCredential', readToTryKey, { message: UNTRIED_KEY }));
    };
    return {
      requestId,
      identity,
      usage,
      budget: client.budget,
      upstream,
      tryKey,
      writes,
      deadline: client.deadline,
      loaders: new OperationLoaders(upstream, explainer ?? fieldCalls),
      fieldCalls,
      isExplained: operation.isExplained,
      explainer,
      idempotencyKey: operation.idempotencyKey || undefined,
      logger,
      now,
      params,
      request,
    };
  };
}
