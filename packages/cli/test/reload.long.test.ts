import { writeFile } from 'node:fs/promises';
import { request } from 'undici';
import { expect, it } from 'vitest';
import { startServing } from '../../../test/support/command.ts';
import { guards } from '../../../test/support/guards.ts';
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

guards('packages/cli/src/config/reload.ts', 'withValuesOf');
guards('src/gateway.ts', 'buildGateway.dispose');
guards('src/lib/shared-resources.ts', 'createSharedResources.open');
guards('src/rate-limits/rate-limiter.ts', 'createMemoryRateLimiter.entryOf');

const signer = createSigner();

const folder = createFolderOfEachTest();

/** Writes the configuration file with these tenants and other settings. */
const configure = (upstream: string | undefined, tenants: readonly Tenant[], others: object = {}) =>
  writeConfig(folder.path('notigraph.config.yaml'), signer, tenants, { upstream, ...others });

const GROUPS = { notificationGroups: [{ name: 'Group' }] };

it('keeps serving with a file of thousands of unknown settings, of which the log has the first', async () => {
  await using upstream = await startService(() => ({ body: { data: [group()] } }));
  await configure(upstream.url, ['acme']);
  await using notigraph = await startNotigraph({ cwd: folder.path(), env: TENANT_ENV });
  const settings = Array.from({ length: 60_000 }, (_, i) => `u${i}: 1\n`);
  await writeFile(folder.path('notigraph.config.yaml'), settings.join(''));
  const { problems } = await untilLogged(notigraph, REJECTED, () => notigraph.signal('SIGHUP'));
  expect(problems).toHaveLength(21);
  expect(problems).toMatchObject({
    0: { line: 1, column: 1, problem: 'unknown setting "u0".' },
    20: { problem: 'and 59980 more problems.' },
  });
  expect(await ask(notigraph, await signer.bearer())).toMatchObject({ answer: GROUPS });
});

it('applies a changed configuration at SIGHUP, and keeps counters and rate limits', async () => {
  await using upstream = await startService(() => ({ body: { data: [group()] } }));
  await using other = await startService(() => ({ body: { data: [group({ name: 'Other' })] } }));
  await configure(upstream.url, ['acme']);
  await using notigraph = await startNotigraph({ cwd: folder.path(), env: TENANT_ENV });
  const reload = (message: string) => untilLogged(notigraph, message, () => notigraph.signal('SIGHUP'));
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
  await using notigraph = await startServing({ cwd: folder.path(), env: TENANT_ENV });
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
