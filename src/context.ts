import type { YogaInitialContext } from 'graphql-yoga';
import type { Logger } from 'pino';
import { isCredential } from './credentials.ts';
import { createNotificationGroupLoader, type NotificationGroupLoader } from './loaders/notification-group-loader.ts';
import { createWorkflowLoader, type WorkflowLoader } from './loaders/workflow-loader.ts';
import type { BindCaller, Tally } from './upstream/client.ts';
import { bindUpstream, type Upstream } from './upstream/upstream.ts';

/** What the plugins learn about a request before it is an operation. */
export interface ServerContext {
  /** Set by `useRequestId`. */
  requestId?: string;
}

/** What resolvers work with; made anew for every operation, so that nothing is shared between callers. */
export interface GatewayContext {
  /** Names this request in the answer, the log and the upstream's log. */
  readonly requestId: string;
  /** What the operation has cost upstream so far. */
  readonly tally: Readonly<Tally>;
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

/** What every operation's context is made from. */
export interface ContextOptions {
  bindCaller: BindCaller;
  logger: Logger;
  now: () => Date;
  /** For one operation with all its upstream calls, in milliseconds. */
  operationTimeoutMs: number;
}

export const createContext =
  ({ bindCaller, logger, now, operationTimeoutMs }: ContextOptions) =>
  ({ request, requestId = 'unknown' }: YogaInitialContext & ServerContext): GatewayContext => {
    const authorization = request.headers.get('authorization') ?? undefined;
    const tally: Tally = { calls: 0, bulkItems: 0, requests: 0 };
    const client = bindCaller({
      authorization: authorization !== undefined && isCredential(authorization) ? authorization : undefined,
      signal: request.signal,
      deadlineAt: performance.now() + operationTimeoutMs,
      requestId,
      tally,
    });
    const upstream = bindUpstream(client);
    return {
      requestId,
      tally,
      upstream,
      loaders: {
        workflow: createWorkflowLoader(upstream),
        notificationGroup: createNotificationGroupLoader(upstream),
      },
      idempotencyKey: request.headers.get('idempotency-key') || undefined,
      logger,
      now,
    };
  };
