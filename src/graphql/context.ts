import type { YogaInitialContext } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { Identity } from '../auth/identity.ts';
import type { BindCaller, Usage } from '../upstream/client.ts';
import type { Signal } from '../upstream/transport/signal.ts';
import { bindUpstream, type Upstream } from '../upstream/upstream.ts';
import { createNotificationGroupLoader, type NotificationGroupLoader } from './loaders/notification-group-loader.ts';
import { createWorkflowLoader, type WorkflowLoader } from './loaders/workflow-loader.ts';

/** Parameters of the operation and its request, for plugins. The request has no body, for it was read. */
export type PluginContext = Pick<YogaInitialContext, 'params' | 'request'>;

/** Context of one operation, made anew for each so that nothing is shared between callers. */
export interface GatewayContext extends PluginContext {
  /** Names this request in the answer, the log and the upstream's log. */
  readonly requestId: string;
  /** Who asks. */
  readonly identity: Identity;
  /** What the operation has cost upstream so far. */
  readonly usage: Readonly<Usage>;
  /** The twelve endpoints, as the caller reaches them. */
  readonly upstream: Upstream;
  readonly loaders: Loaders;
  /** The request header `Idempotency-Key`: the default of every input's `idempotencyKey`. */
  readonly idempotencyKey: string | undefined;
  readonly logger: Logger;
  /** The current time. */
  readonly now: () => Date;
}

/** Each remembers for one operation alone. */
export interface Loaders {
  readonly workflow: WorkflowLoader;
  readonly notificationGroup: NotificationGroupLoader;
}

/** Makes each loader when it is needed: most operations need one of them. */
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

/** What every operation's context is made from. */
export interface ContextOptions {
  bindCaller: BindCaller;
  logger: Logger;
  now: () => Date;
  /** For one operation with all its upstream calls, in milliseconds. */
  operationTimeoutMs: number;
}

/** What an operation's context takes from its request. */
export interface OperationRequest {
  identity: Identity;
  /** The header `Idempotency-Key`. */
  idempotencyKey: string | undefined;
  requestId: string;
  /** Aborted when the client is gone. */
  signal: Signal;
}

export type CreateContext = (request: OperationRequest, plugins: PluginContext) => GatewayContext;

export const createContextFactory =
  ({ bindCaller, logger, now, operationTimeoutMs }: ContextOptions): CreateContext =>
  ({ identity, idempotencyKey, requestId, signal }, { params, request }) => {
    const usage: Usage = { calls: 0, bulkItems: 0, requests: 0 };
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
