import { readdir, readFile, writeFile } from 'node:fs/promises';
import { request } from 'undici';
import { expect, it } from 'vitest';
import { guards } from '../support/guards.ts';
import { metricValues } from '../support/metrics-text.ts';
import { type NotigraphProcess, startNotigraph } from '../support/process.ts';
import { group } from '../support/records.ts';
import { TENANT_ENV, type Tenant, writeConfig } from '../support/reloads.ts';
import { createFolderOfEachTest } from '../support/sandbox-files.ts';
import { startService } from '../support/service.ts';
import { createSigner } from '../support/tokens.ts';
import { findWorkerPids, isRunning, waitForLogLines } from '../support/worker-load.ts';

guards('src/cli/config/reload.ts', 'withValuesOf');
guards('src/gateway.ts', 'buildGateway.dispose');
guards('src/lib/shared-resources.ts', 'createSharedResources.open');
guards('src/rate-limits/rate-limiter.ts', 'createMemoryRateLimiter.entryOf');

const signer = createSigner();

const folder = createFolderOfEachTest();

/** Writes the configuration file with these tenants and other settings. */
const configure = (upstream: string | undefined, tenants: readonly Tenant[], others: object = {}) =>
  writeConfig(folder.path('notigraph.config.yaml'), signer, tenants, { upstream, ...others });

/** Sends a query. @returns its data or the code of its error, and the calls that are left */
async function ask({ url }: NotigraphProcess, authorization: string, query = '{ notificationGroups { name } }') {
  const { headers, body } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    body: JSON.stringify({ query }),
    reset: true, // The next connection goes to another worker.
  });
  const { data, errors } = (await body.json()) as { data?: object; errors?: { extensions: { code: string } }[] };
  return { answer: errors?.[0]?.extensions.code ?? data, remaining: Number(headers['ratelimit-remaining']) };
}

/** Returns since when a change of the configuration is rejected, in seconds since the Unix epoch. */
async function invalidSince({ url }: NotigraphProcess): Promise<number | undefined> {
  const { body } = await request(new URL('/metrics', url));
  const name = 'notigraph_files_invalid_since_seconds{files="configuration"}';
  return metricValues(await body.text(), /^notigraph_files_invalid/)[name];
}

/** Runs a change, and waits for the next line with the message. @returns the line */
async function untilLogged(notigraph: NotigraphProcess, message: string, change: () => unknown) {
  const linesWith = () => notigraph.output().match(new RegExp(`^.*"msg":"${message}.*$`, 'gm')) ?? [];
  const count = linesWith().length;
  await change();
  await notigraph.printed('stdout', new RegExp(`"msg":"${message}`), count + 1);
  return JSON.parse(linesWith().at(-1) ?? '');
}

const RELOADED = 'the configuration was reloaded';
const REJECTED = 'the configuration was not reloaded';
const GROUPS = { notificationGroups: [{ name: 'Group' }] };

