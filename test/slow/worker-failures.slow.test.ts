import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../support/listen.ts';
import { runNotigraph, startNotigraph } from '../support/process.ts';
import { group } from '../support/records.ts';
import { hasRedis, redisOnly, startRedis } from '../support/redis.ts';
import { createFolderOfEachTest } from '../support/sandbox-files.ts';
import { startService } from '../support/service.ts';
import {
  askNextWorker,
  askWorkers,
  exitIf,
  findWorkerPids,
  findWorkers,
  isRunning,
  killWorker,
  runBefore,
  scrape,
  sendLoad,
  waitForLogLines,
} from '../support/worker-load.ts';

/** Working directory of the processes. */
const folder = createFolderOfEachTest();

const startWorkers = (
  count: number,
  args: readonly string[] = ['--sandbox', ':memory:'],
  env: Readonly<Record<string, string>> = {},
) => startNotigraph({ cwd: folder.path(), args: ['--workers', `${count}`, ...args], env });

const OK = 'notigraph_operations_total{type="query",code="OK"}';

it('metrics and health checks of several workers are those of all, and survive a worker that retires or is killed', async () => {
  const args = ['--sandbox', ':memory:', '--workers', '2', '--admin-port', '0'];
  const env = { NOTIGRAPH_DRAIN_DELAY_MS: '4000' };
  await using notigraph = await startNotigraph({ cwd: folder.path(), args, env });
  const [, admin = ''] = /Health +(\S+)\/livez/.exec(notigraph.output()) ?? [];
  const isPublic = async (path: string) => (await fetch(new URL(path, notigraph.url))).status !== 404;
  expect(await Promise.all(['/metrics', '/livez', '/readyz'].map(isPublic))).toEqual([false, false, false]);
  const get = async (path: string, method = 'GET') => {
    const response = await fetch(new URL(path, admin), { method });
    return [response.status, await response.text()];
  };
  expect(await get('/livez')).toEqual([200, 'ok\n']);
  expect(await get('/readyz')).toEqual([200, 'ok\nworkers: 2\nready: 2\n']);
  expect((await get('/graphql'))[0]).toBe(404);
  expect((await get('/readyz', 'POST'))[0]).toBe(405);

  const load = { requests: 300, connections: 8 };
  let terminated = 0;
  const first = await sendLoad(notigraph.url, {
    ...load,
    onAnswer(answered) {
      if (answered >= 150 && terminated === 0) {
        [terminated = 0] = findWorkerPids(notigraph); // None until a line of the log has arrived.
        if (terminated !== 0) {
          process.kill(terminated, 'SIGTERM');
        }
      }
    },
  });
  expect(first).toEqual({ statuses: { 200: 300 }, cutOff: 0 }); // A worker that retires rejects nothing.
  expect(await waitForLogLines(notigraph, 'a worker retires and is replaced', 1)).toMatchObject([
    { workerPid: terminated },
  ]);
  await waitForLogLines(notigraph, 'a worker listens in its place', 1);
  expect((await scrape(admin, /^notigraph_operations_total/))[OK]).toBe(300);

  await sendLoad(notigraph.url, load);
  expect((await scrape(admin, /^notigraph_operations_total/))[OK]).toBe(600); // A killed worker may lose only later counts.
  killWorker(notigraph);
  await waitForLogLines(notigraph, 'a worker ended and is replaced', 1);
  const values = await scrape(
    admin,
    /^(?:notigraph_(?:operations_total|client_operations_total|workers|operation_duration_seconds_count)|process)/,
  );
  expect(values).toMatchObject({
    [OK]: 600,
    'notigraph_client_operations_total{client="(none)",version="(none)"}': 600,
    'notigraph_operation_duration_seconds_count{type="query"}': 600,
    notigraph_workers: 2,
    notigraph_workers_replaced_total: 2,
  });
  expect(Math.abs(Number(values.process_start_time_seconds) - Date.now() / 1_000)).toBeLessThan(120);

  const ended = notigraph.stop('SIGTERM');
  await notigraph.printed('stdout', /^Shutting down: /m);
  expect(await get('/readyz')).toMatchObject([503, expect.stringMatching(/^stopping\n/)]);
  expect(await ended).toMatchObject({ code: 0, stderr: '' });
});

