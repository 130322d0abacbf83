import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { pino } from 'pino';
import { beforeAll, describe, expect, it } from 'vitest';
import { problemsOf } from '../../src/files/secret-files.ts';
import { createGateway, type GatewayOptions } from '../../src/gateway.ts';
import { createTlsFiles } from '../../src/network/tls-files.ts';
import {
  createAuthority,
  hasOpenssl,
  opensslOnly,
  type TestAuthority,
  type TestCertificate,
} from '../support/certificates.ts';
import { runCommand } from '../support/command.ts';
import { startConnectProxy } from '../support/connect-proxy.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { createTestKey, signToken } from '../support/issuer.ts';
import { listen } from '../support/listen.ts';
import { metricValues } from '../support/metrics-text.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { startService } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('src/network/connector.ts', 'openTunnel');
guards('src/network/connector.ts', 'refused');
guards('src/network/tls-files.ts', 'toContexts');

const GROUPS = '{ notificationGroups { name } }';
const WRITE = 'mutation { createFeed(input: { name: "f" }) { __typename ... on CreateFeedSuccess { feed { name } } } }';

let authority: TestAuthority;
let server: TestCertificate;

beforeAll(() => {
  if (!hasOpenssl) {
    return;
  }
  authority = createAuthority();
  server = authority.issue('service.test');
  return () => authority[Symbol.dispose]();
});

/** Service with TLS. Records the names in the clients' certificates. */
async function startTlsService({ requestCert = false } = {}) {
  const names: (string | undefined)[] = [];
  let connections = 0;
  const service = createServer(
    { ...server, ca: authority.cert, requestCert, rejectUnauthorized: requestCert },
    (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate();
      names.push(subject === undefined ? undefined : String(subject.CN));
      response.writeHead(200, { 'content-type': 'application/json', connection: requestCert ? 'close' : 'keep-alive' });
      response.end(JSON.stringify({ data: [] }));
    },
  );
  service.on('connection', () => {
    connections += 1;
  });
  const { url, close } = await listen(service);
  return {
    url: url.replace('http:', 'https:'),
    names,
    connections: () => connections,
    [Symbol.asyncDispose]: close,
  };
}

describe.runIf(hasOpenssl)(`a proxy${opensslOnly}`, () => {
  it('sees the name of the service, but neither the key nor the data', async () => {
    await using service = await startTlsService();
    await using proxy = await startConnectProxy(service.url);
    const { host } = new URL(proxy.url);
    await using gateway = await startGateway({
      upstream: 'https://service.test',
      proxy: `http://ada:pass%20word@${host}`,
      tls: { ca: authority.cert },
    });
    await gateway.data(GROUPS, {}, { authorization: 'ApiKey the-key' });
    await gateway.data(GROUPS, {}, { authorization: 'ApiKey the-key' });
    expect(proxy.tunnels).toEqual([
      {
        authority: 'service.test:443',
        headers: expect.objectContaining({
          host: 'service.test:443',
          'proxy-authorization': `Basic ${Buffer.from('ada:pass word').toString('base64')}`,
        }),
      },
    ]);
    expect(JSON.stringify(proxy.tunnels)).not.toContain('the-key');
    expect(proxy.received()).not.toMatch(/the-key|notification-groups/);
    expect(proxy.others).toEqual([]);
    expect(JSON.stringify(gateway.log)).not.toMatch(/pass/);
  });

  it('can be reached with https, and never gets the client certificate', async () => {
    await using service = await startTlsService({ requestCert: true });
    await using proxy = await startConnectProxy(service.url, server);
    const { cert, key } = authority.issue('client');
    await using gateway = await startGateway({
      upstream: 'https://service.test',
      proxy: proxy.url,
      tls: { ca: authority.cert, clientCertificate: cert, clientKey: key },
    });
    await gateway.data(GROUPS);
    expect(service.names).toEqual(['client']);
    expect(proxy.certificates).toEqual([undefined]);
  });

  it('tunnels http too, and its credentials never reach the service', async () => {
    await using service = await startService((_request, { answer }) => answer({ body: { data: [] } }));
    await using proxy = await startConnectProxy(service.url);
    const { host } = new URL(proxy.url);
    await using gateway = await startGateway({ upstream: 'http://service.test', proxy: `http://ada:secret@${host}` });
    await gateway.data(GROUPS);
    expect(proxy.tunnels.map(({ authority }) => authority)).toEqual(['service.test:80']);
    expect(service.requests[0]?.head).not.toMatch(/proxy/i);
  });

  it('that fails makes the service unavailable, and no write is applied', async () => {
    await using service = await startService((_request, { answer }) => answer({ body: { data: [] } }));
    await using proxy = await startConnectProxy(service.url);
    await using gateway = await startGateway({ upstream: 'http://service.test', proxy: proxy.url, maxRetries: 1 });
    const attempts: unknown[] = [];
    for (const behavior of [407, 403, 502, 'surprise', 'silence'] as const) {
      proxy.behavior = behavior;
      const before = proxy.tunnels.length;
      const { body } = await gateway.send(WRITE);
      expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', outcome: 'NOT_APPLIED' });
      attempts.push([behavior, proxy.tunnels.length - before]);
    }
    expect(attempts).toEqual([
      [407, 1], // Would be refused again.
      [403, 1],
      [502, 2],
      ['surprise', 2],
      ['silence', 2],
    ]);
    expect(service.requests).toEqual([]);
    proxy.behavior = 200;
    await gateway.data(GROUPS);
    expect(gateway.log.find(({ cause }) => cause !== undefined)?.cause).toBe(
      'the proxy rejects the user name and password (status 407)',
    );
    const lines = gateway.log.filter(({ msg }) => /^The proxy/.test(String(msg)));
    expect(lines.map(({ msg, reason }) => reason ?? msg)).toEqual([
      'the proxy rejects the user name and password (status 407)',
      'the proxy refuses to connect to the service (status 403)',
      'the proxy refuses to connect to the service (status 502)',
      'the proxy sent data before the service could',
      'the proxy is unreachable (UND_ERR_HEADERS_TIMEOUT)',
      'The proxy to the upstream works again.',
    ]);
  });

  it('that is unreachable is named by the check of the upstream', async () => {
    await using gateway = createGateway(
      { upstream: 'https://service.test', proxy: 'http://ada:secret@127.0.0.1:9' },
      { logger: pino({ level: 'silent' }) },
    );
    expect(await gateway.checkUpstream()).toBe('The upstream is unreachable: the proxy is unreachable (ECONNREFUSED).');
  });

  it('is not used with off', async () => {
    await using service = await startService((_request, { answer }) => answer({ body: { data: [] } }));
    await using proxy = await startConnectProxy(service.url);
    await using gateway = createGateway({
      upstreams: { eu: { url: service.url, proxy: 'off', default: true } },
      proxy: proxy.url,
    });
    expect(await gateway.checkUpstream()).toBeUndefined();
    expect(proxy.tunnels).toEqual([]);
  });
});

