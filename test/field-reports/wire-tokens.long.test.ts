import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { postToTools } from '../support/agent.ts';
import {
  createAuthority,
  hasOpenssl,
  opensslOnly,
  type TestAuthority,
  type TestCertificate,
} from '../support/certificates.ts';
import { loadFrom, problemsOf } from '../support/configuration.ts';
import { startConnectProxy } from '../support/connect-proxy.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { createTestKey, startTestIssuer, type TestKey } from '../support/issuer.ts';
import { ofTest } from '../support/lifetime.ts';
import { listen } from '../support/listen.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { type BrowserOptions, clientsOf, createSigner } from '../support/tokens.ts';

guards('src/auth/signing-keys.ts', 'findSigner');

const GROUPS = '{ notificationGroups { name } }';
const AUDIENCE = 'dashboard';

type Issuer = NonNullable<BrowserOptions['issuers']>[number];

const startIssuer = async () =>
  ofTest(await startTestIssuer({ claims: { aud: AUDIENCE, tenant: 'acme', scope: 'groups:read' } }));

/** Starts an issuer, and a gateway that trusts its tokens. */
async function start(issuerOptions: Partial<Issuer> = {}, options: Partial<GatewayOptions> = {}) {
  const issuer = await startIssuer();
  const settings: Issuer = { issuer: issuer.url, audience: AUDIENCE, jwks: issuer.jwks, ...issuerOptions };
  const gateway = ofTest(
    await startGateway({
      service: () => ({ body: { data: [] } }),
      ...options,
      clients: { browser: { issuers: [settings], scopes: ['groups:read'], tenants: { acme: 'key-of-acme' } } },
    }),
  );
  /** Returns the status of a request with the token, and the reason or code if any, such as `401 TOKEN_INVALID`. */
  async function outcome(token: string, query = GROUPS): Promise<string> {
    const { status, body } = await gateway.send(query, {}, { authorization: `Bearer ${token}` });
    const { code, reason } = body.errors?.[0]?.extensions ?? {};
    return [status, reason ?? code].filter((word) => word !== undefined).join(' ');
  }
  const causes = () => gateway.log.flatMap(({ issuerKeys, cause }) => (issuerKeys === undefined ? [] : [cause]));
  return { issuer, gateway, outcome, causes };
}

