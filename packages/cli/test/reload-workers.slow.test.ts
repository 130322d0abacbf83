// Reloads with several workers, each of which is replaced.

import { readdir, readFile } from 'node:fs/promises';
import { request } from 'undici';
import { expect, it } from 'vitest';
import { metricValues } from '../../../test/support/metrics-text.ts';
import { startNotigraph } from '../../../test/support/process.ts';
import { group } from '../../../test/support/records.ts';
import {
  ask,
  invalidSince,
  REJECTED,
  RELOADED,
  TENANT_ENV,
  type Tenant,
  untilLogged,
  writeConfig,
} from '../../../test/support/reloads.ts';
import { createFolderOfEachTest } from '../../../test/support/sandbox-files.ts';
import { startService } from '../../../test/support/service.ts';
import { createSigner } from '../../../test/support/tokens.ts';
import { findWorkerPids, isRunning, waitForLogLines } from '../../../test/support/worker-load.ts';

const signer = createSigner();

const folder = createFolderOfEachTest();

/** Writes the configuration file with these tenants and other settings. */
const configure = (upstream: string, tenants: readonly Tenant[], others: object) =>
  writeConfig(folder.path('notigraph.config.yaml'), signer, tenants, { upstream, ...others });

const GROUPS = { notificationGroups: [{ name: 'Group' }] };

/** Makes each process send itself SIGHUP as soon as that doesn't end it, long before it listens. */
const HANGUP_AT_START = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    "process.on('newListener', (name) => name === 'SIGHUP' && setImmediate(() => process.kill(process.pid, name)))",
  )}`,
};

it('with workers, applies a configuration on all of them or on none, and replacements start with it', async () => {
  await using upstream = await startService(() => ({ body: { data: [group()] } }));
  const others = { reloadSeconds: 86_400, workers: 2 };
  await configure(upstream.url, ['acme'], others);
  await using notigraph = await startNotigraph({
    cwd: folder.path(),
    env: { ...TENANT_ENV, ...HANGUP_AT_START },
  });
  await notigraph.printed('stdout', new RegExp(RELOADED)); // Because of the SIGHUP during startup.
  const reload = (message: string) => untilLogged(notigraph, message, () => process.kill(notigraph.pid, 'SIGHUP'));
  const [acme, globex] = await Promise.all([signer.bearer(), signer.bearer({ tenant: 'globex' })]);
  let asked = 0;
  /** Asks both workers, at least twice in all. @returns their answer, process ids and names of the tenant in the log */
  async function askAll(authorization: string) {
    const answers: unknown[] = [];
    const lines: Awaited<ReturnType<typeof waitForLogLines>> = [];
    // On a busy machine, a worker may miss its turn.
    for (let i = 0; i < 4 || (i < 40 && new Set(lines.map(({ pid }) => pid)).size < 2); i += 1) {
      answers.push((await ask(notigraph, authorization)).answer);
      lines.push(...(await waitForLogLines(notigraph, 'operation', asked + 1)).slice(asked));
      asked += 1;
    }
    expect(answers).toEqual(Array(answers.length).fill(answers[0]));
    const pids = [...new Set(lines.map(({ pid }) => pid))];
    expect(pids).toHaveLength(2);
    return { answer: answers[0], pids, names: new Set(lines.map(({ tenant }) => tenant)) };
  }

  // A tenant is added on both. They ignore SIGHUP, which a terminal sends to all processes.
  const { answer: before, pids } = await askAll(globex);
  expect(before).toBe('UNAUTHENTICATED');
  for (const pid of pids) {
    process.kill(pid, 'SIGHUP');
  }
  await configure(upstream.url, ['acme', 'globex'], others);
  await reload(RELOADED);
  const { names } = await askAll(globex);
  expect(names.size).toBe(1);

  // An invalid file changes nothing, also for a worker that starts later.
  await configure(upstream.url, ['acme'], { ...others, maxRetries: 'many' });
  await reload(REJECTED);
  const since = await invalidSince(notigraph);
  expect(since).toBeGreaterThan(0);
  await configure(upstream.url, ['acme'], { ...others, workers: 1, cache: true }); // There are two workers until a restart.
  expect(await reload(REJECTED)).toMatchObject({
    problems: [{ problem: expect.stringMatching(/^cache uses the store memory, which requires a single worker/) }],
  });
  expect(await invalidSince(notigraph)).toBe(since);
  const [victim = 0] = findWorkerPids(notigraph);
  process.kill(victim, 'SIGKILL');
  // The reloads at the start and above have replaced two workers each.
  const { workerPid: replacement } = (await waitForLogLines(notigraph, 'a worker listens in its place', 5))[4];
  expect(await askAll(globex)).toMatchObject({ answer: GROUPS, pids: expect.arrayContaining([replacement]), names });

  // A worker that doesn't respond is replaced as well.
  await configure(upstream.url, ['acme'], others);
  process.kill(replacement, 'SIGSTOP');
  await reload(RELOADED);
  expect(isRunning(replacement)).toBe(false);
  expect(await askAll(globex)).toMatchObject({ answer: 'UNAUTHENTICATED' });
  expect(await askAll(acme)).toMatchObject({ answer: GROUPS });

  const metrics = await (await request(new URL('/metrics', notigraph.url))).body.text();
  expect(metricValues(metrics, /^notigraph_(?:config_reloads|workers_replaced)_total/)).toEqual({
    'notigraph_config_reloads_total{result="ok"}': 3,
    'notigraph_config_reloads_total{result="rejected"}': 2,
    notigraph_workers_replaced_total: 1, // Without those that a reload replaced.
  });
  expect(await notigraph.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
});

it('with workers, keeps the previous configuration if a worker does not start with the next one', async () => {
  await using upstream = await startService(() => ({ body: { data: [group()] } }));
  const others = { reloadSeconds: 86_400, workers: 2 };
  await configure(upstream.url, ['acme'], others);
  // The first two workers start, the third replaces one of them, and the fourth fails.
  const exits = "if (process.env.NOTIGRAPH_WORKER_ID === '4') process.exit(7)";
  await using notigraph = await startNotigraph({
    cwd: folder.path(),
    env: { ...TENANT_ENV, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(exits)}` },
  });
  const reload = (message: string) => untilLogged(notigraph, message, () => process.kill(notigraph.pid, 'SIGHUP'));
  await configure(upstream.url, ['acme', 'globex'], others);
  expect(await reload(REJECTED)).toMatchObject({
    problems: [{ problem: 'A worker ended (exit code 7) before it listened.' }],
  });
  const globex = await signer.bearer({ tenant: 'globex' });
  for (let i = 0; i < 6; i += 1) {
    expect(await ask(notigraph, globex)).toMatchObject({ answer: 'UNAUTHENTICATED' });
  }
  await reload(RELOADED);
  for (let i = 0; i < 6; i += 1) {
    expect(await ask(notigraph, globex)).toMatchObject({ answer: GROUPS });
  }
  expect(await notigraph.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
});