describe.runIf(hasOpenssl)(`TLS to the service${opensslOnly}`, () => {
  it('accepts PEM with \\n in place of line breaks, inline and in files, as env files and secret stores have it', async () => {
    await using service = await startTlsService({ requestCert: true });
    await using folder = await createTemporaryFolder();
    const { cert, key } = authority.issue('client');
    const file = folder.path('client.key');
    writeFileSync(file, key.replaceAll('\n', '\\n'));
    const signer = createSigner();
    await using gateway = await startGateway({
      upstream: service.url,
      tls: {
        ca: authority.cert.replaceAll('\n', '\\r\\n'),
        clientCertificate: cert.trim().replaceAll('\n', '\\n'),
        clientKey: { file },
      },
      clients: clientsOf({ ...signer, publicKey: signer.publicKey.replaceAll('\n', '\\n') }),
    });
    await gateway.data(GROUPS, {}, { authorization: await signer.bearer() });
    expect(service.names).toEqual(['client']);
  });

  it('and Host have the name of the service without its last dot, which is only for DNS', async () => {
    const names = new Set<unknown>();
    const seen: unknown[] = [];
    const issuerKey = createTestKey();
    const SNICallback = (name: string, done: (error: null) => void) => {
      names.add(name);
      done(null);
    };
    const service = createServer({ ...server, SNICallback }, ({ url, headers }, response) => {
      seen.push([url, headers.host]);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(url === '/keys' ? { keys: [issuerKey.jwk] } : { data: [] }));
    });
    const { url, close } = await listen(service);
    await using _ = { [Symbol.asyncDispose]: close };
    await using proxy = await startConnectProxy(url);
    const settings = { upstream: 'https://service.test.:8443', proxy: proxy.url, tls: { ca: authority.cert } };
    const jwks = { jwks: 'https://service.test./keys', algorithms: ['ES256' as const], ca: authority.cert };
    await using gateway = await startGateway({
      ...settings,
      clients: {
        browser: {
          issuers: [{ issuer: 'login', audience: 'app', ...jwks }],
          scopes: ['groups:read'],
          tenants: { acme: 'key-of-acme' },
        },
      },
    });
    const exp = Math.ceil(Date.now() / 1_000) + 60;
    const claims = { iss: 'login', aud: 'app', tenant: 'acme', scope: 'groups:read', exp };
    const token = signToken({ alg: 'ES256', kid: issuerKey.kid }, claims, issuerKey);
    await gateway.data(GROUPS, {}, { authorization: `Bearer ${token}` });
    expect(seen).toEqual([
      ['/keys', 'service.test'],
      ['/v1/notification-groups', 'service.test:8443'],
    ]);
    expect(proxy.tunnels.map(({ authority }) => authority)).toEqual(['service.test.:443', 'service.test.:8443']);

    const env = { NOTIGRAPH_CONFIG_TEXT: JSON.stringify(settings), NOTIGRAPH_DOCTOR_KEY: 'key-of-acme' };
    expect((await runCommand({ args: ['doctor'], env })).stdout).toContain('The certificate is valid until');
    expect([...names]).toEqual(['service.test']);
  });

  it('needs the private authority', async () => {
    await using service = await startTlsService();
    await using gateway = await startGateway({ upstream: service.url });
    expect((await gateway.send(GROUPS)).codes).toEqual(['UPSTREAM_UNAVAILABLE']);
    expect(service.connections()).toBe(1); // A retry would find the same certificate.
    await using trusting = await startGateway({ upstream: service.url, tls: { ca: authority.cert } });
    await trusting.data(GROUPS);
    expect(service.names).toEqual([undefined]);
  });

  it('shows a client certificate, and a new one after its files changed', async () => {
    await using service = await startTlsService({ requestCert: true });
    await using folder = await createTemporaryFolder();
    const [cert, key] = [folder.path('client.pem'), folder.path('client.key')];
    const write = (certificate: TestCertificate) => {
      writeFileSync(cert, certificate.cert);
      writeFileSync(key, certificate.key);
    };
    const [first, second] = [authority.issue('first'), authority.issue('second')];
    write(first);
    await using gateway = await startGateway({
      upstreams: { eu: { url: service.url, default: true } },
      tls: { ca: authority.cert, clientCertificate: { file: cert }, clientKey: { file: key } },
      reloadSeconds: 0.02,
    });
    await gateway.data(GROUPS);

    // Only one of the two files is new: the previous pair stays in use.
    writeFileSync(key, second.key);
    await expect.poll(() => gateway.log.filter(({ level }) => level === 50)).toHaveLength(1);
    expect(gateway.log.find(({ level }) => level === 50)?.problem).toBe(
      'tls.clientKey of the upstream eu: the private key does not belong to the client certificate',
    );
    await gateway.data(GROUPS);
    writeFileSync(cert, second.cert);
    await expect
      .poll(async () => {
        await gateway.data(GROUPS);
        return service.names.at(-1);
      })
      .toBe('second');
    expect(service.names.slice(0, 2)).toEqual(['first', 'first']);
    expect(gateway.log.filter(({ level }) => level === 50)).toHaveLength(1);
  });

  it('warns of an expired certificate', async () => {
    const { cert, key } = authority.issue('late');
    const inThreeDays = () => new Date(Date.now() + 3 * 86_400_000);
    await using gateway = await startGateway(
      { upstream: 'https://service.test', tls: { clientCertificate: cert, clientKey: key } },
      { now: inThreeDays },
    );
    expect(gateway.log).toEqual([
      expect.objectContaining({ level: 40, msg: 'The client certificate for the upstream has expired.' }),
    ]);
  });

  it('rejects files that cannot be used', () => {
    const { cert, key } = server;
    const locked = '-----BEGIN ENCRYPTED PRIVATE KEY-----\n';
    for (const [settings, problem] of [
      [{ ca: cert.replace(/\n.+\n/, '\nAAAA\n') }, 'ca: the certificate is not valid PEM'],
      [{ ca: cert + key }, 'ca: the certificate is not valid PEM; only certificates may be in it'],
      [
        { clientCertificate: cert, clientKey: authority.issue('other').key },
        'clientKey: the private key does not belong to the client certificate',
      ],
      [{ clientCertificate: cert, clientKey: locked }, 'clientKey: the private key has a passphrase; remove it'],
      [{ ca: { file: 'missing.pem' } }, "ca: the file missing.pem doesn't exist"],
    ] as const) {
      expect(problemsOf(() => createTlsFiles(settings)).map(({ name, problem }) => `${name}: ${problem}`)).toEqual([
        problem,
      ]);
    }
  });
});

it.runIf(hasOpenssl)(`the metrics tell the time until the first certificate expires${opensslOnly}`, async () => {
  const days = async (tls: GatewayOptions['tls']) => {
    await using gateway = await startGateway({ upstream: 'https://127.0.0.1:9', ...(tls && { tls }) });
    const values = metricValues(await gateway.metrics(), /^notigraph_certificates_expire_seconds/);
    return Object.values(values).map((seconds) => Math.round(seconds / 86_400));
  };
  const { cert, key } = authority.issue('client'); // Valid for a day, and the authority for two.
  await using folder = await createTemporaryFolder();
  const file = folder.path('expiring.key');
  writeFileSync(file, key);
  expect(await days(undefined)).toEqual([]);
  expect(await days({ ca: authority.cert })).toEqual([2]);
  expect(await days({ ca: authority.cert, clientCertificate: cert, clientKey: { file } })).toEqual([1]);
});
