// Makes upstream calls as operations do, and records their events.

import type { Signal } from '../../src/lib/signal.ts';
import type { GatewaySettings } from '../../src/settings/settings.ts';
import { Usage } from '../../src/telemetry/usage.ts';
import { BoundedClient } from '../../src/upstream/calls/bounded-client.ts';
import { Service, type ServiceDeps } from '../../src/upstream/calls/service.ts';
import type { CallEvents, Outcome, UpstreamRequest } from '../../src/upstream/calls.ts';
import {
  createFeed,
  getNotificationStats,
  getWorkflow,
  listNotificationGroups,
  updateWorkflowStatus,
} from '../../src/upstream/endpoints.ts';
import { isUpstreamError, type UpstreamError } from '../../src/upstream/errors.ts';
import { SocketPool } from '../../src/upstream/transport/socket-pool.ts';
import { workflow } from './records.ts';
import { type Connection, type Script, type ServiceRequest, startService } from './service.ts';
import { settingsOf } from './settings.ts';

/** Options of one operation. */
export interface CallerOptions {
  /** @default never aborted */
  signal?: Signal;
  /** Person who shares the key. @default a server */
  person?: string;
  /** Time until its deadline, in milliseconds. @default 5,000 */
  withinMs?: number;
  /** @default not asserted */
  events?: CallEvents;
}

/** Starts the upstream client without a gateway, so that the test controls callers and deadlines. */
export async function startClient(
  script: Script,
  changes: Partial<GatewaySettings> = {},
  deps: Pick<ServiceDeps, 'random' | 'monotonicNow' | 'breakerMinimumCalls'> = {},
) {
  const upstream = await startService(script);
  const settings = settingsOf(upstream.url, changes);
  const pool = new SocketPool(upstream.url, settings);
  const service = new Service(settings, { pool, ...deps });
  const operation = (
    key: string,
    { signal = new AbortController().signal, person, withinMs = 5_000, events = new Usage() }: CallerOptions = {},
  ) => {
    const deadlineAt = performance.now() + withinMs;
    return new BoundedClient(settings, service, {
      credential: `ApiKey ${key}`,
      person,
      signal,
      deadlineAt,
      requestId: 'r',
      events,
    });
  };
  return {
    upstream,
    service,
    pool,
    /** Lets the service accept keys. Until then, one call with each is in flight at a time. */
    async accept(...keys: string[]): Promise<void> {
      const { script: prepared } = upstream;
      upstream.script = () => ({ body: { data: [] } });
      for (const key of keys) {
        await operation(key).read(listNotificationGroups, {});
      }
      upstream.script = prepared;
      upstream.forget();
    },
    /** Creates the client of one operation. */
    operation,
    /** Creates one with a function for each endpoint that tests call. */
    caller(key: string, options?: CallerOptions) {
      const client = operation(key, options);
      return {
        getWorkflow: (id: string) => client.read(getWorkflow, { workflowIdOrIdentifier: id }),
        updateWorkflowStatus: (id: string, active: boolean) =>
          client.write(updateWorkflowStatus, { workflowId: id, body: { active } }),
        getNotificationStats: (days: number) => client.read(getNotificationStats, { query: { days } }),
        createFeed: (name: string, idempotencyKey?: string) =>
          client.write(createFeed, { body: { name }, idempotencyKey }),
      };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([pool.close(), upstream[Symbol.asyncDispose]()]);
    },
  };
}

/** Creates a script that keeps requests pending until the test responds to them. */
export function deferResponses() {
  const pending: { request: ServiceRequest; connection: Connection }[] = [];
  return {
    pending,
    script: (request: ServiceRequest, connection: Connection) => void pending.push({ request, connection }),
  };
}

/** Responds to a pending request with a workflow. */
export const respondWithName = (pending: { connection: Connection } | undefined, name: string) =>
  pending?.connection.answer({ body: { data: workflow({ name }) } });

/** Returns the code of a failure. */
export const codeOf = (failure: unknown): unknown => Reflect.get(Object(failure), 'code');

/** Records the events of one operation as texts, such as `sent 0` and `ended 200`. */
export class RecordedEvents implements CallEvents {
  readonly all: string[] = [];
  /** Reason why writes can't be recorded. @default none */
  refused: UpstreamError | undefined;
  #changed = Promise.withResolvers<void>();

  /** Waits for an event. */
  async until(event: string): Promise<void> {
    while (!this.all.includes(event)) {
      await this.#changed.promise;
    }
  }

  started(_request: UpstreamRequest, isShared: boolean): void {
    this.#add(isShared ? 'started shared' : 'started');
  }

  queued(): void {
    this.#add('queued');
  }

  dequeued(): void {
    this.#add('dequeued');
  }

  refusal(): UpstreamError | undefined {
    return this.refused;
  }

  attemptBegan(): undefined {}

  sent(_request: UpstreamRequest, resends: number): void {
    this.#add(`sent ${resends}`);
  }

  attemptEnded(_request: UpstreamRequest, outcome: Outcome): void {
    this.#add(`attempt ended ${nameOf(outcome)}`);
  }

  retryDelayed(): void {
    this.#add('retry delayed');
  }

  ended(_request: UpstreamRequest, outcome: Outcome, isShared: boolean): void {
    this.#add(`ended ${isShared ? 'shared ' : ''}${nameOf(outcome)}`);
  }

  answeredFromCache(): void {
    this.#add('answered from cache');
  }

  cacheMissed(): void {
    this.#add('cache missed');
  }

  invalidated(): void {
    this.#add('invalidated');
  }

  inBackground(): CallEvents {
    return new RecordedEvents();
  }

  #add(event: string): void {
    this.all.push(event);
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

const nameOf = (outcome: Outcome): string => (isUpstreamError(outcome) ? outcome.code : String(outcome.status));