/** Function in a coverage report of V8. Its first range is the whole function, with the number of its calls. */
interface CoveredFunction {
  functionName: string;
  ranges: { count: number }[];
}

/** Returns how often each process of a run called the function that parses settings, by the coverage that it wrote at its end. */
async function readParseCounts(folder: string): Promise<number[]> {
  const reports = await Promise.all((await readdir(folder)).map((name) => readFile(`${folder}/${name}`, 'utf8')));
  return reports
    .map((report): { url: string; functions: CoveredFunction[] }[] => JSON.parse(report).result)
    .map((scripts) =>
      scripts
        .filter(({ url }) => url.includes('/dist/cli/'))
        .flatMap(({ functions }) => functions.filter(({ functionName }) => functionName === 'parseSettings'))
        .reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0),
    )
    .toSorted();
}

it('parses the settings once per start and per reload, and in no worker, where gateways are built', async () => {
  await using upstream = await startService(() => ({ body: { data: [group()] } }));
  await configure(upstream.url, ['acme'], { workers: 2 });
  const coverage = folder.path('coverage');
  const env = { ...TENANT_ENV, NODE_V8_COVERAGE: coverage };
  await using notigraph = await startNotigraph({ cwd: folder.path(), env });
  await configure(upstream.url, ['globex'], { workers: 2 });
  await untilLogged(notigraph, RELOADED, () => process.kill(notigraph.pid, 'SIGHUP'));
  expect(await ask(notigraph, await signer.bearer({ tenant: 'globex' }))).toMatchObject({ answer: GROUPS });
  expect(await notigraph.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  expect(await readParseCounts(coverage)).toEqual([0, 0, 0, 0, 2]); // The reload has replaced both workers.
});