it('a worker that is stopped is noticed, killed and replaced, and its connections are served by others', async () => {
  const args = ['--sandbox', ':memory:', '--workers', '2'];
  const env = { NOTIGRAPH_DRAIN_TIMEOUT_MS: '500' };
  await using notigraph = await startNotigraph({ cwd: folder.path(), args, env });
  await sendLoad(notigraph.url, { requests: 20, connections: 4 });
  await waitForLogLines(notigraph, 'operation', 20); // The log names the workers.
  const [stopped = 0] = findWorkerPids(notigraph);
  process.kill(stopped, 'SIGSTOP');
  // Each connection is new. The stopped worker gets only one: it is reset when the worker is killed, and its request is sent again.
  const { statuses, cutOff } = await sendLoad(notigraph.url, { requests: 8, connections: 8 });
  expect(statuses).toEqual({ 200: 8 });
  expect(cutOff).toBeLessThanOrEqual(1);
  expect(await waitForLogLines(notigraph, 'a worker does not respond and is killed', 1)).toMatchObject([
    { level: 'warn', workerPid: stopped },
  ]);
  await waitForLogLines(notigraph, 'a worker listens in its place', 1);

  const [other = 0] = findWorkerPids(notigraph);
  process.kill(other, 'SIGSTOP');
  const { code, stdout } = await notigraph.stop('SIGTERM');
  expect(code).toBe(1);
  expect(stdout).toMatch(/"a worker does not (?:end|respond) and is killed"/);
});

it('workers that all get SIGTERM at once reject and refuse nothing', async () => {
  await using notigraph = await startWorkers(2);
  await sendLoad(notigraph.url, { requests: 20, connections: 4 });
  await waitForLogLines(notigraph, 'operation', 20); // The log names the workers.
  const pids = findWorkerPids(notigraph);
  expect(pids).toHaveLength(2);
  for (const pid of pids) {
    process.kill(pid, 'SIGTERM');
  }
  const isReplaced = waitForLogLines(notigraph, 'a worker listens in its place', 2).then(() => true);
  for (let done = false; !done; done = await Promise.race([isReplaced, false])) {
    const load = await sendLoad(notigraph.url, { requests: 20, connections: 4, reset: true });
    expect(load).toEqual({ statuses: { 200: 20 }, cutOff: 0 });
  }
  expect(await notigraph.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
});

it('no count decreases when workers are killed, and only their last second is lost', async () => {
  await using notigraph = await startWorkers(4);
  const kills: { pid: number; at: number }[] = [];
  const counted = async () => (await scrape(notigraph.url, /^notigraph_operations_total/))[OK] ?? 0;
  let last = 0;
  for (let round = 0; round < 3; round += 1) {
    const load = sendLoad(notigraph.url, {
      requests: 2_000,
      connections: 32,
      onAnswer(answered) {
        const [pid] = answered === 1_000 ? findWorkerPids(notigraph) : [];
        if (pid !== undefined) {
          process.kill(pid, 'SIGKILL');
          kills.push({ pid, at: Date.now() });
        }
      },
    });
    while (!(await Promise.race([load.then(() => true), sleep(50, false)]))) {
      const now = await counted().catch(() => last); // The worker that answers may be the one that is killed.
      expect(now).toBeGreaterThanOrEqual(last);
      last = now;
    }
    expect((await load).statuses).toEqual({ 200: 2_000 });
    await waitForLogLines(notigraph, 'a worker listens in its place', round + 1);
  }
  const total = await counted();
  await notigraph.stop('SIGTERM'); // The rest of the log. A killed worker may not have written its last lines.
  const lines = await waitForLogLines(notigraph, 'operation', 0);
  const isLost = ({ pid, time }: { pid: number; time: string }) =>
    kills.some((kill) => kill.pid === pid && Date.parse(time) > kill.at - 5_000); // Five times as long, for a busy machine.
  expect(kills).toHaveLength(3);
  expect(lines.length).toBeGreaterThanOrEqual(6_000 - 3 * 32);
  expect(total).toBeGreaterThanOrEqual(lines.filter((line) => !isLost(line)).length);
  expect(total).toBeLessThanOrEqual(lines.length + 3 * 32);
}, 300_000);

it('25 killed workers leave no descriptors in the primary and no open connections of clients', async () => {
  await using notigraph = await startWorkers(5);
  await sendLoad(notigraph.url, { requests: 100, connections: 20 });
  await waitForLogLines(notigraph, 'operation', 100); // The log names the workers.
  const [worker = 0] = findWorkerPids(notigraph);
  const [, primary = ''] = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${worker}/status`, 'utf8')) ?? [];
  const countFiles = () => readdirSync(`/proc/${primary}/fd`).length;
  const before = countFiles();
  for (let killed = 5; killed <= 25; killed += 5) {
    const load = sendLoad(notigraph.url, { requests: 500, connections: 50 });
    for (const pid of findWorkerPids(notigraph)) {
      process.kill(pid, 'SIGKILL');
    }
    expect((await load).statuses).toEqual({ 200: 500 });
    await waitForLogLines(notigraph, 'a worker listens in its place', killed);
  }
  const countConnections = async () =>
    (await scrape(notigraph.url, /^notigraph_connections/)).notigraph_connections ?? Number.NaN;
  await expect.poll(countConnections, { interval: 500 }).toBeLessThanOrEqual(2); // Those of the scrapes.
  await expect.poll(countFiles).toBeLessThanOrEqual(before + 1);
}, 300_000);

it('connections that are reset in masses keep no client from any worker', async () => {
  await using notigraph = await startWorkers(4);
  const { hostname, port } = new URL(notigraph.url);
  /** Connects, and resets the connection. */
  const reset = () =>
    new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => socket.resetAndDestroy());
      socket.on('error', () => {}).on('close', () => resolve());
    });
  const pids = new Set<number>();
  // Each operation has a new connection, which goes to the next worker. How many of them a busy worker misses, depends on the machine.
  for (let asked = 1; asked <= 100 || pids.size < 4; asked += 1) {
    const flood = Array.from({ length: 20 }, reset);
    const load = await sendLoad(notigraph.url, { requests: 1, connections: 1, reset: true });
    expect(load).toEqual({ statuses: { 200: 1 }, cutOff: 0 });
    await Promise.all(flood);
    pids.add((await waitForLogLines(notigraph, 'operation', asked)).at(-1)?.pid);
  }
}, 300_000);

it('a separate port that is in use is reported with its option', async () => {
  const other = await listen(createServer());
  onTestFinished(() => other.close());
  const { port } = new URL(other.url);
  const args = ['--port', '0', '--sandbox', ':memory:', '--admin-port', port];
  const ending = await runNotigraph({ cwd: folder.path(), args });
  expect(ending).toMatchObject({ code: 1, stdout: '' });
  expect(ending.stderr).toMatch(
    new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is already in use\\. .*--admin-port\\.\\n$`),
  );
});