describe.runIf(hasOpenssl)(`R24: the signing keys of an issuer${opensslOnly}`, () => {
  let authority: TestAuthority;
  let certificate: TestCertificate;
  beforeAll(() => {
    authority = createAuthority();
    certificate = authority.issue('service.test');
  });
  afterAll(() => authority[Symbol.dispose]());

  const JWKS = 'https://service.test/keys?v=1';

  /** Starts an https server with the keys of an issuer. */
  async function publish() {
    const source = await startIssuer();
    const requests: string[] = [];
    const server = createServer({ ...certificate }, ({ url, headers }, response) => {
      requests.push(`${url} ${headers.host}`);
      response.end(JSON.stringify({ keys: source.published }));
    });
    const { url, close } = await listen(server);
    onTestFinished(close);
    return { source, url: url.replace('http:', 'https:'), requests };
  }

  /** Starts a proxy, behind which the names of all hosts lead to the issuer. */
  async function publishBehindProxy() {
    const published = await publish();
    const proxy = ofTest(await startConnectProxy(published.url));
    return { ...published, proxy, issuer: { issuer: published.source.url, jwks: JWKS, ca: authority.cert } };
  }

  it('R24: are fetched through the proxy of the issuer', async () => {
    const { source, issuer, proxy, requests } = await publishBehindProxy();
    const { outcome } = await start({ ...issuer, proxy: proxy.url });
    expect(await outcome(source.sign())).toBe('200');
    expect(proxy.tunnels.map(({ authority: to }) => to)).toEqual(['service.test:443']);
    expect(requests).toEqual(['/keys?v=1 service.test']);
    expect(proxy.received()).not.toContain('/keys'); // TLS is between the gateway and the issuer.
  });

  it('R24: are fetched through the general proxy, unless the issuer has none', async () => {
    const { source, issuer, proxy } = await publishBehindProxy();
    const general = await start(issuer, { proxy: proxy.url });
    expect(await general.outcome(source.sign(), '{ __typename }')).toBe('200');
    expect(proxy.tunnels).toHaveLength(1);
    const direct = await start({ ...issuer, proxy: 'off' }, { proxy: proxy.url });
    expect(await direct.outcome(source.sign(), '{ __typename }')).toBe('503 SIGN_IN_UNAVAILABLE');
    expect(proxy.tunnels).toHaveLength(1);
  });

  it('R24: of this machine are fetched directly, because http is trusted only there', async () => {
    const { issuer, outcome } = await start({ proxy: 'http://127.0.0.1:1' });
    expect(await outcome(issuer.sign())).toBe('200');
    expect(issuer.keyRequests).toBe(1);
  });

  it('R24: are unavailable while the proxy refuses, which the log says without its password', async () => {
    const { source, issuer, proxy } = await publishBehindProxy();
    const address = proxy.url.replace('//', '//ada:canary@');
    const { outcome, causes, gateway } = await start({ ...issuer, proxy: address });
    proxy.behavior = 407;
    expect(await outcome(source.sign())).toBe('503 SIGN_IN_UNAVAILABLE');
    expect(causes()).toEqual(['the proxy rejects the user name and password (status 407)']);
    expect(JSON.stringify(gateway.log)).not.toContain('canary');
  });

  it('R24: are fetched from a server with a certificate of a private authority, but not without `ca`', async () => {
    const { source, url, requests } = await publish();
    const settings = { issuer: source.url, jwks: `${url}/keys?v=1` };
    const trusting = await start({ ...settings, ca: authority.cert });
    expect(await trusting.outcome(source.sign())).toBe('200');
    expect(requests).toEqual([`/keys?v=1 ${new URL(url).host}`]);
    const other = await start(settings);
    expect(await other.outcome(source.sign())).toBe('503 SIGN_IN_UNAVAILABLE');
    expect(other.causes()).toEqual(['UNABLE_TO_VERIFY_LEAF_SIGNATURE']);
    expect(requests).toHaveLength(1);
  });

  it('R24: follow a file with the authority without a restart', async () => {
    vi.useFakeTimers({ toFake: ['performance'] }); // Only the clock.
    onTestFinished(() => void vi.useRealTimers());
    await using folder = await createTemporaryFolder();
    const file = folder.path('ca.pem');
    using stranger = createAuthority();
    await writeFile(file, stranger.cert);
    const { source, url } = await publish();
    const { outcome, gateway } = await start(
      { issuer: source.url, jwks: `${url}/keys`, ca: { file } },
      { reloadSeconds: 0.05 },
    );
    expect(await outcome(source.sign())).toBe('503 SIGN_IN_UNAVAILABLE');
    await writeFile(file, 'no certificate');
    const problems = () => gateway.log.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
    await expect.poll(problems, { timeout: 20_000 }).toEqual([expect.stringMatching(/^ca of the issuer http.*PEM/)]);
    await writeFile(file, authority.cert);
    const retried = () => {
      vi.advanceTimersByTime(5_000);
      return outcome(source.sign());
    };
    await expect.poll(retried, { timeout: 20_000 }).toBe('200');
  });
});

