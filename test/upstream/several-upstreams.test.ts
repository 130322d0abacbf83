import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createGateway as create, type Gateway, type GatewayOptions } from '../../src/gateway.ts';
import { guards } from '../support/guards.ts';
import { type Script, startService } from '../support/service.ts';
import { NAMES, startThreeUpstreams, TENANTS } from '../support/three-upstreams.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('src/http/pipeline/sessions.ts', 'createIdentifySession');
guards('src/http/pipeline/pipeline.ts', 'createPipeline.handle');
guards('src/auth/authenticate.ts', 'createAuth.identifyNow.upstreamName');
guards('src/auth/authenticate.ts', 'identityOf');
guards('src/http/pipeline/client-token-route.ts', 'createClientTokenRoute.issue');
guards('src/http/adapters/node-adapter.ts', 'originForm');
guards('src/http/pipeline/select-upstream.ts', 'createUpstreamSelector.select');
guards('src/lib/urls.ts', 'toHostname');
guards('src/auth/authenticate.ts', 'createAuth.identifyNow');
guards('src/auth/tokens/client-tokens.ts', 'createClientTokens.issue');

const answer: Script = (_request, { answer }) => answer({ body: { data: [] } });

const createGateway = (options: GatewayOptions) => create(options, { logger: pino({ level: 'silent' }) });

const CLIENT_TOKENS = { secrets: ['a secret of client tokens with many characters'] };

/** Sends an operation to any address of a gateway that is embedded in a host with the Fetch API. */
const ask = (gateway: Gateway, address: string, authorization: string, document = '{ notificationGroups { name } }') =>
  gateway.fetch(
    new Request(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify({ query: document }),
    }),
  );

const codesOf = async (response: Response): Promise<unknown[]> =>
  ((await response.json()).errors ?? []).map(({ extensions }: { extensions: { code: unknown } }) => extensions.code);

