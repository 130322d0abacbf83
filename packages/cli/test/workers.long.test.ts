import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runNotigraph, startNotigraph } from '../../../test/support/process.ts';
import { group } from '../../../test/support/records.ts';
import { createFolderOfEachTest } from '../../../test/support/sandbox-files.ts';
import { startService } from '../../../test/support/service.ts';
import { askNextWorker, exitIf, findWorkers, waitForLogLines } from '../../../test/support/worker-load.ts';

const GROUPS = '{ notificationGroups { name } }';
const CREATE_FEED = `mutation {
  createFeed(input: { name: "News" }) {
    ... on CreateFeedSuccess { feed { name } }
    ... on ConflictError { reason }
  }
}`;

const folder = createFolderOfEachTest();

/** Starts a process with this number of workers, which stop quickly. */
const startWorkers = (count: number, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  startNotigraph({ cwd: folder.path(), args: ['--workers', `${count}`, ...args], env });

describe('several workers', () => {
  it('are ready as soon as they listen, also if starting took some seconds', async () => {
    const silent = createTcpServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const env = {
      NOTIGRAPH_MAX_EVENT_LOOP_DELAY_MS: '60000', // On a busy machine, they would shed requests.
      NOTIGRAPH_CONFIG_TEXT: `rateLimits: { store: { redis: { url: 'redis://127.0.0.1:${port}' } } }`,
    };
    await using notigraph = await startWorkers(2, ['--sandbox', ':memory:'], env);
    const response = await fetch(new URL('/readyz', notigraph.url));
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringMatching(/^ok\nworkers: 2\nready: 2\n/),
    ]);
  });

  it('share a port, a sandbox with its modules, and tenant names in the log, and are replaced when one or all of them exit', async () => {
    await using notigraph = await startWorkers(2, ['--sandbox', ':memory:']);
    expect(await askNextWorker(notigraph.url, CREATE_FEED)).toEqual({
      data: { createFeed: { feed: { name: 'News' } } },
    });
    for (let i = 1; i < 6; i += 1) {
      expect(await askNextWorker(notigraph.url, CREATE_FEED)).toEqual({
        data: { createFeed: { reason: 'ALREADY_EXISTS' } },
      });
      expect(await askNextWorker(notigraph.url, '{ topics { totalCount } }')).toHaveProperty('data.topics');
    }
    const [first = 0, second = 0, ...others] = await findWorkers(notigraph, 2);
    expect([second > 0, others]).toEqual([true, []]);

    await writeFile(folder.path('.env'), 'NOTIGRAPH_NONSENSE=1'); // Replacements use the settings that the primary process started with.
    process.kill(first, 'SIGKILL');
    expect(await waitForLogLines(notigraph, 'a worker ended and is replaced', 1)).toMatchObject([
      { level: 'warn', worker: expect.any(Number), workerPid: first, code: null, signal: 'SIGKILL', backoffMs: 0 },
    ]);
    const [{ workerPid: third }] = await waitForLogLines(notigraph, 'a worker listens in its place', 1);
    expect((await findWorkers(notigraph, 2)).toSorted()).toEqual([second, third].toSorted());

    process.kill(second, 'SIGTERM');
    process.kill(third, 'SIGKILL');
    await waitForLogLines(notigraph, 'a worker listens in its place', 3);
    expect(await waitForLogLines(notigraph, 'a worker retires and is replaced', 1)).toMatchObject([
      { level: 'info', workerPid: second },
    ]);
    expect(await askNextWorker(notigraph.url, CREATE_FEED)).toEqual({
      data: { createFeed: { reason: 'ALREADY_EXISTS' } },
    });
    const lines = await waitForLogLines(notigraph, 'operation', 6);
    expect(new Set(lines.map(({ tenant }) => tenant)).size).toBe(1);

    const { code, stdout, stderr } = await notigraph.stop('SIGTERM');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.match(/^Notigraph /gm)).toHaveLength(1);
    expect(stdout.match(/^Shutting down: /gm)).toHaveLength(1);
  });
});

describe('several workers that are stopped', () => {
  it('under load fail no request of a balancer that asks whether they are ready, and the exit code is 0', async () => {
    await using upstream = await startService(async () => {
      await sleep(5);
      return { body: { data: [group()] } };
    });
    await using notigraph = await startWorkers(2, ['--upstream', upstream.url], {
      NOTIGRAPH_DRAIN_DELAY_MS: '2000', // Time for the balancer to notice it, even on a busy machine.
      NOTIGRAPH_MAX_EVENT_LOOP_DELAY_MS: '60000', // A busy machine must not cause 503.
    });
    const { promise: warm, resolve } = Promise.withResolvers<void>();
    let answered = 0;

    let isReady = true;

    /** Sends operations one after the other until the gateway isn't ready. */
    async function sendWhileReady(): Promise<string[]> {
      const { origin, pathname } = new URL(notigraph.url);
      const pool = new Pool(origin, { connections: 1 });
      const outcomes: string[] = [];
      do {
        try {
          const { statusCode, body } = await pool.request({
            path: pathname,
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: 'ApiKey key' },
            body: JSON.stringify({ query: GROUPS }),
          });
          outcomes.push((await body.text()).includes('"name":"Group"') ? 'data' : String(statusCode));
          answered += 1;
          if (answered === 200) {
            resolve();
          }
        } catch (error) {
          outcomes.push(error instanceof Error && 'code' in error ? String(error.code) : String(error));
        }
      } while (isReady);
      await pool.close();
      return outcomes;
    }

    const clients = Array.from({ length: 8 }, sendWhileReady);
    await warm;
    const ended = notigraph.stop('SIGTERM');
    await expect.poll(async () => (await fetch(new URL('/readyz', notigraph.url))).status, { interval: 10 }).toBe(503);
    isReady = false;
    expect(await ended).toMatchObject({ code: 0, signal: null, stderr: '' });
    const outcomes = Map.groupBy((await Promise.all(clients)).flat(), (outcome) => outcome);
    expect([...outcomes.keys()]).toEqual(['data']);
    await expect(askNextWorker(notigraph.url, GROUPS)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const pids = (await waitForLogLines(notigraph, 'operation', 1)).map(({ pid }) => pid);
    expect(new Set(pids).size).toBe(2);
  });
});

it('several workers that cannot start are not replaced', async () => {
  const env = exitIf('id === 2');
  expect(await runNotigraph({ env, args: ['--port', '0', '--sandbox', ':memory:', '--workers', '2'] })).toEqual({
    code: 1,
    signal: null,
    stdout: '',
    stderr: 'A worker ended (exit code 7) before it listened.\n',
  });
});
