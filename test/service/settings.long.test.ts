import { describe, expect, it, vi } from 'vitest';
import { operations } from '../support/operations.ts';
import { type Connected, connect, SERVICE, startRunning } from './implementations.ts';
import { recordsOf } from './questions.ts';
import { cloneOnly, SOURCE, startService } from './start-service.ts';

/** Time of a test, which starts the service. */
const START_MS = 300_000;

/** Attempts per call with the default settings. */
const MAX_ATTEMPTS = 3;

/** Requests at once, more than the limit of the test has for them. */
const BURST = 80;

/** Starts the service with other settings, and a gateway in front of it. */
async function start(settings: Readonly<Record<string, string>>) {
  await using stack = new AsyncDisposableStack();
  const running = stack.use(await startService({ settings }));
  const service: Connected = stack.use(
    await connect({ isAtOnce: false, start: (run, records) => startRunning(run, records, running) }, recordsOf),
  );
  const parts = stack.move();
  return { service, running, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

describe.skipIf(SOURCE === undefined)(`other settings of ${SERVICE}${cloneOnly}`, { timeout: START_MS }, () => {
  it('with rate limits, the gateway reports those that the service refuses, and goes on when it may', async () => {
    const limits = Object.fromEntries(
      ['GLOBAL', 'CONFIGURATION', 'TRIGGER'].map((kind) => [`API_RATE_LIMIT_MAXIMUM_FREE_${kind}`, '4']),
    );
    await using started = await start({ IS_API_RATE_LIMITING_ENABLED: 'true', ...limits });
    const { service } = started;
    await service.run(operations.Feeds); // Makes the key known.
    const read = (at: number) => service.run(operations.Subscriber, { subscriberId: service.fill(`{run}-${at}`) });
    service.exchanges.splice(0);
    const results = await Promise.all(Array.from({ length: BURST }, (_, at) => read(at)));
    const limited = results.filter((result) => result !== null);
    expect(limited).toEqual(limited.map(() => ({ codes: ['RATE_LIMITED'] })));
    expect(limited.length).toBeGreaterThan(0);
    const statuses = service.exchanges.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([404, 429]));
    const attempts = [...Map.groupBy(service.exchanges, ({ path }) => path).values()].map(({ length }) => length);
    expect(Math.max(...attempts)).toBeLessThanOrEqual(MAX_ATTEMPTS); // No busy loop, also with `Retry-After: 0`.
    await vi.waitFor(async () => expect(await read(BURST)).toBeNull(), { timeout: 60_000, interval: 200 });
  });

  it('without idempotency keys, a repeated key is applied again', async () => {
    await using started = await start({ IS_API_IDEMPOTENCY_ENABLED: 'false' });
    const { service } = started;
    const create = () =>
      service.run(operations.CreateNotificationGroup, {
        input: { name: service.fill('{run} twice'), idempotencyKey: 'once' },
      });
    const [first, second] = [await create(), await create()];
    expect(first).toMatchObject({ replayed: false });
    expect(second).toMatchObject({ replayed: false });
    expect(first).not.toEqual(second);
  });

  // A version between two releases: it stores preferences before it finds out that they are off, and sends no in-app message.
  it('without workflow preferences, the version of October 2024 stores them, rejects the request and sends nothing', async () => {
    await using started = await start({ IS_WORKFLOW_PREFERENCES_ENABLED: 'false' });
    const { service, running } = started;
    const subscriberId = service.fill('{run}-ada');
    await service.run(operations.CreateSubscriber, { input: { subscriberId } });
    const found = await service.run(operations.Workflow, { idOrIdentifier: service.fill('{run}-plain') });
    const workflowId = String(Object(found).id);
    const input = { subscriberId, workflowId, channel: 'IN_APP', enabled: false } as const;
    expect(await service.run(operations.UpdateWorkflowPreference, { input })).toMatchObject({
      message: expect.stringContaining('Preferences Feature Flag are not enabled'),
    });
    await using database = await running.openDatabase();
    const stored = await database.find('subscriberpreferences', {});
    expect(stored).toHaveLength(1);
    const transactionId = service.fill('{run}-1');
    const event = {
      workflow: service.fill('{run}-plain'),
      subscriberIds: [subscriberId],
      payload: { n: '1' },
      transactionId,
    };
    expect(await service.run(operations.TriggerEvent, { input: { event } })).toMatchObject({
      event: { status: 'PROCESSED' },
    });
    await vi.waitUntil(
      async () => (await database.find('jobs', { transactionId, type: 'in_app', status: 'failed' })).length > 0,
      { timeout: 60_000, interval: 100 },
    );
    expect(await service.messages(transactionId)).toEqual([]);
  });

  it('a key in progress is refused, and a locked one is answered when its request has ended', async () => {
    await using started = await start({});
    const { service, running } = started;
    const name = service.fill('{run} at once');
    const create = () =>
      service.run(operations.CreateNotificationGroup, { input: { name, idempotencyKey: 'at-once' } });
    const results = await Promise.all(Array.from({ length: 8 }, create));
    const created = results.filter((result) => 'notificationGroup' in Object(result));
    const ids = new Set(created.map((result) => Object(result).notificationGroup.id));
    expect(ids.size).toBe(1);
    await using database = await running.openDatabase();
    expect(await database.find('notificationgroups', { name })).toHaveLength(1);
    expect(await create()).toMatchObject({ replayed: true, notificationGroup: { name } });
  });
});
