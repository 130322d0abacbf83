import type { YogaInitialContext } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { Identity } from '../auth/identity.ts';
import { CallLog } from '../upstream/call-log.ts';
import { CallTimer } from '../upstream/call-timer.ts';
import type { Usage } from '../upstream/client.ts';
import type { Signal } from '../upstream/signal.ts';
import type { CallTrace } from '../upstream/transport/call-trace.ts';
import { bindUpstream, type Upstream } from '../upstream/upstream.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import type { WriteAuthor } from '../upstream/write-audit.ts';
import type { DeprecatedUsage } from './documents/use-deprecated-usage.ts';
import { Explainer } from './explain/explainer.ts';
import { FieldCalls } from './field-calls.ts';
import { type Loaders, OperationLoaders } from './loaders/loaders.ts';

/** Parameters of the operation and its request, for plugins. The request has no body, because it was already read. */
export type PluginContext = Pick<YogaInitialContext, 'params' | 'request'>;

/** Context of one operation. Each operation has its own, so that callers share nothing. */
export interface GatewayContext extends PluginContext, DeprecatedUsage {
  /** Id of this request in the response, the gateway's log and the upstream's log. */
  readonly requestId: string;
  /** Identity of the caller. */
  readonly identity: Identity;
  /** Upstream calls made for the operation so far. */
  readonly usage: Readonly<Usage>;
  /** Author of writes, for the audit log. */
  readonly author: WriteAuthor;
  /** The endpoints, called with the caller's credential. */
  readonly upstream: Upstream;
  /** Loaders that batch and cache reads of the operation. */
  readonly loaders: Loaders;
  /** Calls by field; undefined unless the request asks for a report of its calls. */
  readonly fieldCalls?: FieldCalls | undefined;
  /** Explains the operation; undefined if it is executed. */
  readonly explainer: Explainer | undefined;
  /** `Idempotency-Key` header of the request: the default of every input's `idempotencyKey`. */
  readonly idempotencyKey: string | undefined;
  readonly logger: Logger;
  /** Returns the current time. */
  readonly now: () => Date;
}

/** Options shared by the contexts of all operations. */
export interface ContextOptions {
  /** Services that operations can call. */
  upstreams: Pick<Upstreams, 'bind' | 'record'>;
  logger: Logger;
  /** Returns the current time. */
  now: () => Date;
  /** Maximum time for one operation with all its upstream calls, in milliseconds. */
  operationTimeoutMs: number;
  /** Whether the log names the REST calls of each operation. */
  logsCalls: boolean;
}

/** Parts of a request that its operation's context needs. */
export interface OperationRequest {
  /** Identity of the caller. */
  identity: Identity;
  /** `Idempotency-Key` header. */
  idempotencyKey: string | undefined;
  /** Id of the request in the response and the logs. */
  requestId: string;
  /** Trace of the operation; undefined if there is none. */
  trace: CallTrace | undefined;
  /** Aborted when the client disconnects. */
  signal: Signal;
  /** Whether reads use no stored responses. */
  bypassesCache: boolean;
  /** Whether the response reports the calls. */
  reportsCalls: boolean;
  /** Whether the operation is only explained: nothing is sent upstream. */
  isExplained: boolean;
}

/** Creates the context of one operation. */
export type CreateContext = (request: OperationRequest, plugins: PluginContext) => GatewayContext;

/** Creates a function that creates the context of each operation. */
export const createContextFactory =
  ({ upstreams, logger, now, operationTimeoutMs, logsCalls }: ContextOptions): CreateContext =>
  (
    { identity, idempotencyKey, requestId, trace, signal, bypassesCache, reportsCalls, isExplained },
    { params, request },
  ) => {
    const usage: Usage = { calls: 0, bulkItems: 0, requests: 0 };
    if (logsCalls) {
      usage.log = new CallLog();
    }
    if (trace !== undefined) {
      usage.trace = trace;
    }
    if (reportsCalls) {
      usage.timer = new CallTimer();
    }
    const author: WriteAuthor = { identity, traceIds: trace?.ids, field: undefined };
    const { credential: authorization } = identity;
    const explainer = isExplained
      ? new Explainer(upstreams.record(identity.upstream, { authorization, requestId }))
      : undefined;
    const client =
      explainer?.client ??
      upstreams.bind(identity.upstream, {
        authorization,
        signal,
        deadlineAt: performance.now() + operationTimeoutMs,
        requestId,
        usage,
        bypassesCache,
        author,
      });
    const upstream = bindUpstream(client);
    const fieldCalls = reportsCalls ? new FieldCalls(client, usage) : undefined;
    return {
      requestId,
      identity,
      usage,
      author,
      upstream,
      loaders: new OperationLoaders(fieldCalls?.loaderEndpoints() ?? upstream, fieldCalls?.takeFromList),
      fieldCalls,
      explainer,
      idempotencyKey: idempotencyKey || undefined,
      logger,
      now,
      params,
      request,
    };
  };
