// Kills and stops parts of the running service while a gateway or an import writes to it. What they report must be what the database has, and nothing may be
// lost or applied twice.

import { readFile, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { arrayOf, recordOf } from '../../src/lib/is-record.ts';
import { ofTest } from '../support/lifetime.ts';
import { spawnNotigraph, startNotigraph } from '../support/process.ts';
import { sampleSize } from '../support/samples.ts';
import { createTestFolder } from '../support/sandbox-files.ts';
import { sendOperation } from '../support/send-operation.ts';
import { type DatabaseProxy, startDatabaseProxy } from './database-proxy.ts';
import { SERVICE } from './implementations.ts';
import { cloneOnly, type Database, type RunningService, SOURCE, startService } from './start-service.ts';
import {
  ALL_KINDS,
  countStored,
  createWrites,
  EVENTS,
  findContradictions,
  forEach,
  type Gateway,
  type Kind,
  NONE,
  RECIPIENT,
  RECORDS,
  reportedLast,
  sendWrite,
  WORKFLOW,
  type Write,
} from './writes.ts';

/** Writes that are sent at a time: more than the gateway sends with one key, so that some wait in it. */
const CONCURRENCY = 30;

/** Longest time of a test: the service starts again, and calls of it time out. */
const TIMEOUT_MS = 300_000;

const MODULES = ['events', 'subscribers', 'topics'].map((name) => `notigraph/modules/${name}`).join();

let proxy: DatabaseProxy;
let service: RunningService;
let database: Database;

describe.skipIf(SOURCE === undefined)(`faults of ${SERVICE}${cloneOnly}`, { timeout: TIMEOUT_MS }, () => {
  beforeAll(async () => {
    await using stack = new AsyncDisposableStack();
    proxy = stack.use(await startDatabaseProxy(SOURCE?.mongo ?? ''));
    const source = SOURCE && { ...SOURCE, mongo: proxy.url };
    // Redis writes each command to a file before it replies: without that, a restarted one knows no keys, and has lost the queues.
    service = stack.use(await startService({ ...(source && { source }), redisArgs: ['--appendonly', 'yes'] }));
    database = stack.use(await service.openDatabase());
    await createWorkflow();
    const resources = stack.move();
    return () => resources.disposeAsync();
  });

  it('a killed API: keys of interrupted writes stay locked, and everything else is applied once', async () => {
    let started: Promise<void> | undefined;
    const writes = await sendDuring('kill', ALL_KINDS, {
      async begin() {
        await service.kill('api');
        started = service.start('api');
      },
      end: async () => void (await started),
    });

    // A locked key says nothing about its write: some are stored, and others aren't.
    const locked = reportedLast(writes, 'IN_PROGRESS');
    expect(locked.every(({ reports }) => reports.includes('UNKNOWN'))).toBe(true);
    expect(reportedLast(writes, 'APPLIED', 'REPLAYED').length + locked.length).toBe(writes.length);
    const before = await countStored(database, writes);

    // Once the lock has expired, the service applies the write again, and only unique names protect from that.
    await expireLocks();
    await forEach(locked, CONCURRENCY, sendTo(await startGateway()));
    await queuesToDrain();
    expect(reportedLast(locked, 'APPLIED', 'EXISTS')).toEqual(locked);
    const after = await countStored(database, locked);
    expect(locked.filter(({ name }) => !after.has(name))).toEqual([]);
    const twice = locked.filter(({ name }) => (after.get(name) ?? 0) > 1);
    expect(twice.filter(({ kind, name }) => !before.has(name) || UNIQUE.has(kind))).toEqual([]);
  });

  it('a stopped worker: accepted events arrive after its start, once', async () => {
    await service.kill('worker');
    const gateway = await startGateway();
    const writes = createWrites('worker', 40, EVENTS);
    await forEach(writes, CONCURRENCY, sendTo(gateway));
    expect(reportedLast(writes, 'APPLIED')).toEqual(writes);
    expect(await countStored(database, writes)).toEqual(new Map());
    await service.start('worker');
    await queuesToDrain();
    expect(await countStored(database, writes)).toEqual(new Map(writes.map(({ name }) => [name, 1])));
  });

  it.each([
    ['hangs', () => service.redis.pause(), () => service.redis.resume()],
    ['is killed', () => service.redis.kill(), () => service.redis.start()],
  ] satisfies [string, () => void | Promise<void>, () => void | Promise<void>][])(
    'Redis %s: everything is applied once',
    async (run, begin, end) => {
      const writes = await sendDuring(`redis ${run}`, ALL_KINDS, { begin, end });
      expect(reportedLast(writes, 'APPLIED', 'REPLAYED')).toEqual(writes);
    },
  );

  it('a database that is slower than the gateway waits: everything is applied once', async () => {
    const writes = await sendDuring('slow', ALL_KINDS, {
      begin: () => proxy.delay(7_000),
      end: () => proxy.delay(0),
    });
    expect(reportedLast(writes, 'APPLIED', 'REPLAYED')).toEqual(writes);
  });

  // Without events: the service loses an accepted one whose job fails in the worker.
  it('a stopped database: failures that the service stored need a new key, and everything else is applied once', async () => {
    const writes = await sendDuring('stopped', RECORDS, { begin: () => proxy.stop(), end: () => proxy.resume() });
    const failed = reportedLast(writes, 'STORED_FAILURE');
    expect(failed.every(({ reports }) => reports[0] === 'UNKNOWN')).toBe(true);
    expect(reportedLast(writes, 'APPLIED', 'REPLAYED').length + failed.length).toBe(writes.length);
  });

  it('an import whose process and service are killed: every row is applied, with the values of the file', async () => {
    const rows = Array.from({ length: sampleSize(400, 2_000) }, (_, index) => ({
      subscriberId: `row-${index}`,
      email: `row-${index}@example.com`,
      firstName: `Name ${index}`,
      plan: `plan-${index % 7}`,
    }));
    const folder = await createTestFolder();
    const lines = rows.map(({ subscriberId, email, firstName, plan }) => [subscriberId, email, firstName, plan].join());
    await writeFile(folder.path('users.csv'), ['subscriberId,email,firstName,data.plan', ...lines].join('\n'));
    const start = () =>
      ofTest(
        spawnNotigraph({
          cwd: folder.path(),
          args: ['subscribers', 'import', 'users.csv', '--upstream', service.url, '--report', 'report.jsonl'],
          env: { NOTIGRAPH_IMPORT_KEY: service.key },
        }),
      );
    const imported = async () => (await database.find('subscribers', {})).filter(isRow);
    const reaches = (share: number) =>
      expect
        .poll(async () => (await imported()).length, { interval: 100, timeout: TIMEOUT_MS })
        .toBeGreaterThan(share * rows.length);

    for (const share of [0.1, 0.25, 0.4]) {
      const running = start();
      await reaches(share);
      expect(await running.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
    }
    const last = start();
    await reaches(0.6);
    await service.kill('api');
    await expireLocks();
    await service.start('api');
    expect(await last.ended).toMatchObject({ code: 0 });

    const stored = (await imported()).map(({ subscriberId, email, firstName, data }) => {
      const { plan } = recordOf(data);
      return { subscriberId, email, firstName, plan };
    });
    expect(stored.toSorted(byNumber)).toEqual(rows);
    const report = (await readFile(folder.path('report.jsonl'), 'utf8')).trim().split('\n');
    expect(report.map((line) => JSON.parse(line))).toEqual(
      rows.map(({ subscriberId }, index) => ({ line: index + 2, subscriberId, outcome: 'created' })),
    );
  });
});

const UNIQUE: ReadonlySet<Kind> = new Set(['feed', 'topic', 'subscriber']);

interface Fault {
  begin: () => void | Promise<void>;
  end: () => void | Promise<void>;
}

/**
 * Sends writes, of which the last two thirds meet a fault, and after its end all of them again, with the same keys. The gateway must stay ready and recover by
 * itself, and its reports must be true before and after the repetition.
 */
async function sendDuring(run: string, kinds: readonly Kind[], { begin, end }: Fault): Promise<Write[]> {
  const gateway = await startGateway();
  const writes = createWrites(run, 120, kinds);
  let answered = 0;
  let begun: Promise<void> | undefined;
  await forEach(writes, CONCURRENCY, async (write) => {
    await sendWrite(gateway, write);
    answered += 1;
    if (answered === writes.length / 3) {
      begun = Promise.resolve(begin());
    }
  });
  await begun;
  expect(reportedLast(writes, 'UNKNOWN').length).toBeGreaterThan(0);
  expect(reportedLast(writes, 'NOT_APPLIED').length).toBeGreaterThan(0);
  await gateway.printed('stdout', /circuit breaker opened/);
  for (const path of ['/livez', '/readyz']) {
    expect(await fetch(new URL(path, gateway.url))).toMatchObject({ status: 200 });
  }

  await end();
  await toAnswer(gateway);
  await gateway.printed('stdout', /circuit breaker closed/);
  await queuesToDrain();
  expect(findContradictions(writes, await countStored(database, writes))).toEqual(NONE);
  await forEach(writes, CONCURRENCY, sendTo(gateway));
  await queuesToDrain();
  expect(findContradictions(writes, await countStored(database, writes))).toEqual(NONE);
  return writes;
}

const sendTo = (gateway: Gateway) => (write: Write) => sendWrite(gateway, write);

/** Starts a gateway for which the service has accepted the key. */
async function startGateway() {
  const gateway = ofTest(
    await startNotigraph({
      env: {
        NOTIGRAPH_UPSTREAM: service.url,
        NOTIGRAPH_UPSTREAM_IDEMPOTENCY: 'on',
        NOTIGRAPH_MODULES: MODULES,
        NODE_ENV: 'production',
      },
    }),
  );
  const { key } = service;
  await toAnswer({ ...gateway, key });
  return { ...gateway, key };
}

const toAnswer = ({ url, key }: Gateway): Promise<void> =>
  expect
    .poll(async () => sendOperation(url, '{ notificationGroups { name } }', {}, `ApiKey ${key}`), { interval: 100 })
    .not.toHaveProperty('errors');

/** Waits until the service's queues are empty, but for that of its websocket server, which isn't started. */
const queuesToDrain = (): Promise<void> =>
  expect
    .poll(
      async () => {
        const states = ['wait', 'active', 'delayed'].map((state) =>
          service.redis.command('KEYS', `bull:[^w]*:${state}`),
        );
        return (await Promise.all(states)).flat();
      },
      { timeout: 180_000, interval: 100 },
    )
    .toEqual([]);

/** Removes the locks of idempotency keys, as five minutes do. */
async function expireLocks(): Promise<void> {
  for (const name of arrayOf(await service.redis.command('KEYS', 'local-*')).map(String)) {
    if (String(await service.redis.command('GET', name)).includes('"status":"in-progress"')) {
      await service.redis.command('DEL', name);
    }
  }
}

/** Creates the workflow and the recipient of the events. */
async function createWorkflow(): Promise<void> {
  async function call(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${service.url}/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json', authorization: `ApiKey ${service.key}` },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.ok).toBe(true);
    return recordOf(await response.json()).data;
  }
  const [group] = arrayOf(await call('GET', '/notification-groups'));
  const variables = [{ name: 'name', type: 'String', required: false }];
  await call('POST', '/workflows', {
    name: WORKFLOW,
    active: true,
    notificationGroupId: recordOf(group)._id,
    steps: [{ template: { type: 'in_app', content: '{{name}}', variables } }],
  });
  await call('POST', '/subscribers', { subscriberId: RECIPIENT });
}

const isRow = ({ subscriberId }: Readonly<Record<string, unknown>>): boolean => String(subscriberId).startsWith('row-');

const byNumber = (a: { subscriberId?: unknown }, b: { subscriberId?: unknown }): number =>
  String(a.subscriberId).localeCompare(String(b.subscriberId), 'en', { numeric: true });
