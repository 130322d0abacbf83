import { describe, expect, it } from 'vitest';
import { createGateway, type GatewayOptions } from '../../src/gateway.ts';
import { guards } from '../support/guards.ts';
import { ofFile } from '../support/lifetime.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';

// Settings that contradict each other, or miss another one.

guards('src/lib/urls.ts', 'isKeysAddress');
guards('src/settings/parse.ts', 'findConflicts');

const upstream = 'http://127.0.0.1:1';
const eu = { url: upstream };
const tenants = { acme: 'fake-key' };
const issuer = { issuer: 'a', audience: 'gateway', jwks: 'https://a.example/keys' };
const issuers = [issuer, { ...issuer, issuer: 'b' }];
const SECRET = 'fake-secret-of-more-than-32-characters';
const clientTokens = { secrets: [SECRET] };
const keys = ofFile(await createTemporaryFolder());
const redis = { url: 'redis://127.0.0.1:1' };

describe('a gateway is created with', () => {
  it.each<[string, GatewayOptions]>([
    ['one upstream', { upstream }],
    ['several upstreams', { upstreams: { eu, us: eu } }],
    ['issuers', { upstream, clients: { browser: { issuers, tenants } } }],
    ['clientTokens in place of issuers', { upstream, clientTokens, clients: { browser: { tenants } } }],
    ['a cache in memory without a secret', { upstream, cache: true }],
    ['no cache', { upstream, cache: false }],
    ['a cache in Redis with a secret', { upstream, cache: { store: { redis }, secret: SECRET } }],
    ['a directory of keys', { upstream, clients: { browser: { issuers, tenantKeys: { directory: keys.path() } } } }],
    [
      'a manifest',
      {
        upstream,
        clients: { server: { trustedDocuments: 'enforce' } },
        trustedDocuments: { manifests: ['schema/trusted-documents.json'] },
      },
    ],
  ])('%s', async (_, options) => {
    await createGateway(options).dispose();
  });
});

describe('a gateway is not created with', () => {
  it.each<[problem: string, GatewayOptions]>([
    ['upstreams cannot be combined with upstream; use only one of them.', { upstream, upstreams: { eu } }],
    [
      'clients.browser needs issuers, or clientTokens at the top level.',
      { upstream, clients: { browser: { tenants } } },
    ],
    [
      'clients.browser needs tenants, or tenantKeys with their directory.',
      { upstream, clients: { browser: { issuers } } },
    ],
    [
      'clients.browser.issuers contains the same issuer twice.',
      { upstream, clients: { browser: { issuers: [...issuers, issuer], tenants } } },
    ],
    ['clientTokens needs clients.browser, which accepts the tokens.', { upstream, clientTokens }],
    [
      'clients.browser.issuers contains notigraph, which is the issuer of clientTokens.',
      { upstream, clientTokens, clients: { browser: { issuers: [{ ...issuer, issuer: 'notigraph' }], tenants } } },
    ],
    [
      'trustedDocuments.manifests must contain at least one manifest.',
      { upstream, clients: { server: { trustedDocuments: 'log' } } },
    ],
    [
      'trustedDocuments.manifests must contain at least one manifest.',
      { upstream, clients: { browser: { issuers, tenants, trustedDocuments: 'enforce' } } },
    ],
    [
      'cache.secret is required with Redis; set a secret of at least 32 characters, the same for all replicas.',
      { upstream, cache: { store: { redis } } },
    ],
    [
      'upstreams.us.default must be on for only one upstream, and is already for eu.',
      { upstreams: { eu: { ...eu, default: true }, us: { ...eu, default: true } } },
    ],
    [
      'clients.browser.tenants.acme needs an upstream, { key, upstream }, because none is the default.',
      { upstreams: { eu }, clients: { browser: { issuers, tenants } } },
    ],
    ...[
      'ftp://a.example/keys',
      'http://a.example/keys',
      'https://a@a.example/keys',
      'https://:b@a.example/keys',
      'keys',
    ].map((jwks): [string, GatewayOptions] => [
      'clients.browser.issuers.0.jwks must be an https URL (http only on this machine) without user name and password.',
      { upstream, clients: { browser: { issuers: [{ ...issuer, jwks }], tenants } } },
    ]),
  ])('%s', async (problem, options) => {
    expect(() => createGateway(options)).toThrow(new TypeError(problem));
  });
});
