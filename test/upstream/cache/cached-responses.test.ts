import { writeFile } from 'node:fs/promises';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createGateway, createGatewayState, type Gateway, type GatewayOptions } from '../../../src/gateway.ts';
import {
  type CachedGateway,
  fetchFrom,
  READ_WORKFLOW,
  respondTo,
  startCachedGateway,
} from '../../support/cached-gateway.ts';
import { guards } from '../../support/guards.ts';
import { metricValues } from '../../support/metrics-text.ts';
import { createTemporaryFolder } from '../../support/sandbox-files.ts';
import { startService } from '../../support/service.ts';
import { registerTestTraces } from '../../support/traces.ts';

guards('src/http/pipeline/parts.ts', 'createParts.createState.bypassesCache');
guards('src/upstream/upstreams.ts', 'Upstreams.close');
guards('src/gateway.ts', 'buildGateway.dispose');
guards('src/redis/redis.ts', 'describeStore');
guards('src/upstream/calls/cached-service.ts', 'CachedService.#confirmation.confirm');
guards('src/http/pipeline/respond.ts', 'createRespond');

const READ_BOTH = '{ workflow(idOrIdentifier: "welcome") { name } notificationGroups { name } }';
const RENAME = 'mutation { updateNotificationGroup(input: { id: "G1", name: "new" }) { __typename } }';

const fail = (cached: CachedGateway) => {
  cached.service.script = () => ({ status: 503, body: {} });
};

/** Adds an extension to every response, as a host's plugin. */
const useHostExtension = (): NonNullable<GatewayOptions['plugins']>[number] => ({
  onExecute: () => ({
    onExecuteDone({ result, setResult }) {
      setResult({ ...result, extensions: { host: 'here' } } as typeof result);
    },
  }),
});

