import { writeFile } from 'node:fs/promises';
import { PerformanceObserver } from 'node:perf_hooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startConnectProxy } from '../support/connect-proxy.ts';
import { environmentOfImage } from '../support/deploy.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { startTestIssuer } from '../support/issuer.ts';
import { ofTest } from '../support/lifetime.ts';
import { startLossyAddress } from '../support/lossy-address.ts';
import { canMapNames, mapNames, mappedOnly, startSilentDns } from '../support/names.ts';
import { type ProcessOptions, runNotigraph, startNotigraph } from '../support/process.ts';
import { group, subscriber, workflow } from '../support/records.ts';
import { hasRedis, redisOnly, startRedis } from '../support/redis.ts';
import { createTestFolder } from '../support/sandbox-files.ts';
import { sendOperation } from '../support/send-operation.ts';
import { type ScriptedService, startService } from '../support/service.ts';

guards('src/network/connector.ts', 'openSocket');
guards('src/network/connector.ts', 'lookUp');
guards('src/network/connector.ts', 'createLookup');

const READ = '{ notificationGroups { name } }';
const EMPTY = { data: { notificationGroups: [] } };

const startEmptyService = () => startService(() => ({ body: { data: [] } }));

const configured = (settings: object, options: ProcessOptions = {}): ProcessOptions => ({
  ...options,
  env: { NOTIGRAPH_CONFIG_TEXT: JSON.stringify(settings), ...options.env },
});

it('connections that are opened at the same time share one lookup, and later ones look the name up again', async () => {
  await using service = await startService(({ path }) => ({ body: { data: workflow({ _id: path }) } }));
  const url = service.url.replace('127.0.0.1', 'localhost');
  await using gateway = await startGateway({ upstream: url, isolateConnections: 'credential' });
  let lookups = 0;
  const observer = new PerformanceObserver((list) => {
    lookups += list.getEntriesByName('lookup').filter((entry) => JSON.stringify(entry).includes('"localhost"')).length;
  });
  observer.observe({ entryTypes: ['dns'] });
  onTestFinished(() => observer.disconnect());
  const fields = Array.from({ length: 8 }, (_, i) => `w${i}: workflow(idOrIdentifier: "${i}") { name }`);
  for (const [round, key] of ['a', 'b'].entries()) {
    const authorization = `ApiKey ${key}`;
    await gateway.data('{ workflow(idOrIdentifier: "first") { name } }', {}, { authorization }); // One call, until the key is known.
    const held = service.hold(undefined, 8);
    const reads = gateway.data(`{ ${fields.join(' ')} }`, {}, { authorization });
    await service.arrived(9 * (round + 1));
    held.release();
    await reads;
  }
  expect(service.connections()).toBe(16);
  await expect.poll(() => lookups).toBe(4); // For each key, that of the first call and that of the other seven connections.
});

describe.runIf(canMapNames)(`R47: a name that DNS never answers${mappedOnly}`, () => {
  /** Starts a gateway in front of a service that is well, and of others whose names nobody answers, as that of Redis. Each of these is in use. */
  async function startBeside(silent: readonly string[], env: Record<string, string>) {
    const service = ofTest(await startEmptyService());
    const dns = ofTest(await startSilentDns());
    const { wrapper } = ofTest(mapNames({ 'healthy.test': ['127.0.0.1'] }));
    const healthy = { url: service.url.replace('127.0.0.1', 'healthy.test'), default: true };
    const others = silent.map((name, i) => [`other-${i}`, { url: `http://${name}:9`, pathPrefix: `/other-${i}` }]);
    const settings = {
      upstreams: { healthy, ...Object.fromEntries(others) },
      rateLimits: { store: { redis: { url: `redis://${silent[0]}:9` } } },
      isolateConnections: 'credential', // Each read needs a new connection.
    };
    const gateway = ofTest(await startNotigraph(configured(settings, { env, wrapper })));
    const { origin } = new URL(gateway.url);
    for (const [name] of [...others, ...others, ...others]) {
      sendOperation(`${origin}/${name}/graphql`, READ, {}, 'ApiKey a').catch(() => {}); // It may still wait at the end of the test.
    }
    await expect.poll(() => silent.filter((name) => !dns.asked().includes(name))).toEqual([]);
    return { service, read: (key: string) => sendOperation(gateway.url, READ, {}, `ApiKey ${key}`) };
  }

  const { UV_THREADPOOL_SIZE = '' } = environmentOfImage();

  it.each([
    ['one', ['hangs.test'], {}],
    ['seven in the image', Array.from({ length: 7 }, (_, i) => `hangs-${i}.test`), { UV_THREADPOOL_SIZE }],
  ])('leaves the calls of other services as they are: %s', async (_, silent, env) => {
    const { service, read } = await startBeside(silent, env);
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      expect(await read(key)).toEqual(EMPTY);
    }
    expect(service.connections()).toBeGreaterThanOrEqual(5);
  });

  it('is reported by the doctor', async () => {
    await using _ = await startSilentDns();
    await using names = mapNames({});
    const env = { NOTIGRAPH_DOCTOR_KEY: 'key', RES_OPTIONS: 'timeout:3 attempts:1' }; // The process ends once the system has given up.
    const options = { args: ['doctor'], env, wrapper: names.wrapper };
    const { stdout } = await runNotigraph(configured({ upstream: 'http://hangs.test' }, options));
    expect(stdout).toContain("problem  The name hangs.test can't be resolved (EAI_AGAIN).");
  });
});