describe('R24: the proxy of an issuer in the environment', () => {
  const PROXY = 'http://proxy.example.com:3128';
  const FILE = `
upstream: https://api.example.com
clients:
  browser:
    tenants: { acme: { env: ACME } }
    issuers:
      - { issuer: a, audience: x, jwks: https://login.example.com/keys }
      - { issuer: b, audience: x, jwks: https://login.internal.test/keys }
      - { issuer: c, audience: x, jwks: http://localhost:1/keys }
      - { issuer: d, audience: x, jwks: https://login.example.com/keys, proxy: off }
`;
  const proxiesOf = (env: Record<string, string>) => {
    const { clients, proxy } = loadFrom({ env: { ACME: 'k', ...env }, files: { 'notigraph.config.yaml': FILE } });
    return { proxy, issuers: clients.browser?.issuers.map((issuer) => issuer.proxy) };
  };

  it('R24: is the one for its address, unless NO_PROXY excludes it', () => {
    expect(proxiesOf({ HTTPS_PROXY: PROXY, NO_PROXY: 'internal.test' })).toEqual({
      proxy: PROXY,
      issuers: [PROXY, 'off', 'off', 'off'],
    });
    expect(proxiesOf({ HTTPS_PROXY: PROXY, NO_PROXY: 'api.example.com' })).toEqual({
      proxy: undefined,
      issuers: [PROXY, PROXY, undefined, 'off'],
    });
    expect(proxiesOf({})).toEqual({ proxy: undefined, issuers: [undefined, undefined, undefined, 'off'] });
  });

  it('R24: is reported once if it is invalid', () => {
    const env = { ACME: 'k', HTTPS_PROXY: 'socks5://proxy' };
    expect(problemsOf({ env, files: { 'notigraph.config.yaml': FILE } })).toEqual([
      expect.stringContaining('HTTPS_PROXY (environment) must be the URL of a proxy'),
    ]);
  });

  it('R24: is not used if the setting says another', () => {
    const { issuers } = proxiesOf({ HTTPS_PROXY: PROXY, NOTIGRAPH_PROXY: 'off' });
    expect(issuers).toEqual([undefined, undefined, undefined, 'off']);
  });

  it('R24: has no effect with a public key, which is said', () => {
    const { publicKey } = createSigner();
    const issuer = (own: object) => ({
      env: { ACME: 'k' },
      files: {
        'notigraph.config.yaml': `upstream: https://a.example.com\nclients: ${JSON.stringify({
          browser: { tenants: { acme: { env: 'ACME' } }, issuers: [{ issuer: 'a', audience: 'x', publicKey, ...own }] },
        })}`,
      },
    });
    expect(() => loadFrom(issuer({ proxy: PROXY }))).toThrow('ca and proxy have no effect');
    expect(loadFrom({ ...issuer({}), env: { ACME: 'k', HTTPS_PROXY: PROXY } }).clients.browser?.issuers).toMatchObject([
      { publicKey },
    ]);
  });
});

describe('R25: a token without kid', () => {
  const WITHOUT_KID = { kid: undefined };
  const withoutId = ({ jwk: { kid: _, ...jwk } }: TestKey) => jwk;
  const OTHERS = [createTestKey('RS256').jwk, createTestKey('ES384').jwk];

  it.each([
    ['two keys', 2, true, '200', '200'],
    ['four keys', 4, true, '200', '200'],
    ['five keys, which are too many to try', 5, true, '401 TOKEN_INVALID', '200'],
    ['two keys that have no id either', 2, false, '200', '401 TOKEN_INVALID'],
  ])('R25: of an issuer with %s for its algorithm', async (_, count, haveIds, expected, expectedWithKid) => {
    const { issuer, outcome } = await start({ algorithms: ['ES256', 'RS256'] });
    const keys = Array.from({ length: count }, () => createTestKey('ES256'));
    const published = keys.map((key) => (haveIds ? key.jwk : withoutId(key)));
    issuer.published = [...published, ...OTHERS];
    for (const key of keys) {
      expect(await outcome(issuer.sign({}, { key, header: WITHOUT_KID }))).toBe(expected);
      expect(await outcome(issuer.sign({}, { key }))).toBe(expectedWithKid);
    }
    expect(issuer.keyRequests).toBe(1);
  });

  it('R25: is verified with a key that the issuer has published since', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] }); // Only the clocks.
    onTestFinished(() => void vi.useRealTimers());
    const { issuer, outcome } = await start();
    const keys = [createTestKey(), createTestKey()];
    issuer.published = keys.map(({ jwk }) => jwk);
    expect(await outcome(issuer.sign({}, { key: keys[0] ?? createTestKey(), header: WITHOUT_KID }))).toBe('200');
    const added = createTestKey();
    issuer.published = [...issuer.published, added.jwk];
    vi.advanceTimersByTime(60_000);
    expect(await outcome(issuer.sign({}, { key: added, header: WITHOUT_KID }))).toBe('200');
    expect(issuer.keyRequests).toBe(2);
  });

  it('R25: is rejected like one with kid if it is forged, expired, or for another algorithm', async () => {
    const { issuer, outcome } = await start();
    const [first = createTestKey(), second = createTestKey()] = [createTestKey(), createTestKey()];
    issuer.published = [first.jwk, second.jwk];
    const header = WITHOUT_KID;
    expect(await outcome(issuer.sign({}, { key: createTestKey(), header }))).toBe('401 TOKEN_INVALID');
    expect(await outcome(issuer.sign({ exp: 1 }, { key: createTestKey(), header }))).toBe('401 TOKEN_INVALID');
    for (const key of [first, second]) {
      expect(await outcome(issuer.sign({ exp: 1 }, { key, header }))).toBe('401 TOKEN_EXPIRED');
      expect(await outcome(issuer.sign({ aud: 'other' }, { key, header }))).toBe('401 TOKEN_FOR_ANOTHER');
    }
    expect(await outcome(issuer.sign({}, { key: createTestKey('ES384'), header }))).toBe('401 TOKEN_INVALID');
    expect(await outcome(issuer.sign({}, { key: first, header: { kid: 7 } }))).toBe('401 TOKEN_INVALID');
    expect(await outcome(issuer.sign({}, { key: first, header: { kid: '' } }))).toBe('401 TOKEN_INVALID');
  });
});

