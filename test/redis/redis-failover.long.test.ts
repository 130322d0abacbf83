import { writeFile } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import { cacheOf } from '../support/cache-store-contract.ts';
import { READ_WORKFLOW, respondTo } from '../support/cached-gateway.ts';
import { createAuthority, hasOpenssl, opensslOnly } from '../support/certificates.ts';
import { startGateway } from '../support/gateway.ts';
import { hasRedis, redisOnly, startRedis, type TestRedis } from '../support/redis.ts';
import { createLimiter } from '../support/redis-limiter.ts';
import { startRedisProxy } from '../support/redis-proxy.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { startService } from '../support/service.ts';
import { createRedisCache, SECRET } from '../support/test-cache.ts';

const SLOW_POLL = { timeout: 20_000, interval: 20 };

const portOf = ({ url }: TestRedis) => Number(new URL(url).port);

/** Starts a primary with its replica. */
async function startPair() {
  const args = ['--repl-diskless-sync-delay', '0']; // By default, a replica waits five seconds for others.
  const [first, second] = [await startRedis({ args }), await startRedis({ args })];
  const name = await startRedisProxy(first);
  await second.command('REPLICAOF', '127.0.0.1', String(portOf(first)));
  await vi.waitUntil(async () => [await second.command('ROLE')].flat().includes('connected'), SLOW_POLL);
  return {
    first,
    second,
    name,
    /** Makes the replica the primary. The old primary becomes its replica, and keeps its connections open. */
    async failOver() {
      await second.command('REPLICAOF', 'NO', 'ONE');
      await first.command('REPLICAOF', '127.0.0.1', String(portOf(second)));
      name.moveTo(second);
    },
    async [Symbol.asyncDispose]() {
      await name[Symbol.asyncDispose]();
      await Promise.all([first[Symbol.asyncDispose](), second[Symbol.asyncDispose]()]);
    },
  };
}

const connectionsOf = async (redis: TestRedis): Promise<number> => {
  const info = String(await redis.command('CLIENT', 'LIST', 'TYPE', 'NORMAL'));
  return info.split('\n').filter((line) => /cmd=(?:eval|info|set|hvals)/.test(line)).length;
};

// Concurrently, because they wait for real time limits.
describe.runIf(hasRedis)(`a fail-over of Redis${redisOnly}`, { concurrent: true }, () => {
  it('whose old primary is demoted makes rate limits follow the new one', async ({ expect }) => {
    await using pair = await startPair();
    await using setup = createLimiter(pair.name.url, { timeoutMs: 2_000 });
    expect(await setup.take()).toMatchObject({ remaining: 99 });
    await pair.failOver();
    expect(await setup.take('b')).toMatchObject({ remaining: 99 }); // Counted by this process.
    await expect.poll(() => setup.limiter.status().isUp, SLOW_POLL).toBe(true);
    expect(await connectionsOf(pair.second)).toBe(1);
    expect(await connectionsOf(pair.first)).toBe(0);
    expect(setup.messages()).toEqual([
      expect.stringContaining('it is a read-only replica'),
      'Redis is available again. Rate limits are shared.',
    ]);
  });

  it('is noticed although the demoted primary still answers reads', async ({ expect }) => {
    await using pair = await startPair();
    await using cache = createRedisCache(pair.name.url);
    const entries = cacheOf(cache.store);
    await entries.load('/a');
    await pair.failOver();
    const followed = async () => {
      await entries.find('/a');
      return connectionsOf(pair.second);
    };
    await expect.poll(followed, SLOW_POLL).toBe(1);
    await expect.poll(() => cache.log.at(-1)?.msg, SLOW_POLL).toBe('Redis is available again. Reads are cached.');
    expect(await entries.body('/a')).toBeUndefined(); // Writes may have been lost.
  });

  it('whose old primary is cut off, with its connections open, is followed too', async ({ expect }) => {
    await using pair = await startPair();
    await using setup = createLimiter(pair.name.url, { timeoutMs: 1_000 });
    await setup.take();
    await pair.second.command('REPLICAOF', 'NO', 'ONE');
    pair.name.partition();
    pair.name.moveTo(pair.second);
    await expect.poll(() => connectionsOf(pair.second), SLOW_POLL).toBe(1);
    await expect.poll(() => setup.limiter.status().isUp, SLOW_POLL).toBe(true);
  });

  it('that leads to a replica for long is tried again with pauses that grow', async ({ expect }) => {
    await using redis = await startRedis();
    await redis.command('REPLICAOF', '127.0.0.1', '9');
    await using setup = createLimiter(redis.url, { timeoutMs: 2_000 });
    await expect.poll(() => setup.limiter.status().failure?.code, SLOW_POLL).toBe('READONLY');
    const connections = async () =>
      Number(/total_connections_received:(\d+)/.exec(String(await redis.command('INFO', 'stats')))?.[1]);
    const before = await connections();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect((await connections()) - before).toBeLessThan(12);
    expect(setup.log).toHaveLength(1);
  });
});