describe.runIf(canMapNames)(`R48: a name with two addresses${mappedOnly}`, () => {
  // The system sorts addresses. These stay in their order.
  const [LOSSY, SILENT, OPEN, REFUSING] = ['127.0.0.4', '127.0.0.5', '127.0.0.6', '127.0.0.7'];
  const UNREACHABLE = '255.255.255.255';

  const KEYS = { NOTIGRAPH_DOCTOR_KEY: 'key', NOTIGRAPH_IMPORT_KEY: 'key' };

  /** Gives a server a name with an address that can lose packets, and with another one that refuses connections, as on a network without IPv6. */
  async function nameServer({ url }: { url: string }, addresses: readonly string[] = [LOSSY, REFUSING]) {
    const lossy = await startLossyAddress(LOSSY, Number(new URL(url).port));
    const names = mapNames({ localhost: addresses });
    return {
      /** URL of the server by its name. */
      url: url.replace('127.0.0.1', 'localhost'),
      wrapper: names.wrapper,
      ...lossy,
      async [Symbol.asyncDispose]() {
        await names[Symbol.asyncDispose]();
        await lossy[Symbol.asyncDispose]();
      },
    };
  }

  /** Starts a gateway that doesn't retry, and opens a connection for each API key. */
  async function startNamed(service: ScriptedService, { wrapper }: { wrapper: readonly string[] }, settings: object) {
    const all = { maxRetries: 0, isolateConnections: 'credential', ...settings };
    const gateway = await startNotigraph(configured(all, { wrapper }));
    await service.arrived(1); // That of the check at the start.
    service.forget();
    return { ...gateway, read: (key = 'a') => sendOperation(gateway.url, READ, {}, `ApiKey ${key}`) };
  }

  it.each([
    ['first', [LOSSY, REFUSING]],
    ['last', [REFUSING, LOSSY]],
  ])('of which the %s works is connected although a packet is lost', async (_, addresses) => {
    await using service = await startEmptyService();
    await using named = await nameServer(service, addresses);
    await using gateway = await startNamed(service, named, { upstream: named.url });
    await named.loseOne();
    expect(await gateway.read()).toEqual(EMPTY);
    expect(named.hasLost()).toBe(true);
    expect(service.requests).toHaveLength(1);
  });

  it('of which the first never answers is connected without a retry, and no attempt is left', async () => {
    await using service = await startEmptyService();
    await using named = await nameServer(service, [LOSSY, OPEN]);
    await using _ = await startLossyAddress(OPEN, Number(new URL(service.url).port));
    await using gateway = await startNamed(service, named, { upstream: named.url });
    await named.loseAll();
    for (const key of ['a', 'b', 'c']) {
      expect(await gateway.read(key)).toEqual(EMPTY);
    }
    expect(service.connections()).toBe(4); // The first is that of the check.
    expect(named.waiting()).toBe(0);
  });

  it('of which none answers is given up after two seconds, which no open connection notices', async () => {
    await using service = await startEmptyService();
    await using named = await nameServer(service, [LOSSY, REFUSING]);
    await using gateway = await startNamed(service, named, { upstream: service.url });
    const held = service.hold();
    const slow = gateway.read();
    await held.arrived;
    await named.loseAll();
    const options = { args: ['doctor'], env: KEYS, wrapper: named.wrapper };
    const { stdout } = await runNotigraph(configured({ upstream: named.url }, options));
    expect(stdout).toMatch(/problem {2}localhost can't be reached on port \d+ \(ETIMEDOUT\)\./);
    held.release();
    expect(await slow).toEqual(EMPTY);
  });

  it('of which one never answers and the other loses a packet is connected', async () => {
    await using service = await startEmptyService();
    await using silent = await startLossyAddress(SILENT, Number(new URL(service.url).port));
    await using named = await nameServer(service, [SILENT, LOSSY]);
    await using gateway = await startNamed(service, named, { upstream: named.url });
    await Promise.all([silent.loseAll(), named.loseOne()]);
    expect(await gateway.read()).toEqual(EMPTY);
    expect([silent.hasLost(), named.hasLost()]).toEqual([true, true]);
  });

  it('is that of an issuer, whose keys are fetched although a packet is lost', async () => {
    await using service = await startEmptyService();
    await using issuer = await startTestIssuer({ claims: { aud: 'app', tenant: 'acme', scope: 'groups:read' } });
    await using named = await nameServer(issuer);
    const trusted = { issuer: issuer.url, audience: 'app', jwks: issuer.jwks.replace('127.0.0.1', 'localhost') };
    const browser = { issuers: [trusted], scopes: ['groups:read' as const], tenants: { acme: { env: 'ACME_KEY' } } };
    await using gateway = await startNotigraph(
      configured({ upstream: service.url, clients: { browser } }, { wrapper: named.wrapper, env: { ACME_KEY: 'key' } }),
    );
    await named.loseOne();
    expect(await sendOperation(gateway.url, READ, {}, `Bearer ${issuer.sign()}`)).toEqual(EMPTY);
    expect(named.hasLost()).toBe(true);
  });

  it('is that of a proxy, which is connected although a packet is lost', async () => {
    await using service = await startEmptyService();
    await using proxy = await startConnectProxy(service.url);
    await using named = await nameServer(proxy);
    await using gateway = await startNamed(service, named, { upstream: 'http://service.test', proxy: named.url });
    await named.loseOne();
    expect(await gateway.read()).toEqual(EMPTY);
    expect(named.hasLost()).toBe(true);
  });

  it.runIf(hasRedis)(`is that of Redis, which is connected although a packet is lost${redisOnly}`, async () => {
    await using redis = await startRedis();
    await using named = await nameServer(redis);
    await named.loseOne();
    const rateLimits = { store: { redis: { url: named.url } } };
    await using gateway = await startNotigraph(configured({ upstream: 'http://127.0.0.1:9', rateLimits }, named));
    const { origin } = new URL(gateway.url);
    const ready = async () => (await fetch(`${origin}/readyz`)).text();
    await expect.poll(ready).toBe('ok\n');
    expect(gateway.output()).not.toMatch(/"reason":"(?!TIMEOUT")/); // On a busy machine, a trial may take longer than 100 ms.
    expect(named.hasLost()).toBe(true);
  });

  it('that leads to no server is reported with the first reason', async () => {
    await using service = await startEmptyService();
    await using names = mapNames({ localhost: [REFUSING, UNREACHABLE] });
    const url = service.url.replace('127.0.0.1', 'localhost');
    const { stdout } = await runNotigraph(
      configured({ upstream: url }, { args: ['doctor'], env: KEYS, wrapper: names.wrapper }),
    );
    expect(stdout).toContain(`problem  localhost can't be reached on port ${new URL(url).port} (ECONNREFUSED).`);
  });

  it.each(['doctor', 'import'])('is connected by the %s although a packet is lost', async (command) => {
    await using service = await startService(({ method, body }) => ({
      body: { data: method === 'GET' ? [group({})] : subscriber(JSON.parse(body)) },
    }));
    await using named = await nameServer(service);
    await named.loseOne();
    const folder = await createTestFolder();
    await writeFile(folder.path('users.csv'), 'subscriberId\nada\n');
    const args = { doctor: ['doctor'], import: ['subscribers', 'import', 'users.csv'] }[command] ?? [];
    const options = { args, env: KEYS, cwd: folder.path(), wrapper: named.wrapper };
    const { stdout } = await runNotigraph(configured({ upstream: named.url, maxRetries: 0 }, options));
    expect(stdout).toMatch(/Port \d+ accepts connections|Applied 1 row/);
    expect(named.hasLost()).toBe(true);
  });
});
