// The last release and this version beside each other: an upgrade and the way back under load, without a failed request, an old read, or a change that is
// lost or made twice.

import { readFile, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import * as client from '../../packages/client/src/index.ts';
import { setUpImport } from '../support/import.ts';
import { ofTest } from '../support/lifetime.ts';
import { listen } from '../support/listen.ts';
import { MAIN, spawnNotigraph, startNotigraph } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { createTestFolder } from '../support/sandbox-files.ts';
import { spawnSandbox } from '../support/sandbox-process.ts';
import { installLastRelease } from './last-release.ts';

const KEY = 'sandbox-development-key';

const release = await installLastRelease();

/** Changes that each client makes in each phase. */
const CYCLES = 15;

/** A query field as the documentation of 1.0.0 has it: it declares no calls. */
const MODULE = `import { defineModule } from 'notigraph/modules';
export default defineModule('layouts', ({ builder, endpoint, requireScopes }) => {
  const listLayouts = endpoint('GET /v1/layouts', { expect: 'list' });
  builder.queryField('layouts', (t) =>
    t.field({
      type: 'JSON',
      nullable: true,
      extensions: requireScopes('layouts:read'),
      description: 'Returns all layouts.',
      resolve: async (_root, _args, ctx) => ({ of: await ctx.upstream.read(listLayouts, {}).catch(({ code }) => code) }),
    }),
  );
});
`;

/** Starts a balancer that sends requests to its backends in turn. */
async function startBalancer() {
  const backends: string[] = [];
  let turn = 0;
  const server = createServer((incoming, response) => {
    turn += 1;
    const { hostname, port } = new URL(backends[turn % backends.length] ?? '');
    const { method, url, headers } = incoming;
    const sent = request({ hostname, port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    sent.on('error', (error) => response.writeHead(502).end(error.message));
    incoming.pipe(sent);
  });
  const { url, close } = await listen(server);
  ofTest({ [Symbol.asyncDispose]: close });
  return { url: `${url}/graphql`, backends };
}

type ClientPackage = Pick<
  typeof client,
  | 'createClient'
  | 'CreateNotificationGroupDocument'
  | 'DeleteNotificationGroupDocument'
  | 'NotificationGroupsDocument'
  | 'CreateSubscriberDocument'
>;

/** Makes changes one after another until it is stopped: each is repeated with its key, read by both ways, and half of them are undone. */
function startLoad(name: string, url: string, shipped: ClientPackage) {
  const { createClient, ...documents } = shipped;
  const problems: string[] = [];
  const notigraph = createClient({
    url,
    authorization: `ApiKey ${KEY}`,
    send: 'id',
    onRetry: (event) => problems.push(`${name} had to repeat a request: ${JSON.stringify(event)}`),
  });
  const made: string[] = [];
  const load = { createsSubscribers: true };
  let isStopped = false;
  let cycles = 0;
  const waiting: { from: number; resolve: () => void }[] = [];

  async function cycle(): Promise<void> {
    const group = `${name}-${cycles}`;
    const create = () =>
      notigraph.request(documents.CreateNotificationGroupDocument, { input: { name: group, idempotencyKey: group } });
    const ids = (await Promise.all([create(), create()])).map(({ data, errors }) => {
      const result = data?.createNotificationGroup;
      problems.push(...(errors ?? []).map(({ message }) => `${group}: ${message}`));
      return result?.__typename === 'CreateNotificationGroupSuccess'
        ? result.notificationGroup.id
        : JSON.stringify(result);
    });
    if (new Set(ids).size > 1) {
      problems.push(`${group} was made twice: ${ids.join(', ')}`);
    }
    const readNames = async () => {
      const { data, errors } = await notigraph.request(documents.NotificationGroupsDocument);
      problems.push(...(errors ?? []).map(({ message }) => `read: ${message}`));
      return (data?.notificationGroups ?? []).map((each) => each?.name);
    };
    const afterwards = await Promise.all([readNames(), readNames()]);
    problems.push(
      ...afterwards.filter((names) => !names.includes(group)).map(() => `${group} is missing after it was made`),
    );
    if (cycles % 2 === 0) {
      const { data } = await notigraph.request(documents.DeleteNotificationGroupDocument, {
        input: { id: String(ids[0]) },
      });
      const result = data?.deleteNotificationGroup;
      if (result?.__typename !== 'DeleteNotificationGroupSuccess') {
        problems.push(`${group} was not deleted: ${JSON.stringify(result)}`);
      }
      const left = await Promise.all([readNames(), readNames()]);
      problems.push(
        ...left.filter((names) => names.includes(group)).map(() => `${group} is there after it was deleted`),
      );
    } else {
      made.push(group);
    }
    if (load.createsSubscribers) {
      const input = { subscriberId: group };
      const { data, errors } = await notigraph.request(documents.CreateSubscriberDocument, { input });
      if (data?.createSubscriber?.__typename !== 'CreateSubscriberSuccess') {
        problems.push(`${group}: ${JSON.stringify([data, errors])}`);
      }
    }
  }

  const ended = (async () => {
    while (!isStopped) {
      await cycle().catch((error) => problems.push(`${name}: ${error}`));
      cycles += 1;
      for (const { from, resolve } of waiting) {
        if (cycles - from >= CYCLES) {
          resolve();
        }
      }
    }
  })();
  return Object.assign(load, {
    problems,
    made,
    /** Resolves after so many more changes. */
    phase: () => new Promise<void>((resolve) => waiting.push({ from: cycles, resolve })),
    async stop() {
      isStopped = true;
      await ended;
    },
  });
}

it('an upgrade and the way back fail no request, serve no old read, and make no change twice', async () => {
  await using redis = await startRedis();
  await using service = await spawnSandbox('--file', ':memory:');
  const balancer = await startBalancer();
  const folder = await createTestFolder();
  const settings = {
    upstream: service.url,
    upstreamIdempotency: true,
    modules: ['./layouts.mjs'],
    cache: { store: { redis: { url: redis.url } }, secret: { env: 'CACHE_SECRET' } },
    rateLimits: { store: { redis: { url: redis.url } } },
    clients: { server: { trustedDocuments: 'enforce', rateLimit: { calls: 1_000_000, perSeconds: 60 } } },
    trustedDocuments: {
      manifests: [
        release.pathOf('schema/trusted-documents.json'),
        fileURLToPath(new URL('../../schema/trusted-documents.json', import.meta.url)),
        { layouts: '{ layouts }' },
      ],
    },
  };
  await writeFile(folder.path('layouts.mjs'), MODULE);
  await writeFile(folder.path('old.json'), JSON.stringify(settings));
  await writeFile(folder.path('new.json'), JSON.stringify({ ...settings, idempotencyKeys: 'previous' }));

  const versions = {
    old: { main: release.main, config: 'old.json' },
    new: { main: MAIN, config: 'new.json' },
  };
  const pods: { url: string; stop(): Promise<unknown> }[] = [];
  /** Starts a process of a version, and ends the oldest one as a rollout does: after it gets no more requests. */
  async function rollOut(version: keyof typeof versions): Promise<void> {
    const { main, config } = versions[version];
    const pod = ofTest(
      await startNotigraph({
        cwd: folder.path(),
        main,
        args: ['--config', config],
        env: { CACHE_SECRET: 'x'.repeat(32), NODE_ENV: 'production' },
      }),
    );
    await expect.poll(async () => (await fetch(new URL('/readyz', pod.url))).status).toBe(200);
    pods.push({ url: pod.url, stop: () => pod.stop('SIGTERM') });
    balancer.backends.push(pod.url);
    if (pods.length > 2) {
      balancer.backends.shift();
      expect(await pods.shift()?.stop()).toMatchObject({ code: 0 });
    }
  }
  await rollOut('old');
  await rollOut('old');
  const old = (await import(join(release.pathOf('dist/library/client/index.js')))) as ClientPackage;
  const loads = [startLoad('old', balancer.url, old), startLoad('new', balancer.url, client)] as const;
  const askModule = async () => {
    const answers = await Promise.all(
      pods.map(async ({ url }) => {
        const response = await fetch(url, {
          method: 'POST',
          headers: { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json' },
          body: JSON.stringify({ documentId: 'layouts' }),
        });
        return (await response.json()).data;
      }),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0].layouts).not.toBeNull();
  };

  const phase = () => Promise.all(loads.map((load) => load.phase()));
  const [, ofNewPages] = loads;
  ofNewPages.createsSubscribers = false; // That document has a field that the last release doesn't know.
  await phase();
  await askModule();
  await rollOut('new');
  await phase();
  await askModule();
  await rollOut('new');
  ofNewPages.createsSubscribers = true;
  await phase();
  await askModule();
  ofNewPages.createsSubscribers = false;
  await phase();
  await rollOut('old');
  await phase();
  await askModule();
  await rollOut('old');
  await phase();
  await Promise.all(loads.map((load) => load.stop()));
  expect(loads.map(({ problems }) => problems.slice(0, 5))).toEqual([[], []]);

  const response = await fetch(`${service.url}/v1/notification-groups`, {
    headers: { authorization: `ApiKey ${KEY}` },
  });
  const names = (await response.json()).data
    .map(({ name }: { name: string }) => name)
    .filter((name: string) => /^(?:old|new)-/.test(name));
  expect(names.toSorted()).toEqual(loads.flatMap(({ made }) => made).toSorted());
});

it('an import goes on with the results of the other version', async () => {
  const ids = Array.from({ length: 300 }, (_, i) => `user-${i}`);
  let onRow = () => {};
  const { optionsOf, sent } = await setUpImport(`subscriberId\n${ids.join('\n')}\n`, () => void onRow());

  /** Imports with a version until so many rows were sent by all imports, or to the end. */
  async function importRows(main: string, until: number, ...args: string[]) {
    const enough = Promise.withResolvers<void>();
    onRow = () => sent().length >= until && enough.resolve();
    const importing = spawnNotigraph({ ...optionsOf('--rate', '200', ...args), main });
    await Promise.race([enough.promise, importing.ended]);
    return importing.stop('SIGINT');
  }

  expect(await importRows(release.main, 80)).toMatchObject({ code: 1 });
  expect(await importRows(MAIN, 160)).toMatchObject({ code: 1, stdout: expect.stringContaining('Resuming') });
  expect(await importRows(release.main, Infinity)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Resuming'),
  });
  expect(await importRows(MAIN, Infinity)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('already applied'),
  });
  const count = sent().length;
  expect(
    sent()
      .map(({ subscriberId }) => subscriberId)
      .toSorted(),
  ).toEqual(ids.toSorted()); // Each once.
  expect(await importRows(MAIN, count + 100, '--restart')).toMatchObject({ code: 1 });
  expect(await importRows(release.main, Infinity)).toMatchObject({ code: 0 });
  expect(
    new Set(
      sent()
        .slice(count)
        .map(({ subscriberId }) => subscriberId),
    ),
  ).toEqual(new Set(ids));
});

it('a year of imports ends with the values of the last file, whatever happened between', async () => {
  const months = 12;
  const stored = new Map<string, string>();
  const undeliverable = new Set([117, 140, 141]);
  /** Returns the email of a row in a month: one of a hundred changes each month, and some are no addresses until the eighth. */
  const emailOf = (i: number, month: number): string => {
    const changedIn = Array.from({ length: month }, (_, m) => m + 1).findLast((m) => i % 100 === m) ?? 0;
    return `u${i}-${changedIn}@${undeliverable.has(i) && month < 8 ? 'refused' : 'mail'}.example`;
  };
  /** Ids in the file of a month: ten are new each month, and the oldest five of the month before are gone. */
  const idsOf = (month: number) => Array.from({ length: 300 + 5 * month }, (_, i) => i + 5 * (month - 1));
  let onRow = () => {};
  const { folder, importFile, optionsOf, sent } = await setUpImport('', ({ subscriberId, email = '' }) => {
    onRow();
    if (email.endsWith('@refused.example')) {
      return { status: 422, body: { message: ['email is refused'] } };
    }
    stored.set(subscriberId, email);
    return undefined;
  });

  /** Imports with a version. @param until number of requests after which it gets a signal. @default it isn't interrupted */
  async function importMonth(main: string, until = Infinity, signal: NodeJS.Signals = 'SIGKILL', ...args: string[]) {
    const enough = Promise.withResolvers<void>();
    const before = sent().length;
    onRow = () => sent().length - before >= until && enough.resolve();
    const importing = spawnNotigraph({ ...optionsOf(...args), main });
    await Promise.race([enough.promise, importing.ended]);
    const result = until === Infinity ? await importing.ended : await importing.stop(signal);
    return { ...result, sent: sent().slice(before) };
  }

  for (let month = 1; month <= months; month += 1) {
    const rows = idsOf(month).map((i) => `${i},${emailOf(i, month)}`);
    await writeFile(folder.path('users.csv'), `subscriberId,email\n${rows.join('\n')}\n`);
    const main = month <= 2 ? release.main : MAIN;
    if (month === 1 || month === 7) {
      await importMonth(main, 8);
    }
    const isRestart = month === 10;
    if (isRestart) {
      expect(await importMonth(main, 100, 'SIGINT', '--restart')).toMatchObject({ code: 1 });
    }
    const { code, stdout, sent: requests } = await importMonth(main);
    expect([month, code, stdout]).toEqual([month, month < 8 ? 1 : 0, expect.any(String)]);
    const isWhole = month === 1 || isRestart;
    expect([month, isWhole || requests.length <= 5 + 10 + 4 + undeliverable.size]).toEqual([month, true]);
    if (month === 5) {
      // Somebody corrects one row in the file of rejected ones, and the import of the next month keeps the file.
      const rejected = folder.path('users.csv.rejected.csv');
      await writeFile(rejected, (await readFile(rejected, 'utf8')).replace('u117-0@refused', 'u117-0@corrected'));
      expect(await importFile('users.csv.rejected.csv')).toMatchObject({ code: 1 });
      expect(stored.get('117')).toBe('u117-0@corrected.example');
    }
  }
  expect(await readFile(folder.path('users.csv.rejected.csv'), 'utf8')).toContain('@corrected.example');
  const last = idsOf(months).map((i) => [String(i), emailOf(i, months)]);
  expect(last.filter(([id = '', email]) => stored.get(id) !== email)).toEqual([]);
});
