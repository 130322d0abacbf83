import { describe, expect, it } from 'vitest';
import { createTestGateway } from '../../packages/testing/src/index.ts';
import { createGateway } from '../../src/gateway.ts';
import { defineModule } from '../../src/modules/index.ts';
import events from '../../src/modules/shipped/events.ts';

const UPSTREAM = 'http://127.0.0.1:9';

/** Returns the error of `createGateway` with these options, which may violate their TypeScript types. */
function errorOf(options: Record<string, unknown>): unknown {
  try {
    void Reflect.apply(createGateway, undefined, [{ upstream: UPSTREAM, ...options }]).dispose();
    return undefined;
  } catch (error) {
    return error;
  }
}

const secrets = ['a-fake-secret-of-more-than-32-characters'];
const browser = { tenants: { acme: 'fake-key' } };

describe('createGateway', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['an unknown option', { colour: 1 }, 'createGateway has the unknown option "colour".'],
    ['a setting of the command', { port: 1 }, 'createGateway has the unknown option "port".'],
    [
      'a misspelled value',
      { clients: { server: { trustedDocuments: 'enforced' } } },
      'clients.server.trustedDocuments must be off, log or enforce.',
    ],
    [
      'a string in place of a section',
      { trustedDocuments: 'enforced' },
      'trustedDocuments must be an object of settings.',
    ],
    [
      'an undefined secret',
      { clients: { browser }, clientTokens: { secrets: [undefined] } },
      'clientTokens.secrets.0 is undefined; leave it out or give it a value.',
    ],
    [
      'an undefined upstream',
      { upstream: undefined },
      'TypeError: upstream must be the base address of the service, such as https://notifications.example.com.',
    ],
    [
      'an endpoint that is reserved by the server',
      { endpoint: '/livez' },
      'endpoint must be a path such as /graphql, other than',
    ],
    ['a single module in place of a list', { modules: 'notigraph/modules/events' }, 'modules must be a list.'],
    [
      'settings by `{ env }`, which only the configuration file has',
      {
        clients: { browser: { tenants: { acme: { env: 'ACME_KEY' } } } },
        clientTokens: { secrets: [{ env: 'SECRET' }] },
        tls: { ca: { env: 'CA' } },
        rateLimits: { store: { redis: 'redis://127.0.0.1' } },
      },
      `TypeError: clients.browser.tenants.acme must be a secret or { file: PATH }, or { key, upstream } with one.
clientTokens.secrets.0 must be a secret or { file: PATH }.
rateLimits.store.redis must be an object with the url of the server: { url: … }.
tls.ca must be PEM or { file: PATH }.`,
    ],
    ...['/a/../b', '/./graphql'].map((endpoint): [string, Record<string, unknown>, string] => [
      `the endpoint ${endpoint}, which clients can't reach`,
      { endpoint },
      'and without the segments',
    ]),
    [
      'settings that contradict each other',
      { clientTokens: { secrets } },
      'clientTokens needs clients.browser, which accepts the tokens.',
    ],
  ])('throws a TypeError that names %s', (_, options, message) => {
    const error = errorOf(options);
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain(message);
  });

  it.each([
    [
      'notigraph/modules/events',
      "notigraph/modules/events is the name of a module; import it: import events from 'notigraph/modules/events'",
    ],
    ['./my-layouts.ts', "./my-layouts.ts is the name of a module; import it: import layouts from './my-layouts.ts'"],
    [
      { default: events },
      "a module is missing, or isn't the default export of its file, as in: import events from 'notigraph/modules/events'",
    ],
    [
      undefined,
      "a module is missing, or isn't the default export of its file, as in: import events from 'notigraph/modules/events'",
    ],
    [
      defineModule('mine', ({ use }) => Reflect.apply(use, undefined, ['notigraph/modules/topics'])),
      "the module mine fails: notigraph/modules/topics is the name of a module; import it: import topics from 'notigraph/modules/topics'",
    ],
  ])('says how to import a module: %s', async (module, message) => {
    expect(errorOf({ modules: [events, module] })).toMatchObject({ message });
    await expect(Reflect.apply(createTestGateway, undefined, [{ modules: [module] }])).rejects.toThrow(message);
  });

  it.each(['/...', '/a/.b/..c', '/v1.0/graphql'])('accepts the endpoint %s', (endpoint) => {
    expect(errorOf({ endpoint })).toBeUndefined();
  });

  it('reports all problems together without quoting values', () => {
    const error = errorOf({ logSecret: 'short-canary', colour: 'canary', clientTokens: { secrets: [7] } });
    expect(String(error).split('\n')).toHaveLength(3);
    expect(String(error)).not.toContain('canary');
  });

  it('accepts a URL object and sections in the form of the configuration file', () => {
    expect(errorOf({ upstream: new URL(UPSTREAM), clients: { browser }, clientTokens: { secrets } })).toBeUndefined();
  });
});