describe.runIf(hasRedis)(`a Redis that is not supported${redisOnly}`, () => {
  const UNSUPPORTED = {
    cluster: ['--cluster-enabled', 'yes'],
    'cluster with all slots': ['--cluster-enabled', 'yes'],
    sentinel: ['--sentinel'],
  };

  it.each(Object.entries(UNSUPPORTED))('because it is a %s is named once, without a request', async (kind, args) => {
    await using redis = await startRedis({ args });
    if (kind === 'cluster with all slots') {
      await redis.command('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
      await expect.poll(() => redis.command('CLUSTER', 'INFO'), SLOW_POLL).toContain('cluster_state:ok');
    }
    const name = kind === 'sentinel' ? 'Sentinel' : 'Redis Cluster';
    await using cache = createRedisCache(redis.url);
    await using setup = createLimiter(redis.url, { timeoutMs: 5_000 });
    const cause = `it is a ${name}, which isn't supported; the URL must lead to one primary under a stable name`;
    await expect
      .poll(() => cache.log.map(({ msg }) => msg), SLOW_POLL)
      .toEqual([`Redis can't be used: ${cause}. Until this is fixed, reads are not cached.`]);
    expect(await setup.take()).toMatchObject({ remaining: 99 });
    expect(setup.messages()).toEqual([expect.stringContaining(cause)]);
    expect(cache.store.stats().problem).toContain(cause);
  });
});

describe.runIf(hasRedis)(`the settings of Redis${redisOnly}`, () => {
  it('have the URL in a file, which is read again for every connection', async () => {
    await using folder = await createTemporaryFolder();
    await using redis = await startRedis({ password: 'first-4711' });
    const file = folder.path('url');
    await writeFile(file, `${redis.url}\n`);
    await using setup = createLimiter({ file }, { timeoutMs: 5_000 });
    expect(await setup.take()).toMatchObject({ remaining: 99 });
    await redis.command('CONFIG', 'SET', 'requirepass', 'second-0815');
    const rotated = redis.url.replace('first-4711', 'second-0815');
    await redis.commandAt(rotated, 'CLIENT', 'KILL', 'TYPE', 'NORMAL');
    await expect.poll(() => setup.limiter.status().failure?.code, SLOW_POLL).toBe('WRONGPASS');
    await writeFile(file, rotated);
    await expect.poll(() => setup.limiter.status().isUp, SLOW_POLL).toBe(true);
    expect(await setup.take()).toMatchObject({ remaining: 98 });
    expect(JSON.stringify(setup.log)).not.toMatch(/4711|0815|redis:/);
  });

  it.runIf(hasOpenssl)(`can trust a private authority${opensslOnly}`, async () => {
    using authority = createAuthority();
    await using folder = await createTemporaryFolder();
    const { cert, key } = authority.issue('redis');
    const [certFile, keyFile, caFile] = [folder.path('cert.pem'), folder.path('key.pem'), folder.path('ca.pem')];
    await Promise.all([writeFile(certFile, cert), writeFile(keyFile, key), writeFile(caFile, authority.cert)]);
    const files = ['--tls-cert-file', certFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', caFile];
    await using redis = await startRedis({ tls: true, args: [...files, '--tls-auth-clients', 'no'] });
    await using untrusted = createLimiter(redis.url, { timeoutMs: 5_000 });
    expect(await untrusted.take()).toMatchObject({ remaining: 99 });
    expect(untrusted.messages()[0]).toContain(
      "its certificate isn't trusted; set ca to the certificate of its authority",
    );
    for (const ca of [authority.cert, { file: caFile }]) {
      await using setup = createLimiter(redis.url, { ca, timeoutMs: 5_000 });
      await setup.take();
      expect(setup.limiter.status()).toMatchObject({ isUp: true, fallbacks: 0 });
    }
  });

  it('have the beginning of all keys', async () => {
    await using redis = await startRedis();
    await using upstream = await startService(({ method, path }) => respondTo(method, path, 'v0'));
    const store = { redis: { url: redis.url, keyPrefix: 'app-1:' } };
    await using gateway = await startGateway({
      upstream: upstream.url,
      cache: { store, secret: SECRET },
      rateLimits: { store },
      clients: { server: { rateLimit: { calls: 10 } } },
    });
    const prefixes = async () => {
      await gateway.send(READ_WORKFLOW); // Until it is connected.
      const keys = [await redis.command('KEYS', '*')].flat().map(String);
      return [...new Set(keys.map((key) => key.split(':', 2).join(':')))].toSorted();
    };
    await expect.poll(prefixes, SLOW_POLL).toEqual(['app-1:cache', 'app-1:limit']);
  });

  it('reject a file that is missing or has no URL, and certificates that are not used, without quoting them', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('url');
    expect(() => createLimiter({ file })).toThrow(`the file ${file} doesn't exist`);
    await writeFile(file, 'http://canary-4711');
    expect(() => createLimiter({ file })).toThrow('the URL of Redis must be a URL redis://… or rediss://…');
    expect(() => createLimiter({ file })).not.toThrow('4711');
    expect(() => createLimiter('rediss://host', { ca: 'canary-4711' })).toThrow('the certificate is not valid PEM');
    expect(() => createLimiter('redis://host', { ca: '' })).toThrow('a URL rediss://…, because ca is set');
  });
});
