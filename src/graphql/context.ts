import type { YogaInitialContext } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { Identity } from '../auth/identity.ts';
import { CallLog } from '../upstream/call-log.ts';
import type { BindCaller, Usage } from '../upstream/client.ts';
import type { Signal } from '../upstream/transport/signal.ts';
import { bindUpstream, type Upstream } from '../upstream/upstream.ts';
import { createNotificationGroupLoader, type NotificationGroupLoader } from './loaders/notification-group-loader.ts';
import { createWorkflowLoader, type WorkflowLoader } from './loaders/workflow-loader.ts';

/** Parameters of the operation and its request, for plugins. The request has no body, because it was already read. */
export type PluginContext = Pick<YogaInitialContext, 'params' | 'request'>;

/** Context of one operation. Each operation has its own, so that callers share nothing. */
export interface GatewayContext extends PluginContext {
  /** Id of this request in the response, the gateway's log and the upstream's log. */
  readonly requestId: string;
  /** Identity of the caller. */
  readonly identity: Identity;
  /** Upstream calls made for the operation so far. */
  readonly usage: Readonly<Usage>;
  /** The endpoints, called with the caller's credential. */
  readonly upstream: Upstream;
  /** Loaders that batch and cache reads of the operation. */
  readonly loaders: Loaders;
  /** `Idempotency-Key` header of the request: the default of every input's `idempotencyKey`. */
  readonly idempotencyKey: string | undefined;
  readonly logger: Logger;
  /** Returns the current time. */
  readonly now: () => Date;
}

/** Loaders of one operation. They cache only for that operation. */
export interface Loaders {
  readonly workflow: WorkflowLoader;
  readonly notificationGroup: NotificationGroupLoader;
}

/** Creates each loader on first use, because most operations need only one of them. */
class OperationLoaders implements Loaders {
  readonly #upstream: Upstream;
  #workflow: WorkflowLoader | undefined;
  #notificationGroup: NotificationGroupLoader | undefined;

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
  }

  get workflow(): WorkflowLoader {
    this.#workflow ??= createWorkflowLoader(this.#upstream);
    return this.#workflow;
  }

  get notificationGroup(): NotificationGroupLoader {
    this.#notificationGroup ??= createNotificationGroupLoader(this.#upstream);
    return this.#notificationGroup;
  }
}

/** Options shared by the contexts of all operations. */
export interface ContextOptions {
  /** Creates the upstream client of an operation. */
  bindCaller: BindCaller;
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
  /** Aborted when the client disconnects. */
  signal: Signal;
}

/** Creates the context of one operation. */
export type CreateContext = (request: OperationRequest, plugins: PluginContext) => GatewayContext;

/** Creates a function that creates the context of each operation. */
export const createContextFactory =
  ({ bindCaller, logger, now, operationTimeoutMs, logsCalls }: ContextOptions): CreateContext =>
  ({ identity, idempotencyKey, requestId, signal }, { params, request }) => {
    const usage: Usage = { calls: 0, bulkItems: 0, requests: 0 };
    if (logsCalls) {
      usage.log = new CallLog();
    }
    const client = bindCaller({
      authorization: identity.credential,
      signal,
      deadlineAt: performance.now() + operationTimeoutMs,
      requestId,
      usage,
    });
    const upstream = bindUpstream(client);
    return {
      requestId,
      identity,
      usage,
      upstream,
      loaders: new OperationLoaders(upstream),
      idempotencyKey: idempotencyKey || undefined,
      logger,
      now,
      params,
      request,
    };
  };