it.runIf(hasRedis)(
  `a replacement has the cache's secret of the other workers, not that of a newer file${redisOnly}`,
  async () => {
    await using redis = await startRedis();
    await using upstream = await startService(() => ({ body: { data: [] } }));
    const config = {
      upstream: upstream.url,
      workers: 2,
      cache: {
        store: { redis: { url: redis.url } },
        secret: { file: 'secret' },
        freshSeconds: 600,
      },
    };
    writeFileSync(folder.path('notigraph.config.yaml'), JSON.stringify(config));
    writeFileSync(folder.path('secret'), 'a'.repeat(32));
    await using notigraph = await startNotigraph({ cwd: folder.path() });
    let asked = 0;
    /** Asks until all workers have answered: on a busy machine, one may miss its turn. Returns their process ids. */
    const askAll = async () => {
      const pids = new Set<number>();
      for (let i = 0; i < 4 || (i < 40 && pids.size < 2); i += 1) {
        const { body } = await request(notigraph.url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: 'ApiKey a' },
          body: JSON.stringify({ query: '{ notificationGroups { id } }' }),
          reset: true, // The next connection goes to another worker.
        });
        expect(await body.json()).toEqual({ data: { notificationGroups: [] } });
        asked += 1;
        pids.add((await waitForLogLines(notigraph, 'operation', asked))[asked - 1]?.pid);
      }
      return pids;
    };
    /** Keys of entries in Redis. The same read has a key of its own for each secret. */
    const entries = () => redis.command('KEYS', 'notigraph:cache:entry:*');
    const stored = (count: number) => expect.poll(entries, { timeout: 15_000, interval: 20 }).toHaveLength(count);
    const [first = 0] = await askAll();
    await stored(1);
    writeFileSync(folder.path('secret'), 'b'.repeat(32));
    process.kill(first, 'SIGKILL');
    const [{ workerPid }] = await waitForLogLines(notigraph, 'a worker listens in its place', 1);
    expect(await askAll()).toContain(workerPid);
    expect(await entries()).toHaveLength(1);

    const reloaded = notigraph.printed('stdout', /the configuration was reloaded/);
    process.kill(notigraph.pid, 'SIGHUP');
    await reloaded;
    expect((await askAll()).size).toBe(2);
    await stored(2);
  },
);