describe('the cache', () => {
  it('tells clients, log and metrics the age of data that is used because the service fails', async () => {
    await using cached = await startCachedGateway({ plugins: [useHostExtension()] });
    const send = async () => {
      const { body, headers } = await cached.send(READ_BOTH, {}, { authorization: 'ApiKey a' });
      return { extensions: body.extensions, cacheControl: headers.get('cache-control'), age: headers.get('age') };
    };
    const current = { extensions: { host: 'here' }, cacheControl: 'no-store', age: null };
    expect(await send()).toEqual(current);
    cached.advance(30);
    expect(await send()).toEqual(current);
    cached.advance(60.5);
    fail(cached);
    expect(await send()).toEqual({
      ...current,
      extensions: { host: 'here', cache: { stale: true, ageSeconds: 90 } },
    });
    const lines = cached.log.filter(({ msg }) => msg === 'operation');
    expect(lines.map(({ upstreamCalls, cached, staleSeconds }) => [upstreamCalls, cached, staleSeconds])).toEqual([
      [2, undefined, undefined],
      [0, 2, undefined],
      [2, 2, 90],
    ]);
    const metrics = metricValues(await cached.metrics(), /^notigraph_cache_(?:reads|stale)/);
    const samples = (resource: string) => ({
      [`notigraph_cache_reads_total{resource="${resource}",result="miss"}`]: 1,
      [`notigraph_cache_reads_total{resource="${resource}",result="fresh"}`]: 1,
      [`notigraph_cache_reads_total{resource="${resource}",result="stale"}`]: 1,
      [`notigraph_cache_stale_seconds_total{resource="${resource}"}`]: 90.5,
    });
    expect(metrics).toEqual({ ...samples('workflows'), ...samples('notificationGroups') });
  });

  it('counts refreshes in the background, invalidations by their reason, and what is stored', async () => {
    await using cached = await startCachedGateway();
    await cached.run(READ_BOTH);
    const size = metricValues(await cached.metrics(), /^notigraph_cache_(?:bytes|entries|evictions|store)/);
    expect(size).toEqual({
      notigraph_cache_entries: 2,
      notigraph_cache_bytes: expect.any(Number),
      notigraph_cache_evictions_total: 0,
    });
    expect(size.notigraph_cache_bytes).toBeGreaterThan(500);
    cached.advance(31);
    await cached.run(READ_WORKFLOW);
    await expect.poll(() => cached.service.calls().length).toBe(3);
    await cached.run(RENAME);
    cached.service.script = ({ method }) => (method === 'GET' ? { status: 401, body: {} } : { status: 500, body: {} });
    await cached.run(RENAME);
    await cached.run(READ_WORKFLOW);
    expect(metricValues(await cached.metrics(), /^notigraph_cache_(?:inval|entries|reads.*workflows)/)).toEqual({
      notigraph_cache_entries: 2, // Nobody finds them any more. They go when the room is needed.
      'notigraph_cache_reads_total{resource="workflows",result="miss"}': 2,
      'notigraph_cache_reads_total{resource="workflows",result="revalidating"}': 1,
      'notigraph_cache_invalidations_total{reason="write"}': 1,
      'notigraph_cache_invalidations_total{reason="unknown write"}': 1,
      'notigraph_cache_invalidations_total{reason="rejected key"}': 1,
    });
  });

  it('is bypassed by clients that ask for current data, and keeps what they get', async () => {
    await using cached = await startCachedGateway();
    let calls = 0;
    const isAsked = async (cacheControl: string) => {
      await cached.run(READ_WORKFLOW, 'a', { 'cache-control': cacheControl });
      const before = calls;
      calls = cached.service.calls().length;
      return calls > before;
    };
    expect(await isAsked('')).toBe(true);
    for (const directives of ['no-cache', 'No-Cache', 'max-age=0', 'no-store, no-cache', 'no-cache,max-age=5']) {
      expect([directives, await isAsked(directives)]).toEqual([directives, true]);
    }
    for (const directives of ['no-store', 'max-age=01', 'max-age=10', 'x-no-cache', 'no-cached', 'only-if-cached']) {
      expect([directives, await isAsked(directives)]).toEqual([directives, false]);
    }
    cached.change();
    await isAsked('no-cache');
    expect(await cached.run(READ_WORKFLOW)).toEqual({ workflow: { name: 'v1' } });
    expect(metricValues(await cached.metrics(), /^notigraph_cache_reads.*bypass/)).toEqual({
      'notigraph_cache_reads_total{resource="workflows",result="bypass"}': 6,
    });
  });

  it('a read from the cache costs one call of the rate limit', async () => {
    await using cached = await startCachedGateway({
      clients: { server: { rateLimit: { calls: 10, perSeconds: 36_000 } } },
    });
    const remaining: number[] = [];
    for (const query of [READ_WORKFLOW, READ_WORKFLOW, READ_BOTH, '{ __typename }']) {
      const { headers } = await cached.send(query, {}, { authorization: 'ApiKey a' });
      remaining.push(Number(headers.get('ratelimit-remaining')));
    }
    expect(remaining).toEqual([9, 8, 6, 6]);
  });

  it('stays when the gateway is replaced, unless its store changes, and is closed with the last gateway', async () => {
    await using folder = await createTemporaryFolder();
    await using upstream = await startService(({ method, path }) => respondTo(method, path, 'v0'));
    const state = createGatewayState(pino({ level: 'silent' }));
    const open = (options: Partial<GatewayOptions>) => createGateway({ ...options, upstream: upstream.url }, {}, state);
    const read = async (gateway: Gateway) => {
      await fetchFrom(gateway, READ_WORKFLOW);
      return upstream.requests.length;
    };
    const entries = async (gateway: Gateway) => metricValues(await gateway.metrics(), /^notigraph_cache_entries/);
    const first = open({ cache: true });
    expect(await read(first)).toBe(1);
    const second = open({ cache: { freshSeconds: 10 }, maxRetries: 1 });
    await first.dispose();
    expect(await read(second)).toBe(1);
    await using other = open({ cache: { maxBytes: 2 * 1024 * 1024 } });
    expect(await read(other)).toBe(2);
    expect(await entries(second)).toEqual({ notigraph_cache_entries: 1 });
    const withoutManifest = { trustedDocuments: { manifests: [folder.path('missing.json')] } };
    expect(() => open({ cache: true, ...withoutManifest })).toThrow('missing.json'); // It doesn't keep the store open.
    await second.dispose();
    await using third = open({ cache: true });
    expect(await read(third)).toBe(3);
  });

  it('reads its secret from a file, which must be long enough', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('secret');
    const cache = { store: { redis: { url: 'redis://127.0.0.1:9' } }, secret: { file } };
    const open = () => createGateway({ cache, upstream: 'http://127.0.0.1:9' }, { logger: pino({ level: 'silent' }) });
    expect(open).toThrow(`the file ${file} doesn't exist`);
    await writeFile(file, 'x'.repeat(31));
    expect(open).toThrow('the secret of the cache is shorter than 32 characters');
    await writeFile(file, `${'x'.repeat(32)}\n`);
    await open().dispose();
  });

  it('of several upstreams is kept apart', async () => {
    await using upstream = await startService(({ method, path }) => respondTo(method, path.slice(3), 'v0'));
    await using gateway = createGateway({
      cache: true,
      upstreams: {
        eu: { url: `${upstream.url}/eu`, pathPrefix: '/eu' },
        us: { url: `${upstream.url}/us`, pathPrefix: '/us' },
      },
    });
    for (let i = 0; i < 2; i += 1) {
      for (const path of ['/eu', '/us']) {
        await fetchFrom(gateway, '{ notificationGroups { name } }', { path });
      }
    }
    expect(upstream.requests.map(({ path }) => path.split('/')[1])).toEqual(['eu', 'us']);
    expect(metricValues(await gateway.metrics(), /^notigraph_cache_reads/)).toEqual({
      'notigraph_cache_reads_total{upstream="eu",resource="notificationGroups",result="miss"}': 1,
      'notigraph_cache_reads_total{upstream="us",resource="notificationGroups",result="miss"}': 1,
      'notigraph_cache_reads_total{upstream="eu",resource="notificationGroups",result="fresh"}': 1,
      'notigraph_cache_reads_total{upstream="us",resource="notificationGroups",result="fresh"}': 1,
    });
  });

  it('in a Redis that is down is named by health checks and metrics, and every read asks the service', async () => {
    await using upstream = await startService(({ method, path }) => respondTo(method, path, 'v0'));
    await using gateway = createGateway(
      {
        cache: { store: { redis: { url: 'redis://127.0.0.1:9' } }, secret: 'a-fake-secret-of-more-than-32-characters' },
        upstream: upstream.url,
      },
      { logger: pino({ level: 'silent' }) },
    );
    await gateway.connected();
    expect(gateway.degradations()).toEqual({ cache: 'Redis is unavailable (ECONNREFUSED)' });
    await fetchFrom(gateway, READ_WORKFLOW);
    await fetchFrom(gateway, READ_WORKFLOW);
    expect(upstream.requests).toHaveLength(2);
    expect(metricValues(await gateway.metrics(), /^notigraph_cache_[^i]/)).toEqual({
      notigraph_cache_store_up: 0,
      'notigraph_cache_reads_total{resource="workflows",result="unavailable"}': 2,
    });
  });
});

