import { describe, expect, it } from 'vitest';
import { createGateway, type GatewayOptions } from '../../src/gateway.ts';
import { problemsOf } from '../support/configuration.ts';
import { guards } from '../support/guards.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('packages/cli/src/config/config-file.ts', 'resolveReferences.resolveText');
guards('src/settings/parse.ts', 'findTenantConflicts');
guards('src/settings/parse.ts', 'findConflicts');

const problemsIn = (text: string, env: Record<string, string> = {}) =>
  problemsOf({ env, files: { 'notigraph.config.yaml': text } });

describe('upstreams in the configuration file', () => {
  it('get one message for each problem, with its place', () => {
    const text = `upstream: https://one.example.com
upstreams:
  EU: { url: https://eu.example.com }
  us: { url: https://us.example.com/v1, hosts: [us.example.com:443], pathPrefix: us/ }
  ap: { ulr: https://ap.example.com, proxy: socks://proxy, tls: { clientKey: { env: AP_KEY } } }
`;
    expect(problemsIn(text, { AP_KEY: 'not a key' })).toMatchInlineSnapshot(`
      [
        "notigraph.config.yaml:3:3: upstreams.EU must be a name of at most 32 lowercase letters, digits and dashes that begins with a letter.",
        "notigraph.config.yaml:4:9: upstreams.us.url must not end in /v1; Notigraph adds it.",
        "notigraph.config.yaml:4:49: upstreams.us.hosts.0 must be a host name such as eu.example.com, without a port.",
        "notigraph.config.yaml:4:70: upstreams.us.pathPrefix must be a path such as /eu, without a slash at the end.",
        "notigraph.config.yaml:5:3: upstreams.ap.url must be the base address of the service, such as https://notifications.example.com.",
        "notigraph.config.yaml:5:9: upstreams.ap has the unknown setting "ulr".",
        "notigraph.config.yaml:5:38: upstreams.ap.proxy must be off, or the URL of a proxy such as http://proxy.example.com:3128.",
        "notigraph.config.yaml:5:60: upstreams.ap.tls needs clientCertificate and clientKey, or neither.",
      ]
    `);
  });

  it('are ambiguous if two claim the same, and tenants must select one that exists', () => {
    const text = `upstreams:
  eu: { url: https://eu.example.com, hosts: [Api.example.com], pathPrefix: /a, default: true }
  us: { url: https://us.example.com, hosts: [us.example.com, api.example.com], pathPrefix: /a, default: on }
clients:
  browser:
    issuers: [{ issuer: i, audience: a@example.com, jwks: https://i.example.com/ }]
    tenants: { acme: { key: { env: ACME_KEY }, upstream: mars }, globex: { env: GLOBEX_KEY } }
`;
    expect(problemsIn(text, { ACME_KEY: 'a', GLOBEX_KEY: 'b' })).toMatchInlineSnapshot(`
      [
        "notigraph.config.yaml:3:38: upstreams.us.hosts contains api.example.com, which selects eu.",
        "notigraph.config.yaml:3:80: upstreams.us.pathPrefix already selects eu.",
        "notigraph.config.yaml:3:96: upstreams.us.default must be on for only one upstream, and is already for eu.",
        "notigraph.config.yaml:7:16: clients.browser.tenants.acme selects an unknown upstream; use eu or us.",
      ]
    `);
  });

  it('exclude a single upstream and the sandbox', () => {
    const text = 'upstreams: { eu: { url: https://eu.example.com } }\n';
    expect(problemsIn(`upstream: https://a.example.com\n${text}`)).toMatchInlineSnapshot(`
      [
        "notigraph.config.yaml:2:1: upstreams cannot be combined with upstream; use only one of them.",
      ]
    `);
    expect(problemsIn(text, { NOTIGRAPH_SANDBOX: 'on' })).toMatchInlineSnapshot(`
      [
        "notigraph.config.yaml:1:1: upstreams cannot be combined with NOTIGRAPH_SANDBOX. Remove one of them.",
      ]
    `);
    expect(problemsIn(text, { NODE_ENV: 'production' })).toEqual([]);
  });

  it('must not contain private keys or passwords of proxies', () => {
    const text = `upstreams:
  eu: { url: https://eu.example.com, proxy: 'http://user:hunter2@proxy.example.com', tls: { clientKey: hunter2 } }
`;
    const problems = problemsIn(text);
    expect(problems).toMatchInlineSnapshot(`
      [
        "notigraph.config.yaml:2:38: upstreams.eu.proxy must not contain a user name or password; use { env: NAME }.",
        "notigraph.config.yaml:2:86: upstreams.eu.tls needs clientCertificate and clientKey, or neither.",
        "notigraph.config.yaml:2:93: upstreams.eu.tls.clientKey must not contain the secret itself; use { env: NAME } or { file: PATH }.",
      ]
    `);
    expect(problems.join()).not.toContain('hunter2');
  });
});

describe('createGateway', () => {
  const signer = createSigner();
  const clients = clientsOf(signer, { tenants: { acme: 'a', globex: { key: 'b', upstream: 'eu' } } });
  const create = (options: GatewayOptions) => () => createGateway(options);

  it('rejects tenants without an upstream', () => {
    const upstreams = { eu: { url: 'https://eu.example.com' } };
    expect(create({ upstreams, clients })).toThrow(
      'clients.browser.tenants.acme needs an upstream, { key, upstream }, because none is the default.',
    );
    expect(create({ upstream: 'https://eu.example.com', clients })).toThrow(
      'clients.browser.tenants.globex selects an upstream, but there are no upstreams.',
    );
    const issuers = [{ issuer: 'i', audience: 'a', jwks: 'https://i.example.com/' }];
    const tenantKeys = { directory: 'keys', upstreams: { initech: 'us' } };
    expect(create({ upstreams, clients: { browser: { issuers, tenantKeys } } })).toThrow(
      'clients.browser.tenantKeys.upstreams.initech selects an unknown upstream; use eu.',
    );
    expect(create({ upstreams: {} })).toThrow('upstreams must contain at least one upstream.');
  });
});
