import { describe, expect, it, onTestFinished } from 'vitest';
import { respondTo } from '../../support/cached-gateway.ts';
import { startGateway } from '../../support/gateway.ts';
import { type Script, startService } from '../../support/service.ts';
import { STORES, type StoreKind, startTestCache } from '../../support/test-cache.ts';

const READ = '{ workflow(idOrIdentifier: "welcome") { name } }';
const READ_GROUPS = '{ notificationGroups { name } }';

/** Starts two gateways with the same store, or one if it can't be shared, in front of a service that accepts all keys. */
async function start(kind: StoreKind) {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const cache = stack.use(await startTestCache(kind));
  const rejected = new Set<string>();
  let script: Script = ({ method, path }) => respondTo(method, path, 'v0');
  const upstream = stack.use(
    await startService((request, raw) =>
      rejected.has(request.headers.authorization ?? '') ? { status: 401, body: {} } : script(request, raw),
    ),
  );
  const options = { upstream: upstream.url, cache: cache.settings };
  const first = stack.use(await startGateway(options, cache.deps));
  const second = kind === 'memory' ? first : stack.use(await startGateway(options, cache.deps));

  const send = async (gateway: typeof first, document: string, key: string) => {
    const { codes, body } = await gateway.send(document, {}, { authorization: `ApiKey ${key}` });
    return codes.length > 0 ? codes[0] : Object.keys(body.data ?? {})[0];
  };
  const viaFirst = (document: string, key = 'a') => send(first, document, key);
  const viaSecond = (document: string, key = 'a') => send(second, document, key);
  /** Reads the workflow until that causes no call. */
  const warm = (key: string) =>
    expect
      .poll(async () => {
        const before = upstream.requests.length;
        await viaFirst(READ, key);
        await viaSecond(READ, key);
        return upstream.requests.length - before;
      })
      .toBe(0);
  await warm('a');
  await warm('b');
  return {
    cache,
    upstream,
    viaFirst,
    viaSecond,
    reject: (key: string) => rejected.add(`ApiKey ${key}`),
    respond(next: Script) {
      script = next;
    },
  };
}

describe.each(STORES)('with a cache in %s, the entries of a key', (kind) => {
  it('are gone once the service rejects it, and those of others stay', async () => {
    const { upstream, viaFirst, viaSecond, reject } = await start(kind);
    reject('a');
    expect(await viaSecond(READ)).toBe('workflow'); // The gateway can't know.
    expect(await viaFirst(READ_GROUPS)).toBe('UNAUTHENTICATED');
    expect([await viaFirst(READ), await viaSecond(READ)]).toEqual(['UNAUTHENTICATED', 'UNAUTHENTICATED']);
    const before = upstream.requests.length;
    expect([await viaFirst(READ, 'b'), await viaSecond(READ, 'b')]).toEqual(['workflow', 'workflow']);
    expect(upstream.requests.length).toBe(before);
  });

  it('do not come back with the response to a read that was in flight', async () => {
    const { viaFirst, viaSecond, reject, respond } = await start(kind);
    const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    respond(async ({ method, path }) => {
      arrived.resolve();
      await released.promise;
      return respondTo(method, path, 'v0');
    });
    const early = viaSecond(READ_GROUPS);
    await arrived.promise;
    reject('a');
    expect(await viaFirst('{ notificationGroup(id: "g1") { name } }')).toBe('UNAUTHENTICATED');
    released.resolve();
    expect(await early).toBe('notificationGroups');
    expect([await viaFirst(READ_GROUPS), await viaSecond(READ_GROUPS)]).toEqual(['UNAUTHENTICATED', 'UNAUTHENTICATED']);
  });

  it('are gone if it is rejected during a refresh in the background', async () => {
    const { cache, viaFirst, viaSecond, reject } = await start(kind);
    await cache.pass(40);
    reject('a');
    expect(await viaFirst(READ)).toBe('workflow');
    await expect.poll(() => viaSecond(READ)).toBe('UNAUTHENTICATED');
    await cache.pass(40);
    expect(await viaFirst(READ, 'b')).toBe('workflow');
  });
});