it('applies a changed configuration at SIGHUP, and keeps counters and rate limits', async () => {
  await using upstream = await startService(() => ({ body: { data: [group()] } }));
  await using other = await startService(() => ({ body: { data: [group({ name: 'Other' })] } }));
  await configure(upstream.url, ['acme']);
  await using notigraph = await startNotigraph({ cwd: folder.path(), env: TENANT_ENV });
  const reload = (message: string) => untilLogged(notigraph, message, () => process.kill(notigraph.pid, 'SIGHUP'));
  const [acme, globex] = await Promise.all([signer.bearer(), signer.bearer({ tenant: 'globex' })]);
  expect(await ask(notigraph, acme)).toMatchObject({ answer: GROUPS });
  expect(await ask(notigraph, globex)).toMatchObject({ answer: 'UNAUTHENTICATED' });
  expect(await ask(notigraph, 'ApiKey key')).toEqual({ answer: GROUPS, remaining: 999_999 });

  // A tenant is replaced. A changed port is named, and everything else applies.
  await configure(upstream.url, ['globex'], { maxConnections: 123, maxBodyBytes: 70_000 });
  const restart = await untilLogged(notigraph, 'changed settings', () => reload(RELOADED));
  expect(restart).toMatchObject({ level: 'warn', settings: ['maxBodyBytes', 'maxConnections'] });
  expect(await ask(notigraph, acme)).toMatchObject({ answer: 'UNAUTHENTICATED' });
  expect(await ask(notigraph, globex)).toMatchObject({ answer: GROUPS });
  expect(await ask(notigraph, 'ApiKey key')).toEqual({ answer: GROUPS, remaining: 999_998 });

  // An invalid file changes nothing.
  await configure(upstream.url, ['acme', 'globex'], { clientTokens: {}, maxRetries: 'many' });
  expect(await reload(REJECTED)).toMatchObject({
    level: 'error',
    trigger: 'SIGHUP',
    problems: expect.arrayContaining([
      {
        source: 'notigraph.config.yaml',
        line: 1,
        column: expect.any(Number),
        problem: expect.stringMatching(/^maxRetries must be/),
      },
    ]),
  });
  expect(await ask(notigraph, acme)).toMatchObject({ answer: 'UNAUTHENTICATED' });
  expect(await ask(notigraph, globex)).toMatchObject({ answer: GROUPS });

  // With a changed limit, calls stay used, and calls go to the new service.
  await configure(other.url, ['globex'], {
    clients: { server: { rateLimit: { calls: 100, perSeconds: 6_000 } } },
  });
  expect(await reload(RELOADED)).toMatchObject({ level: 'info', trigger: 'SIGHUP', source: 'notigraph.config.yaml' });
  expect(await ask(notigraph, 'ApiKey key')).toEqual({
    answer: { notificationGroups: [{ name: 'Other' }] },
    remaining: 97,
  });

  const metrics = await (await request(new URL('/metrics', notigraph.url))).body.text();
  expect(metricValues(metrics, /^notigraph_(?:config_reloads|operations)_total/)).toEqual({
    'notigraph_config_reloads_total{result="ok"}': 2,
    'notigraph_config_reloads_total{result="rejected"}': 1,
    'notigraph_operations_total{type="query",code="OK"}': 6,
    'notigraph_operations_total{type="none",code="UNAUTHENTICATED"}': 3,
  });
  expect(await invalidSince(notigraph)).toBe(0);

  // States of upstreams that were removed are gone, because an alert about one would never end.
  const eu = { url: upstream.url, default: true };
  await configure(undefined, ['globex'], { upstreams: { eu, us: { url: other.url, pathPrefix: '/us' } } });
  await reload(RELOADED);
  await configure(undefined, ['globex'], { upstreams: { eu } });
  await reload(RELOADED);
  const states = await (await request(new URL('/metrics', notigraph.url))).body.text();
  expect(Object.keys(metricValues(states, /^notigraph_circuit_breaker_state/))).toEqual([
    'notigraph_circuit_breaker_state{upstream="eu"}',
  ]);

  // Without an upstream, calls must not go to that of the startup again.
  await configure(undefined, ['globex'], { upstreams: { us: { url: other.url, default: true } } });
  await reload(RELOADED);
  await configure(undefined, ['globex']);
  expect(await reload(REJECTED)).toMatchObject({
    problems: [{ problem: expect.stringMatching(/requires a restart/) }],
  });
  expect(await ask(notigraph, globex)).toMatchObject({ answer: { notificationGroups: [{ name: 'Other' }] } });
});

it('applies a changed file, logs the problem of an invalid one once, and lets requests finish with the old configuration', async () => {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  await using slow = await startService(async ({ headers }) => {
    if (headers.authorization !== undefined) {
      asked.resolve();
      await released.promise;
    }
    return { body: { data: [] } };
  });
  await using upstream = await startService(() => ({ body: { data: [group()] } }));
  await configure(slow.url, [], { reloadSeconds: 0.05, clients: {} });
  await using notigraph = await startNotigraph({ cwd: folder.path(), env: TENANT_ENV });
  const twice =
    'mutation { a: deleteFeed(input: { id: "a" }) { __typename } b: deleteFeed(input: { id: "b" }) { __typename } }';
  const answer = ask(notigraph, 'ApiKey key', twice);
  await asked.promise;

  const applied = await untilLogged(notigraph, RELOADED, () =>
    configure(upstream.url, [], { reloadSeconds: 0.05, clients: {} }),
  );
  expect(applied).toMatchObject({ trigger: 'file' });
  expect(await ask(notigraph, 'ApiKey key')).toMatchObject({ answer: GROUPS });
  released.resolve();
  expect(await answer).toMatchObject({
    answer: { a: { __typename: 'DeleteFeedSuccess' }, b: { __typename: 'DeleteFeedSuccess' } },
  });

  const path = folder.path('notigraph.config.yaml');
  const before = Date.now() / 1_000;
  await untilLogged(notigraph, REJECTED, () => writeFile(path, '{ "maxRetries": '));
  expect(await invalidSince(notigraph)).toBeGreaterThanOrEqual(before);
  await writeFile(path, '{  "maxRetries": ');
  await untilLogged(notigraph, 'changed settings', () =>
    configure(upstream.url, [], { clients: {}, logLevel: 'warn', maxConnections: 123 }),
  );
  expect(notigraph.output().match(new RegExp(REJECTED, 'g'))).toHaveLength(1);

  expect(await invalidSince(notigraph)).toBe(0);

  // The log has its new level. SIGTERM still stops the process.
  const printed = notigraph.output();
  expect(await ask(notigraph, 'ApiKey key')).toMatchObject({ answer: GROUPS });
  const { code, stdout } = await notigraph.stop('SIGTERM');
  expect({ code, added: stdout.slice(printed.length) }).toEqual({
    code: 0,
    added: expect.stringMatching(/^Shutting down: [^\n]+\n$/),
  });
});

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
