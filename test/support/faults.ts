import { createHook } from 'node:async_hooks';
import { afterAll, beforeAll, expect } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import type { ServerSettings } from '../../src/settings/settings.ts';
import { startGateway } from './gateway.ts';
import { type RawAnswer, type RawRequest, type RawScript, startRawUpstream } from './raw-upstream.ts';
import { feed, group, subscriber, workflow } from './records.ts';

export const READ = '{ workflow(idOrIdentifier: "w1") { id name } }';
export const LIST = '{ notificationGroups { name } }';
export const CREATE = 'mutation { createFeed(input: { name: "News" }) { __typename } }';
export const CREATE_KEYED = 'mutation { createFeed(input: { name: "News", idempotencyKey: "k1" }) { __typename } }';
export const SET_STATUS =
  'mutation { updateWorkflowStatus(input: { workflowId: "w1", active: false }) { __typename } }';

/** Every write that must not be repeated blindly. */
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

/** Every operation that reads a body. */
export const OPERATIONS = {
  workflow: READ,
  notificationGroup: '{ notificationGroup(id: "g1") { name } }',
  notificationGroups: LIST,
  notificationStats: '{ notificationStats { key } }',
  updateWorkflowStatus: SET_STATUS,
  ...Object.fromEntries(Object.entries(WRITES).filter(([name]) => name !== 'deleteMessagesByTransaction')),
};

/** Pauses that need no patience. */
export const SHORT_PAUSES = { retryBaseDelayMs: 2, retryMaxDelayMs: 4 };

/** Returns the response of a healthy service. */
export function healthy({ method, path }: RawRequest): RawAnswer {
  const [, , noun, id] = path.split('/');
  switch (noun) {
    case 'workflows':
      return { body: { data: workflow({ _id: id ?? '' }) } };
    case 'subscribers':
      return { status: 201, body: { data: subscriber() } };
    case 'feeds':
      return method === 'POST' ? { status: 201, body: { data: feed() } } : { body: { data: [] } };
    case 'notification-groups':
      if (method === 'DELETE') {
        return { body: { data: { acknowledged: true, status: 'deleted' } } };
      }
      return { body: { data: id === undefined && method === 'GET' ? [group()] : group() } };
    case 'messages':
      return { status: 204 };
    default:
      return { body: [] };
  }
}

export const heal: RawScript = (request, { answer }) => answer(healthy(request));

/** Does `first` with the first request, and answers all others in good health. */
export function once(first: RawScript): RawScript {
  let isFirst = true;
  return (request, connection) => {
    const script = isFirst ? first : heal;
    isFirst = false;
    script(request, connection);
  };
}

export const status =
  (code: number, answer: RawAnswer = {}): RawScript =>
  (_, connection) =>
    connection.answer({ status: code, body: {}, ...answer });

/** Timers that the gateway's own code has started and not yet ended, but for those that run as long as the gateway does. */
export const timers = new Set<number>();

const timerHook = createHook({
  init(id, type) {
    if (
      type === 'Timeout' &&
      /[\\/]src[\\/](?!http[\\/]connections\.ts|lib[\\/]file-watcher\.ts)\w+[\\/]/.test(new Error().stack ?? '')
    ) {
      timers.add(id);
    }
  },
  destroy: (id) => void timers.delete(id),
});

export const openSockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

/** Waits until no timer of the gateway's runs, and no more sockets are open than there were. */
export async function expectNothingLeft(socketsBefore: number): Promise<void> {
  const until = performance.now() + 1_000;
  while ((timers.size > 0 || openSockets() > socketsBefore) && performance.now() < until) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(timers.size).toBe(0);
  expect(openSockets()).toBeLessThanOrEqual(socketsBefore);
}

/**
 * A gateway in front of a script. Disposing it holds that the gateway works once the upstream is well, and that it then leaves no
 * socket and no timer behind.
 */
export interface StageOptions extends Omit<GatewayOptions, 'upstream'> {
  random?: () => number;
}

export async function stage(
  script: RawScript,
  { random, ...options }: StageOptions = {},
  limits: Partial<ServerSettings> = {},
) {
  const socketsBefore = openSockets();
  const upstream = await startRawUpstream(script);
  const gateway = await startGateway(
    { upstream: upstream.url, ...options },
    { ...(random && { random }) },
    'listener',
    limits,
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
    /** Requests that the upstream has seen, by method. */
    calls: () => upstream.requests.map(({ method }) => method),
    async [Symbol.asyncDispose]() {
      await upstream.refuse();
      await upstream.listen();
      upstream.script = heal;
      expect(await gateway.data(LIST, {}, { authorization: 'ApiKey of-another' })).toEqual({
        notificationGroups: [{ name: 'Group' }],
      });
      await gateway[Symbol.asyncDispose]();
      await upstream.allClosed();
      await upstream[Symbol.asyncDispose]();
      await expectNothingLeft(socketsBefore);
    },
  };
}

/** Watches the timers of the gateway while the tests of a file run. */
export function watchTimers(): void {
  beforeAll(() => void timerHook.enable());
  afterAll(() => void timerHook.disable()); // Other files share this process.
}
