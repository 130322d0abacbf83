// Starts gateways in front of a failing service, and checks that they recover.

import { createHook } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from 'vitest';
import type { ServerSettings } from '../../packages/cli/src/server/settings.ts';
import type { GatewayOptions } from '../../src/gateway.ts';
import { startGateway } from './gateway.ts';
import { healthyResponse } from './healthy-service.ts';
import { type Script, type ServiceResponse, startService } from './service.ts';

export const READ = '{ workflow(idOrIdentifier: "w1") { id name } }';
export const LIST = '{ notificationGroups { name } }';
export const CREATE = 'mutation { createFeed(input: { name: "News" }) { __typename } }';
export const CREATE_KEYED = 'mutation { createFeed(input: { name: "News", idempotencyKey: "k1" }) { __typename } }';
export const SET_STATUS =
  'mutation { updateWorkflowStatus(input: { workflowId: "w1", active: false }) { __typename } }';

/** Mutations whose upstream calls are not safe to repeat. */
export const WRITES = {
  createFeed: CREATE,
  createNotificationGroup: 'mutation { createNotificationGroup(input: { name: "n" }) { __typename } }',
  createSubscriber: 'mutation { createSubscriber(input: { subscriberId: "u" }) { __typename } }',
  updateNotificationGroup: 'mutation { updateNotificationGroup(input: { id: "g1", name: "n" }) { __typename } }',
  deleteNotificationGroup: 'mutation { deleteNotificationGroup(input: { id: "g1" }) { __typename } }',
  deleteFeed: 'mutation { deleteFeed(input: { id: "f1" }) { __typename } }',
  deleteMessagesByTransaction:
    'mutation { deleteMessagesByTransaction(input: { transactionId: "t1" }) { __typename } }',
};

/** Jitter that keeps tests fast: retries follow at once. */
export const SHORT_RETRY_DELAYS = { random: () => 0 };

export const respondHealthy: Script = (request, { answer }) => answer(healthyResponse(request));

/** Runs a script for the first request, and another one for the others. By default, they succeed. */
export function firstOnly(first: Script, others: Script = respondHealthy): Script {
  let isFirst = true;
  return (request, connection) => {
    const script = isFirst ? first : others;
    isFirst = false;
    script(request, connection);
  };
}

export const respondWithStatus =
  (code: number, answer: ServiceResponse = {}): Script =>
  (_, connection) =>
    connection.answer({ status: code, body: { statusCode: code }, ...answer });

/** Files whose timers are left out: they run for the gateway's whole lifetime, or end an episode in the log. */
const LONG_TIMERS = /[\\/](?:connections|file-watcher|episodes)\.ts$/;

/** Ids of active timers started by the gateway. */
const timers = new Set<number>();

const timerHook = createHook({
  init(id, type) {
    const [, starter] = (type === 'Timeout' && /[\\/](src[\\/]\w+[\\/].+?\.ts):/.exec(new Error().stack ?? '')) || [];
    if (starter !== undefined && !LONG_TIMERS.test(starter)) {
      timers.add(id);
    }
  },
  destroy: (id) => void timers.delete(id),
  trackPromises: false, // They are many.
});

const openSockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

/** Waits until the gateway has no active timers and no more open sockets than before. */
async function expectNoLeaks(socketsBefore: number): Promise<void> {
  const until = performance.now() + 20_000;
  while ((timers.size > 0 || openSockets() > socketsBefore) && performance.now() < until) {
    await sleep(5);
  }
  expect(timers.size).toBe(0);
  expect(openSockets()).toBeLessThanOrEqual(socketsBefore);
}

/**
 * Starts a gateway in front of a scripted upstream. Disposing the result checks that the gateway recovers once the upstream is healthy,
 * and that it leaves no sockets and no timers behind.
 */
export async function setUp(
  script: Script,
  { random, ...options }: Omit<GatewayOptions, 'upstream'> & { random?: () => number } = {},
  limits: Partial<ServerSettings> = {},
) {
  const socketsBefore = openSockets();
  const upstream = await startService(script);
  const gateway = await startGateway(
    { upstream: upstream.url, ...options },
    { ...(random && { random }), server: limits },
  );

  async function run(document: string) {
    const startedAt = performance.now();
    const { status, body } = await gateway.send(document);
    expect(status).toBe(200);
    const [first] = body.errors ?? [];
    const error: Record<string, unknown> | undefined = first && { message: first.message, ...first.extensions };
    return {
      result: Object.values(body.data ?? {})[0],
      error,
      ms: performance.now() - startedAt,
    };
  }

  return {
    run,
    upstream,
    gateway,
    /** Returns the methods of the requests that the upstream received. */
    calls: () => upstream.requests.map(({ method }) => method),
    async [Symbol.asyncDispose]() {
      await upstream.refuse();
      await upstream.listen();
      upstream.script = respondHealthy;
      expect(await gateway.data(LIST, {}, { authorization: 'ApiKey of-another' })).toEqual({
        notificationGroups: [{ name: 'Group' }],
      });
      await gateway[Symbol.asyncDispose]();
      await upstream.allClosed();
      await upstream[Symbol.asyncDispose]();
      await expectNoLeaks(socketsBefore);
    },
  };
}

/** Tracks the timers of the gateway while the tests of a file run. */
export function watchTimers(): void {
  beforeAll(() => void timerHook.enable());
  afterAll(() => void timerHook.disable()); // Other test files share this process.
}