it('R27: a JWKS with a byte order mark is read', async () => {
  const { issuer, outcome } = await start();
  issuer.behavior = (response) => response.end(`\u{feff}${JSON.stringify({ keys: issuer.published })}`);
  expect(await outcome(issuer.sign())).toBe('200');
});

describe('the scheme of a credential', () => {
  const signer = createSigner();

  const startServing = async (options: Partial<GatewayOptions> = {}) =>
    ofTest(
      await startGateway({
        service: () => ({ body: { data: [] } }),
        clients: clientsOf(signer, {}, { server: { rateLimit: { calls: 3, perSeconds: 3_600 } } }),
        clientTokens: { secrets: ['s'.repeat(32)] },
        ...options,
      }),
    );
  const SCHEMES = ['ApiKey', 'apikey', 'APIKEY', 'Apikey'];

  it('has no case, and is forwarded as ApiKey', async () => {
    const gateway = await startServing();
    for (const scheme of SCHEMES.slice(0, 3)) {
      expect((await gateway.send(GROUPS, {}, { authorization: `${scheme} Key-1` })).status).toBe(200);
    }
    expect(gateway.service.requests.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill('ApiKey Key-1'));
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const token = await signer.sign({ sub: scheme });
      expect((await gateway.send(GROUPS, {}, { authorization: `${scheme} ${token}` })).status).toBe(200);
    }
    expect(gateway.service.requests.at(-1)?.headers.authorization).toBe('ApiKey key-of-acme');
  });

  it('does not make another credential: one rate limit, one value in the log, one cache, one audit line’s tenant', async () => {
    await using folder = await createTemporaryFolder();
    const gateway = await startServing({ cache: true, audit: { to: { file: folder.path('audit.jsonl') } } });
    const codes: unknown[] = [];
    await gateway.send(
      'mutation { createFeed(input: { name: "f" }) { __typename } }',
      {},
      { authorization: 'APIKEY key-1' },
    );
    for (const scheme of SCHEMES) {
      codes.push(...(await gateway.send(GROUPS, {}, { authorization: `${scheme} key-1` })).codes);
    }
    expect(codes).toEqual(['RATE_LIMITED', 'RATE_LIMITED']);
    expect(gateway.service.calls()).toEqual(['POST /v1/feeds', 'GET /v1/notification-groups']);
    const tenants = gateway.log.flatMap(({ msg, tenant }) => (msg === 'operation' ? [tenant] : []));
    expect([tenants.length, new Set(tenants).size]).toEqual([5, 1]);
    expect(JSON.parse(await readFile(folder.path('audit.jsonl'), 'utf8')).tenant).toBe(tenants[0]);
  });

  it('has no case in requests for client tokens, and in tools', async () => {
    const gateway = await startServing({ mcp: {} });
    const response = await fetch(new URL('/client-tokens', gateway.url), {
      method: 'POST',
      headers: { authorization: 'apikey key-of-acme', 'content-type': 'application/json' },
      body: JSON.stringify({ scopes: ['groups:read'] }),
    });
    expect(response.status).toBe(200);
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const tools = await postToTools(gateway, list, { authorization: 'APIKEY key-1' });
    expect(tools.status).toBe(200);
  });
});