describe('several upstreams', () => {
  it('are selected by host, by path or as the default', async () => {
    await using trio = await startThreeUpstreams(answer);
    const acme = await trio.signer.bearer({ tenant: 'acme' });
    /** Requests, the upstream that receives them, and that in the log. */
    const requests: [
      request: Parameters<typeof trio.send>[0],
      status: number,
      to?: string | undefined,
      logged?: string,
    ][] = [
      [{ host: 'eu.example.test:8443', authorization: 'ApiKey eu-1' }, 200, 'eu'],
      [{ path: '/us/graphql', authorization: 'ApiKey us-1' }, 200, 'us'],
      [{ host: 'other.example.test', authorization: 'ApiKey ap-1' }, 200, 'ap'],
      [{ host: 'Eu.Example.test.', authorization: 'ApiKey eu-1' }, 200, 'eu'],
      [{ path: 'http://eu.example.test/graphql', authorization: 'ApiKey eu-1' }, 200, 'eu'],
      // Clients can send these.
      [{ headers: { 'x-forwarded-host': 'eu.example.test' }, authorization: 'ApiKey ap-1' }, 200, 'ap'],
      [{ headers: { forwarded: 'host=eu.example.test' }, authorization: 'ApiKey ap-1' }, 200, 'ap'],
      // Two slashes begin a path, not a host. The key must not go to the default upstream.
      [{ path: '//us/graphql', authorization: 'ApiKey us-1' }, 404],
      [{ path: '/us/us/graphql', authorization: 'ApiKey us-1' }, 404],
      // The key of a tenant goes only to the tenant's upstream, also if a server sends it.
      [{ authorization: 'ApiKey us-globex' }, 200, 'us'],
      [{ path: '/us/graphql', authorization: 'ApiKey eu-acme' }, 421, undefined, 'eu'],
      [{ authorization: acme }, 200, 'eu'],
      [{ path: '/us/graphql', authorization: acme }, 421, undefined, 'eu'],
    ];
    const codes = new Map([
      [404, 'NOT_FOUND'],
      [421, 'MISDIRECTED_REQUEST'],
    ]);
    for (const [request, status, to, logged = to] of requests) {
      const before = NAMES.map((name) => trio.upstreams[name].requests.length);
      expect([request, (await trio.send(request)).status]).toEqual([request, status]);
      const counts = NAMES.map((name, i) => trio.upstreams[name].requests.length - (before[i] ?? 0));
      expect([request, counts]).toEqual([request, NAMES.map((name) => (name === to ? 1 : 0))]);
      const { upstream, code, httpStatus } = trio.gateway.log.at(-1) ?? {};
      expect([httpStatus, upstream, code]).toEqual([status, logged, codes.get(status)]);
    }
    expect(trio.gateway.log).toHaveLength(requests.length);
  });

  it('reject requests that select none before anything is sent, and count each key per upstream', async () => {
    await using eu = await startService(answer);
    await using us = await startService(answer);
    await using gateway = createGateway({
      upstreams: {
        eu: { url: eu.url, hosts: ['eu.test'] },
        us: { url: us.url, hosts: ['us.test'], pathPrefix: '/us' },
      },
      clients: { server: { rateLimit: { calls: 1, perSeconds: 3_600 } } },
    });
    const unknown = await ask(gateway, 'http://ap.test/graphql', 'ApiKey k');
    expect([unknown.status, await codesOf(unknown)]).toEqual([421, ['MISDIRECTED_REQUEST']]);
    expect((await ask(gateway, 'http://eu.test/us/graphql', 'ApiKey k')).status).toBe(421);
    expect([eu.requests, us.requests]).toEqual([[], []]);

    // The same text is another key at another service.
    const statuses = [];
    for (const host of ['eu.test', 'eu.test', 'us.test', 'us.test']) {
      statuses.push((await ask(gateway, `http://${host}/graphql`, 'ApiKey k')).status);
    }
    expect(statuses).toEqual([200, 429, 200, 429]);
    const counted = gateway.metricsSnapshot().find(({ name }) => name === 'notigraph_upstream_requests_total');
    expect(counted?.values.map(({ labels, value }) => [labels.upstream, value])).toEqual([
      ['eu', 1],
      ['us', 1],
    ]);
  });

  it('fail by themselves: another has its own circuit breaker, and the check names those that fail', async () => {
    await using eu = await startService((_request, { answer }) => answer({ status: 503, body: {} }));
    await using us = await startService(answer);
    await using gateway = createGateway({
      upstreams: { eu: { url: eu.url, maxRetries: 0, hosts: ['eu.test'] }, us: { url: us.url, hosts: ['us.test'] } },
    });
    for (let i = 0; i < 23; i += 1) {
      expect(await codesOf(await ask(gateway, 'http://eu.test/graphql', 'ApiKey eu'))).toEqual([
        'UPSTREAM_UNAVAILABLE',
      ]);
      expect(await codesOf(await ask(gateway, 'http://us.test/graphql', 'ApiKey us'))).toEqual([]);
    }
    expect([eu.requests.length, us.requests.length]).toEqual([20, 23]);
    const circuits = gateway.metricsSnapshot().find(({ name }) => name === 'notigraph_circuit_breaker_state');
    expect(circuits?.values).toEqual([
      { labels: { upstream: 'eu' }, value: 2 },
      { labels: { upstream: 'us' }, value: 0 },
    ]);
    expect(await gateway.checkUpstream()).toBe('The upstream "eu" is failing: it responds with status 503.');
  });
});

describe('a client token', () => {
  const signer = createSigner();

  const optionsOf = (urls: Record<'eu' | 'us', string>, upstreamOfAcme: 'eu' | 'us'): GatewayOptions => ({
    upstreams: { eu: { url: urls.eu, pathPrefix: '/eu' }, us: { url: urls.us, pathPrefix: '/us' } },
    clients: clientsOf(signer, { tenants: { acme: { key: TENANTS.acme.key, upstream: upstreamOfAcme } } }),
    clientTokens: CLIENT_TOKENS,
  });

  const issue = (gateway: Gateway, path: string) =>
    gateway.fetch(
      new Request(`http://gateway.test${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `ApiKey ${TENANTS.acme.key}` },
        body: JSON.stringify({ scopes: ['groups:read'] }),
      }),
    );

  it('is issued at the address of its upstream, and is invalid for every other one', async () => {
    await using eu = await startService(answer);
    await using us = await startService(answer);
    const urls = { eu: eu.url, us: us.url };
    await using gateway = createGateway(optionsOf(urls, 'eu'));
    expect((await issue(gateway, '/us/client-tokens')).status).toBe(421);
    const { token } = await (await issue(gateway, '/eu/client-tokens')).json();
    expect((await ask(gateway, 'http://gateway.test/eu/graphql', `Bearer ${token}`)).status).toBe(200);
    expect((await ask(gateway, 'http://gateway.test/us/graphql', `Bearer ${token}`)).status).toBe(421);

    // The tenant moves to another service, which has other records under the same ids.
    await using moved = createGateway(optionsOf(urls, 'us'));
    expect((await ask(moved, 'http://gateway.test/graphql', `Bearer ${token}`)).status).toBe(401);
    expect([eu.requests.length, us.requests.length]).toEqual([1, 0]);
  });
});
