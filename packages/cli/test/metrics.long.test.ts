import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { metricValues } from '../../../test/support/metrics-text.ts';
import { startNotigraph } from '../../../test/support/process.ts';
import { hasRedis, redisOnly, startRedis } from '../../../test/support/redis.ts';
import { createTemporaryFolder } from '../../../test/support/sandbox-files.ts';
import { sendOperation } from '../../../test/support/send-operation.ts';
import { SETTINGS } from '../src/config/settings.ts';

const GROUPS = '{ notificationGroups { id } }';

describe('the path /metrics', () => {
  it('serves the text format, with metrics of the process', async () => {
    await using notigraph = await startNotigraph({ args: ['--sandbox', ':memory:'] });
    await sendOperation(notigraph.url, GROUPS);
    const response = await fetch(new URL('/metrics', notigraph.url));
    expect([response.status, response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
      'no-store',
    ]);
    const text = await response.text();
    expect(metricValues(text, /^notigraph_(operations|upstream_requests)_total/)).toEqual({
      'notigraph_operations_total{type="query",code="OK"}': 1,
      'notigraph_upstream_requests_total{method="GET",route="/v1/notification-groups",result="2xx"}': 1,
    });
    const own = metricValues(text, /^(process|nodejs)_/);
    expect(own).toMatchObject({ [`nodejs_version_info{version="${process.version}"}`]: 1 });
    expect(own.process_resident_memory_bytes).toBeGreaterThan(10e6);
    expect(own.process_resident_memory_bytes).toBeLessThan(2e9);
    expect(own.process_cpu_seconds_total).toBeGreaterThan(0.05);
    expect(own.process_cpu_seconds_total).toBeLessThan(60);
    expect(Math.abs(Number(own.process_start_time_seconds) - Date.now() / 1_000)).toBeLessThan(60);
    expect(own.nodejs_eventloop_active_seconds_total).toBeGreaterThan(0);
    expect(own.nodejs_eventloop_active_seconds_total).toBeLessThan(60);
  });

  it.runIf(hasRedis)(`and /readyz show that rate limits aren't shared, with the reason${redisOnly}`, async () => {
    await using redis = await startRedis({ password: 'right-0815' });
    const env = {
      REDIS_URL: redis.url.replace('right-0815', 'wrong-4711'),
      NOTIGRAPH_CONFIG_TEXT: 'rateLimits: { store: { redis: { url: { env: REDIS_URL } } } }',
    };
    await using notigraph = await startNotigraph({ env, args: ['--sandbox', ':memory:'] });
    await expect.poll(notigraph.output).toContain("Redis can't be used: the user name or password is wrong.");
    const ready = await fetch(new URL('/readyz', notigraph.url));
    expect([ready.status, await ready.text()]).toEqual([
      200,
      'ok\nrate limits: Redis is unavailable (WRONGPASS: the user name or password is wrong)\n',
    ]);
    const text = await (await fetch(new URL('/metrics', notigraph.url))).text();
    expect(metricValues(text, /^notigraph_rate_limit_/)).toEqual({
      notigraph_rate_limit_store_up: 0,
      notigraph_rate_limit_fallbacks_total: 1,
    });
    expect(notigraph.output()).not.toMatch(/4711|0815/);
  });
});

it('/config on the admin port shows the configuration in use with its sources, also after a reload, and no secret', async () => {
  await using folder = await createTemporaryFolder();
  const configure = (maxRetries: number) =>
    writeFile(
      folder.path('notigraph.config.yaml'),
      JSON.stringify({
        upstream: 'http://192.0.2.1',
        reloadSeconds: 86_400,
        maxRetries,
        graphiql: { authorization: 'ApiKey obvious-test-key-of-graphiql' },
        cache: { store: { redis: { url: { env: 'REDIS_URL' } } }, secret: { env: 'CACHE_SECRET' } },
        clients: {
          browser: {
            issuers: [
              {
                issuer: 'https://login.example.com',
                audience: 'a',
                jwks: 'https://login.example.com/keys?t=obvious-test',
              },
            ],
            scopes: ['groups:read'],
            tenants: { acme: { env: 'ACME_KEY' }, globex: { file: 'globex-key' } },
          },
        },
      }),
    );
  await configure(1);
  await writeFile(folder.path('globex-key'), 'obvious-test-key-of-globex');
  const secrets = {
    REDIS_URL: 'redis://user:obvious-test-password@127.0.0.1:9',
    CACHE_SECRET: 'obvious-test-secret-0123456789abcdef',
    ACME_KEY: 'obvious-test-key-of-acme',
    HTTP_PROXY: 'http://user:obvious-test-password@127.0.0.1:9',
  };
  const args = ['--admin-port', '0', '--log-level', 'info'];
  await using notigraph = await startNotigraph({ cwd: folder.path(), args, env: secrets });
  const [, adminUrl = ''] = /(http:\S+)\/livez/.exec(notigraph.output()) ?? [];
  const readSettings = async () => {
    const text = await (await fetch(`${adminUrl}/config`)).text();
    expect(text).not.toMatch(/obvious-test/);
    return JSON.parse(text);
  };
  const settings = await readSettings();
  expect(Object.keys(SETTINGS)).toEqual(expect.arrayContaining(Object.keys(settings))); // No texts of modules.
  expect(settings).toMatchObject({
    maxRetries: { value: 1, from: 'notigraph.config.yaml:1' },
    logLevel: { value: 'info', from: '--log-level' },
    maxFields: { from: 'default' },
    proxy: { value: '(not shown)', from: 'environment' },
    cache: { value: { store: { redis: { url: '(not shown)' } }, secret: '(not shown)' } },
    clients: { value: { browser: { tenants: { acme: '(not shown)', globex: { file: folder.path('globex-key') } } } } },
  });
  await configure(0);
  notigraph.signal('SIGHUP');
  await notigraph.printed('stdout', /the configuration was reloaded/);
  expect(await readSettings()).toMatchObject({ maxRetries: { value: 0 } });
  expect(await fetch(new URL('/config', notigraph.url))).toMatchObject({ status: 404 });
});