it('workers are restarted with increasing backoff if they exit as soon as they start', async () => {
  const unreachable = await listen(createServer());
  await unreachable.close();
  await using notigraph = await startWorkers(2, ['--upstream', unreachable.url], exitIf('id > 2'));
  const [first = 0, second = 0] = await findWorkers(notigraph, 2);
  process.kill(first, 'SIGKILL');
  const ends = (await waitForLogLines(notigraph, 'a worker ended and is replaced', 9)).slice(0, 9);
  expect(ends.map(({ code }) => code)).toEqual([null, 7, 7, 7, 7, 7, 7, 7, 7]);
  const backoffs = ends.map(({ backoffMs }) => backoffMs);
  expect(backoffs.slice(0, 5)).toEqual([0, 0, 0, 0, 0]);
  expect(backoffs.filter((ms) => ms > 0).slice(0, 3)).toEqual([100, 200, 400]); // One later if the killed one had lived long.
  expect(new Set(await askWorkers(notigraph, 2))).toEqual(new Set([second]));

  const { code, stderr } = await notigraph.stop('SIGTERM');
  expect(code).toBe(0);
  expect(stderr).toMatch(/^The upstream is unreachable \(ECONNREFUSED\)\. .+\.\n$/); // Printed once.
});

it('workers are replaced and end without an error if they get SIGTERM while they start', async () => {
  const terminate =
    "process.on('newListener', (name) => name === 'SIGTERM' && setImmediate(() => process.kill(process.pid, name)))";
  await using notigraph = await startWorkers(2, ['--sandbox', ':memory:'], runBefore(`if (id === 3) ${terminate};`));
  const [first = 0, second = 0] = await findWorkers(notigraph, 2);
  process.kill(first, 'SIGKILL');
  const [{ workerPid: third }] = await waitForLogLines(notigraph, 'a worker retires and is replaced', 1);
  const replacements = await waitForLogLines(notigraph, 'a worker listens in its place', 2);
  const { workerPid: fourth } = replacements.find(({ workerPid }) => workerPid !== third) ?? {};
  await expect.poll(() => isRunning(third)).toBe(false);
  expect(new Set(await findWorkers(notigraph, 2))).toEqual(new Set([second, fourth]));
  expect(await waitForLogLines(notigraph, 'a worker ended and is replaced', 1)).toHaveLength(1);
  expect(await waitForLogLines(notigraph, 'a retired worker ended early', 0)).toEqual([]);
  expect(await notigraph.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
});

const GROUPS = '{ notificationGroups { name } }';

it('workers that are stopped by Ctrl-C, which reaches all processes, treat it as one signal', async () => {
  await using upstream = await startService(() => ({ body: { data: [group()] } }));
  const held = upstream.hold(undefined, Infinity);
  await using notigraph = await startWorkers(2, ['--upstream', upstream.url], {
    NOTIGRAPH_DRAIN_DELAY_MS: '3000', // Both workers must run when the second signal is sent.
  });
  const pids = await findWorkers(notigraph, 2);
  const answer = askNextWorker(notigraph.url, GROUPS);
  await held.arrived;
  for (const pid of pids) {
    process.kill(pid, 'SIGINT');
  }
  const ended = notigraph.stop('SIGINT');
  await notigraph.printed('stdout', /^Shutting down: /m);
  for (const pid of pids) {
    process.kill(pid, 'SIGINT');
  }
  held.release();
  expect(await answer).toEqual({ data: { notificationGroups: [{ name: 'Group' }] } });
  const { code, stdout } = await ended;
  expect(code).toBe(0);
  expect(stdout).not.toContain('"level":"warn"');
});

it('workers whose primary process was killed finish in-flight requests and exit', async () => {
  await using upstream = await startService(() => ({ body: { data: [group()] } }));
  const held = upstream.hold(undefined, Infinity);
  await using notigraph = await startWorkers(2, ['--upstream', upstream.url]);
  const answer = askNextWorker(notigraph.url, GROUPS);
  await held.arrived;
  const ended = notigraph.stop('SIGKILL');
  await expect(askNextWorker(notigraph.url, GROUPS)).rejects.toThrow(); // The primary process has exited.
  held.release();
  expect(await answer).toEqual({ data: { notificationGroups: [{ name: 'Group' }] } });
  expect(await ended).toMatchObject({ signal: 'SIGKILL', stderr: '' }); // The workers have exited too, because the output has ended.
});