const ROUTE = 'GET /v1/workflows/{workflowIdOrIdentifier}';

it('a trace links to the request that loaded a stored response, and has a span for a refresh in the background', async () => {
  using traces = registerTestTraces();
  await using cached = await startCachedGateway();
  await cached.run(READ_WORKFLOW);
  const [loadingServer, loading] = traces.take();
  expect([loadingServer?.name, loading?.name]).toEqual(['query', ROUTE]);
  await cached.run(READ_WORKFLOW);
  expect(traces.take()).toMatchObject([{ name: 'query', links: [`${loading?.traceId} ${loading?.spanId}`] }]);
  cached.advance(31);
  await cached.run(READ_WORKFLOW);
  await expect.poll(() => traces.raw().length).toBe(2);
  const spans = traces.take();
  const server = spans.find(({ kind }) => kind === 'SERVER');
  const refresh = spans.find(({ kind }) => kind === 'CLIENT');
  expect(server?.links).toEqual([`${loading?.traceId} ${loading?.spanId}`]);
  expect(refresh).toMatchObject({ name: ROUTE, traceId: server?.traceId, parentId: server?.spanId });
});

it('the log of calls says which were answered from the cache, and the age', async () => {
  let time = 0;
  const calls: unknown[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => calls.push(JSON.parse(line).calls) });
  await using upstream = await startService(({ method, path }) => respondTo(method, path, 'v0'));
  await using gateway = createGateway({ upstream: upstream.url, cache: true }, { logger, monotonicNow: () => time });
  await fetchFrom(gateway, READ_WORKFLOW);
  time = 12_345;
  await fetchFrom(gateway, READ_WORKFLOW);
  const call = { method: 'GET', route: '/v1/workflows/{workflowIdOrIdentifier}' };
  expect(calls).toEqual([
    [{ ...call, attempt: 1, httpStatus: 200, ms: expect.any(Number) }],
    [{ ...call, ageMs: 12_345 }],
  ]);
});
