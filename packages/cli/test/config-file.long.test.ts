import { spawnSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { runCommand } from '../../../test/support/command.ts';
import { problemsOf as findProblems, loadFrom, type Sources } from '../../../test/support/configuration.ts';
import { measureCpu } from '../../../test/support/cpu-time.ts';
import { guards } from '../../../test/support/guards.ts';
import { startTestIssuer } from '../../../test/support/issuer.ts';
import { startNotigraph } from '../../../test/support/process.ts';
import { createTestFolder } from '../../../test/support/sandbox-files.ts';
import { sendOperation } from '../../../test/support/send-operation.ts';
import { startService } from '../../../test/support/service.ts';
import { readConfigText } from '../src/config/environment.ts';
import type { Config } from '../src/config/load-config.ts';

guards('packages/cli/src/config/config-file.ts', 'DocumentIndex.findOffset');
guards('packages/cli/src/config/config-file.ts', 'resolveReferences.readVariable');
guards('src/files/text-file.ts', 'assertRegularFile');
guards('src/settings/kinds.ts', 'KINDS.cacheSecret');
guards('src/settings/kinds.ts', 'KINDS.routerSecret');

const NAME = 'notigraph.config.yaml';

/** Configuration with every setting, apart from alternatives that cannot be combined. */
const FULL = {
  port: 4001,
  graphiql: false,
  clients: {
    server: {
      corsOrigins: ['https://server.example'],
      trustedDocuments: 'log',
      rateLimit: { calls: 600, perSeconds: 30 },
    },
    browser: {
      issuers: [
        {
          issuer: 'https://login.example',
          audience: ['dashboard', 'admin'],
          jwks: 'https://login.example/keys',
          algorithms: ['ES256'],
          tenantClaim: 'org',
          tenants: ['acme'],
          scopeClaim: 'permissions',
        },
        { issuer: 'https://other.example', audience: 'dashboard', publicKey: { file: 'login.pem' }, tenant: 'globex' },
      ],
      scopes: ['workflows:read', 'groups:write'],
      tenants: { acme: { env: 'ACME_KEY' }, globex: { file: 'secrets/globex' } },
      tenantKeys: { directory: '/run/secrets/tenants' },
      corsOrigins: ['http://localhost:5173'],
      trustedDocuments: 'enforce',
      rateLimit: { calls: 120 },
    },
  },
  clientTokens: {
    secrets: [{ env: 'TOKEN_SECRET' }, { file: 'secrets/old-token-secret' }],
    maxLifetimeSeconds: 600,
    rateLimit: { calls: 5, perSeconds: 1 },
  },
  trustedDocuments: { manifests: ['app/documents.json', '/srv/documents.json'] },
  rateLimits: { store: { redis: { url: { env: 'REDIS_URL' } } } },
  reloadSeconds: 3,
};

const ENV: Record<'ACME_KEY' | 'TOKEN_SECRET' | 'REDIS_URL', string> = {
  ACME_KEY: 'key-of-acme',
  TOKEN_SECRET: 'x'.repeat(32),
  REDIS_URL: 'redis://127.0.0.1',
};

/** Words that occur only in messages of libraries. */
const LIBRARY_WORDING = /Invalid|Too small|expected|received|Unrecognized/;

const load = (sources: Sources): Config => loadFrom({ env: ENV, ...sources });
const problemsOf = (sources: Sources) => findProblems({ env: ENV, ...sources });

/** Removes the place of a problem in the configuration file. */
const withoutPlace = (problem = ''): string => problem.replace(/^notigraph\.config\.yaml:\d+:\d+: /, '');

const fileWithText = (text: string, env: Record<string, string> = ENV) => ({ env, files: { [NAME]: text } });
const fileWith = (content: object, env: Record<string, string> = ENV) => fileWithText(JSON.stringify(content), env);

describe('a configuration file', () => {
  it('defines clients and settings, in YAML and in JSON', () => {
    const config = load(fileWithText(stringify(FULL)));
    expect(load(fileWith(FULL))).toEqual(config);
    const { port, graphiql } = config;
    expect({ port, graphiql }).toEqual({ port: 4001, graphiql: false });
    expect(config).toMatchObject({
      clients: {
        server: FULL.clients.server,
        browser: {
          issuers: [
            FULL.clients.browser.issuers[0],
            { ...FULL.clients.browser.issuers[1], publicKey: { file: resolve('login.pem') } },
          ],
          scopes: ['workflows:read', 'groups:write'],
          tenants: { acme: 'key-of-acme', globex: { file: resolve('secrets/globex') } },
          tenantKeys: { directory: '/run/secrets/tenants' },
          corsOrigins: ['http://localhost:5173'],
          trustedDocuments: 'enforce',
          rateLimit: { calls: 120, perSeconds: 60 },
        },
      },
      clientTokens: {
        ...FULL.clientTokens,
        secrets: [ENV.TOKEN_SECRET, { file: resolve('secrets/old-token-secret') }],
      },
      trustedDocuments: { manifests: [resolve('app/documents.json'), '/srv/documents.json'] },
      rateLimits: { store: { redis: { url: ENV.REDIS_URL } } },
      reloadSeconds: 3,
    });
  });

  it.each(['notigraph.config.yml', 'notigraph.config.json'])('is not taken from %s, which is said', (name) => {
    const files = { [name]: '{}' };
    expect(findProblems({ files })).toEqual([
      `The file ${name} is not read. Rename it to notigraph.config.yaml, or pass --config ${name}.`,
    ]);
    expect(findProblems({ files: { ...files, [NAME]: '{}' } })).toEqual([]);
    expect(findProblems({ files, argv: ['--config', name] })).toEqual([]);
  });

  it('has paths relative to its folder; NOTIGRAPH_CONFIG_TEXT has them relative to the working directory', () => {
    const text = JSON.stringify({
      trustedDocuments: { manifests: ['documents.json', '../documents.json', '/documents.json'] },
    });
    const manifestsOf = (sources: Sources) => load(sources).trustedDocuments.manifests;
    expect(
      manifestsOf({ argv: ['--config', '/srv/app/gateway.yaml'], files: { '/srv/app/gateway.yaml': text } }),
    ).toEqual(['/srv/app/documents.json', '/srv/documents.json', '/documents.json']);
    expect(manifestsOf({ env: { NOTIGRAPH_CONFIG: 'conf/a.json' }, files: { 'conf/a.json': text } })).toEqual([
      resolve('conf/documents.json'),
      resolve('documents.json'),
      '/documents.json',
    ]);
    expect(manifestsOf({ env: { NOTIGRAPH_CONFIG_TEXT: text } }).map((path) => resolve(String(path)))).toEqual([
      resolve('documents.json'),
      resolve('../documents.json'),
      '/documents.json',
    ]);
    const tools = load({
      argv: ['--config', '/srv/app/gateway.yaml'],
      files: { '/srv/app/gateway.yaml': JSON.stringify({ mcp: { manifest: 'tools.json' } }) },
    });
    expect(tools.mcp?.manifest).toBe('/srv/app/tools.json');
  });

  it('is overridden by .env, the environment and options, in this order', () => {
    const files = { [NAME]: 'port: 1\nhost: of-the-file\ngraphiql: off\nmaxDepth: 7\n' };
    expect(load({ files, env: {} })).toMatchObject({
      port: 1,
      host: 'of-the-file',
      graphiql: false,
      maxDepth: 7,
    });
    const env = { NOTIGRAPH_PORT: '2', NOTIGRAPH_HOST: 'of-the-environment', NOTIGRAPH_GRAPHIQL: '' };
    expect(load({ files, env })).toMatchObject({ port: 2, host: 'of-the-environment', graphiql: false });
    expect(load({ files, env, argv: ['--port', '3'] })).toMatchObject({ port: 3, host: 'of-the-environment' });
    const all = { ...files, '.env': 'NOTIGRAPH_HOST="of-dot-env" # not here\nNOTIGRAPH_MAX_DEPTH=8\n' };
    expect(load({ files: all, env })).toMatchObject({ host: 'of-the-environment', maxDepth: 8 });
    expect(load({ files: all, env: {} })).toMatchObject({ host: 'of-dot-env', maxDepth: 8 });
    expect(load({ files: { [NAME]: 'port: web' }, env }).port).toBe(2);
  });

  it('may be empty, and turns the server client on or off', () => {
    const byDefault = load({}).clients;
    for (const text of ['', '# nothing\n', '{}', 'clients:\n', '---\n...\n', 'clients: { server: {} }']) {
      expect([text, load(fileWithText(text)).clients]).toEqual([text, byDefault]);
    }
    const serverOf = (word: string) => load(fileWithText(`clients: { server: ${word} }`)).clients.server;
    expect(['on', 'null', 'off', 'false'].map(serverOf)).toEqual([byDefault.server, byDefault.server, false, false]);
  });

  it('turns the browser client on only if it is configured, without any defaults that grant access', () => {
    expect(load({}).clients.browser).toBeUndefined();
    const { browser, server } = load(fileWithText('clients: { server: on }')).clients;
    expect([browser, server]).toEqual([undefined, expect.anything()]);
    const least = {
      clients: {
        browser: { issuers: [{ issuer: 'i', audience: 'a', publicKey: 'pem' }], tenantKeys: { directory: '/t' } },
      },
    };
    expect(load(fileWith(least)).clients.browser).toMatchObject({
      scopes: [],
      corsOrigins: [],
      trustedDocuments: 'off',
    });
  });
});

describe('an invalid configuration file', () => {
  it('gets one message for each problem, all together', () => {
    const text = `
port: web
colour: blue
hosts: { app: 'app.example.com' }
clients:
  servers: on
  server: { corsOrigins: [https://app.example.com/], rateLimit: { calls: 0.5 } }
  browser:
    issuers:
      - { issuer: '', audience: [], jwks: 'http://login.example/keys', algorithms: [HS256, none] }
      - { issuer: i, audience: a, jwks: "https://user@login.example/keys", tenant: acme, tenantClaim: org }
      - { issuer: j, audience: a }
    scopes: [everything]
    tenants: { acme: { key: secret }, globex: secret, initech: { env: INITECH_KEY } }
    trustedDocuments: perhaps
  local: maybe
`;
    const others = `
clientTokens: { secrets: [], maxLifetimeSeconds: 3601 }
rateLimits: { store: disk }
reloadSeconds: 0
`;
    const problems = [text, others].flatMap((each) => problemsOf(fileWithText(each))); // A message has at most 20.
    expect(problems).toMatchInlineSnapshot(`
      [
        "notigraph.config.yaml:2:1: port must be a whole number from 0 to 65535.",
        "notigraph.config.yaml:3:1: unknown setting "colour".",
        "notigraph.config.yaml:4:1: hosts must be a list of host names such as eu.example.com, without a port.",
        "notigraph.config.yaml:6:3: clients has the unknown setting "servers" (did you mean "server"?) and the unknown setting "local".",
        "notigraph.config.yaml:7:27: clients.server.corsOrigins.0 must be an origin such as https://app.example.com, in lower case, without a path or a trailing slash.",
        "notigraph.config.yaml:7:67: clients.server.rateLimit.calls must be 1 or more.",
        "notigraph.config.yaml:10:11: clients.browser.issuers.0.issuer must not be empty.",
        "notigraph.config.yaml:10:23: clients.browser.issuers.0.audience must be a string or a list of strings.",
        "notigraph.config.yaml:10:37: clients.browser.issuers.0.jwks must be an https URL (http only on this machine) without user name and password.",
        "notigraph.config.yaml:10:85: clients.browser.issuers.0.algorithms.0 must be RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA or Ed25519.",
        "notigraph.config.yaml:10:92: clients.browser.issuers.0.algorithms.1 must be RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA or Ed25519.",
        "notigraph.config.yaml:11:9: clients.browser.issuers.1 has a fixed tenant, so tenantClaim and tenants have no effect; remove them.",
        "notigraph.config.yaml:11:35: clients.browser.issuers.1.jwks must be an https URL (http only on this machine) without user name and password.",
        "notigraph.config.yaml:12:9: clients.browser.issuers.2 needs either jwks or publicKey.",
        "notigraph.config.yaml:13:14: clients.browser.scopes.0 must be a scope such as groups:read; see docs/frontend.md.",
        "notigraph.config.yaml:14:16: clients.browser.tenants.acme must be a secret, { env: NAME } or { file: PATH }, or { key, upstream } with one.",
        "notigraph.config.yaml:14:24: clients.browser.tenants.acme.key must not contain the secret itself; use { env: NAME } or { file: PATH }.",
        "notigraph.config.yaml:14:39: clients.browser.tenants.globex must not contain the secret itself; use { env: NAME } or { file: PATH }.",
        "notigraph.config.yaml:14:55: clients.browser.tenants.initech requires the environment variable INITECH_KEY, which is not set.",
        "notigraph.config.yaml:15:5: clients.browser.trustedDocuments must be off, log or enforce.",
        "notigraph.config.yaml:2:17: clientTokens.secrets must contain at least one secret.",
        "notigraph.config.yaml:2:30: clientTokens.maxLifetimeSeconds must be a whole number from 1 to 3600.",
        "notigraph.config.yaml:3:15: rateLimits.store must be memory, or { redis: { url } }.",
        "notigraph.config.yaml:4:1: reloadSeconds must be a number from 0.01 to 86400.",
      ]
    `);
  });

  it('has its first 20 problems in the message, and how many others there are', () => {
    const colours = Array.from({ length: 60 }, (_, i) => `colour${i}: red`);
    expect(problemsOf(fileWithText(colours.join('\n')))).toEqual([
      ...colours.slice(0, 20).map((_, i) => `${NAME}:${i + 1}:1: unknown setting "colour${i}".`),
      'and 40 more problems.',
    ]);
    expect(problemsOf(fileWithText(colours.slice(0, 21).join('\n'))).at(-1)).toBe('and 1 more problem.');
    expect(problemsOf(fileWithText(colours.slice(0, 20).join('\n')))).toHaveLength(20);
    const [section = ''] = problemsOf(fileWithText(`clients:\n${colours.map((each) => `  ${each}\n`).join('')}`));
    expect(section).toMatch(
      /^notigraph\.config\.yaml:2:3: clients has the unknown setting "colour0", .+ "colour19" and 40 more\.$/,
    );
    const [long = ''] = problemsOf(fileWithText(`? ${'x'.repeat(100_000)}\n: red\n`));
    expect(long).toMatch(/^notigraph\.config\.yaml:1:3: unknown setting "x+…$/);
    expect(long.length).toBeLessThan(2_100);
    const env = Object.fromEntries(colours.map((_, i) => [`NOTIGRAPH_COLOUR${i}`, 'red']));
    expect(problemsOf({ env })).toHaveLength(21);
  });

  it.each<[string, (count: number) => string]>([
    ['unknown settings', (count) => repeat(count, (i) => `u${i}: 1\n`)],
    ['unknown members of a section', (count) => `clients:\n${repeat(count, (i) => `  u${i}: 1\n`)}`],
    ['invalid members of a section', (count) => `upstreams:\n${repeat(count, (i) => `  u${i}: { nope: 1 }\n`)}`],
    ['valid members of a section', (count) => `upstreams:\n${repeat(count, (i) => `  u${i}: { url: "http://a" }\n`)}`],
    ['invalid entries of a list', (count) => `hosts: [${repeat(count, (i) => `"a b${i}", `)}]\n`],
    ['repeated settings', (count) => repeat(count, () => 'port: 1\n')],
    ['aliases', (count) => `${repeat(count, (i) => `u${i}: &a${i} 1\n`)}x: [${repeat(count, (i) => `*a${i}, `)}]\n`],
  ])('is read in linear time: %s', async (_, write) => {
    const measure = async (count: number) => {
      const file = fileWithText(write(count));
      const { result, cpuMs } = await measureCpu(() => problemsOf(file));
      expect(result.length).toBeLessThanOrEqual(21);
      return cpuMs;
    };
    await measure(2_000); // Compiles the code.
    const few = await measure(2_000);
    expect(await measure(20_000)).toBeLessThan(30 * few); // Ten times as many, instead of a hundred times as much.
  });

  it('is never quoted: no message contains any of its values', () => {
    const canary = 'canary-71f3e0';
    const values: unknown[] = [
      canary,
      [canary],
      { other: canary },
      `${canary}\n${canary}`,
      `https://${canary}.example/a?b`,
      7,
      null,
      [null],
      '',
    ];
    let problems = 0;
    for (const path of [...leavesOf(FULL), ...sectionsOf(FULL).slice(1)]) {
      for (const value of values) {
        const found = problemsOf(fileWith(replaceAt(FULL, path, value)));
        problems += found.length;
        expect([path, value, found.filter((problem) => problem.includes(canary))]).toEqual([path, value, []]);
        for (const problem of found) {
          expect(problem).toMatch(/^[^\n]+\.$/);
          expect(problem).not.toMatch(LIBRARY_WORDING);
        }
      }
    }
    expect(problems).toBeGreaterThan(100);
  });

  it('gets a message for an unknown setting in every section', () => {
    for (const path of sectionsOf(FULL)) {
      const found = problemsOf(fileWith(replaceAt(FULL, [...path, 'colour'], 'blue')));
      expect([path, found]).toEqual([
        path,
        [
          expect.stringMatching(
            /^notigraph\.config\.yaml:\d+:\d+: .*(?:colour|must be (?:a secret|a PEM|a URL redis))/,
          ),
        ],
      ]);
      expect(found.join()).not.toContain('blue');
    }
  });

  it.each<[string, RegExp]>([
    ['redis://canary:65536', /must be a URL redis:/],
    ['redis://:pa#canary@host', /must be a URL redis:/],
    ['redis://host/canary', /must end in a database number, such as \/0, or have no path\.$/],
    ['redis://host/0?db=canary', /must not contain \? or #; write them as %3F and %23 in a password\.$/],
    ['redis://:canary%zz@host', /has a user name or password with a % that must be written as %25\.$/],
  ])('with the malformed Redis URL %s names its place and never quotes it', (url, problem) => {
    const settings = 'rateLimits:\n  store:\n    redis: { url: { env: REDIS_URL } }\n';
    const found = problemsOf(fileWithText(settings, { REDIS_URL: url }));
    expect(found).toEqual([expect.stringMatching(/^notigraph\.config\.yaml:3:14: rateLimits\.store\.redis\.url /)]);
    expect(found[0]).toMatch(problem);
    expect(found[0]).not.toContain('canary');
  });

  it.each<[string, string, RegExp]>([
    [
      'invalid YAML',
      'clients:\n  server: [canary',
      /^notigraph\.config\.yaml:2:18: invalid YAML: the closing ] is missing\.$/,
    ],
    ['indented by tabs', 'clients:\n\tserver: on', /:2:1: invalid YAML: a tab is used as indentation; use spaces\.$/],
    ['two files in one', 'port: 1\n---\nport: 2\n', /:2:1: invalid YAML: there is a second document after ---\.$/],
    ['a list', '- canary', /must be an object of settings/],
    ['with a repeated setting', 'port: 1\nport: 2\n', /:2:1: invalid YAML: the setting is given twice\.$/],
    [
      'with a list as a name',
      'mcp:\n  manifest:\n    [canary]: canary\n',
      /:3:5: invalid YAML: a name must be a text, not a list, an object, an alias \(\*name\) or a text with a tag \(!name\)\.$/,
    ],
    ['with the setting __proto__', '__proto__: { clients: {} }', /:1:1: unknown setting "__proto__"\.$/],
    [
      'with exponentially growing aliases',
      yamlBomb(),
      /has an alias \(\*name\) that is unknown, circular or expands too far\.$/,
    ],
    ['with a setting that exists only as a variable', 'config: canary', /:1:1: unknown setting "config"\.$/],
  ])('is rejected if it is %s', (_, text, problem) => {
    const found = problemsOf(fileWithText(text));
    expect(found).toEqual([expect.stringMatching(problem)]);
    expect(found.join()).not.toContain('canary');
  });

  it('is rejected if it cannot be read, or if it is given twice', () => {
    expect(problemsOf({ argv: ['--config', 'nowhere.yaml'] })).toEqual([
      "--config: the configuration file nowhere.yaml doesn't exist.",
    ]);
    expect(problemsOf({ env: { NOTIGRAPH_CONFIG: 'nowhere.yaml' } })).toEqual([
      "NOTIGRAPH_CONFIG (environment): the configuration file nowhere.yaml doesn't exist.",
    ]);
    expect(
      problemsOf({ env: { NOTIGRAPH_CONFIG: 'a.yaml', NOTIGRAPH_CONFIG_TEXT: '{}' }, files: { 'a.yaml': '' } }),
    ).toEqual(['Use either a configuration file or NOTIGRAPH_CONFIG_TEXT, not both.']);
    // If a file is named, only that one is read.
    expect(load({ argv: ['--config', 'a.yaml'], files: { [NAME]: 'port: 7', 'a.yaml': 'port: 9' } }).port).toBe(9);
    expect(load({ env: { NOTIGRAPH_CONFIG_TEXT: 'port: 8' }, files: { [NAME]: 'port: 7' } }).port).toBe(8);
  });
});

describe('a secret in a configuration file', () => {
  const withAcmeKey = (key: unknown) => replaceAt(FULL, ['clients', 'browser', 'tenants', 'acme'], key);
  const at = 'clients.browser.tenants.acme';

  it.each<[string, unknown]>([
    ['is both in a variable and in a file', { env: 'ACME_KEY', file: 'canary' }],
    ['is in a list', [{ env: 'ACME_KEY' }]],
  ])('is rejected if it %s', (_, key) => {
    const [problem, ...others] = problemsOf(fileWith(withAcmeKey(key)));
    expect(others).toEqual([]);
    expect(withoutPlace(problem).startsWith(`${at} `)).toBe(true);
  });

  it('is rejected once if it is the text itself, however short, also in a URL', () => {
    for (const secret of ['canary', 'canary'.repeat(6)]) {
      const problems = problemsOf(fileWith({ cache: { secret }, federation: { routerSecret: secret } }));
      const clause = 'must not contain the secret itself; use { env: NAME } or { file: PATH }.';
      expect(problems.map(withoutPlace)).toEqual([`cache.secret ${clause}`, `federation.routerSecret ${clause}`]);
    }
    for (const section of ['cache', 'rateLimits']) {
      const found = problemsOf(fileWithText(`${section}:\n  store: { redis: { url: 'redis://:canary@host' } }\n`));
      const problem = 'must not contain a user name or password; use { env: NAME }.';
      expect(found).toContain(`notigraph.config.yaml:2:21: ${section}.store.redis.url ${problem}`);
      expect(found.join()).not.toContain('canary');
    }
  });

  it('is rejected by the name of its variable if the variable is empty', () => {
    expect(problemsOf(fileWith(FULL, { ...ENV, ACME_KEY: '' })).map(withoutPlace)).toEqual([
      `${at} requires the environment variable ACME_KEY, which is not set.`,
    ]);
  });

  it('is not quoted if it was written in place of the variable’s name', () => {
    for (const env of ['canary-key', 'sk_live_canary', 'constructor', '__proto__']) {
      expect(problemsOf(fileWith(withAcmeKey({ env }))).map(withoutPlace)).toEqual([
        `${at} requires an environment variable that is not set; env must be its name.`,
      ]);
    }
  });
});

describe('a configuration file with inconsistent settings', () => {
  const browser = { issuers: [{ issuer: 'i', audience: 'a', publicKey: 'pem' }], tenants: {} };

  it.each<[string, object, RegExp]>([
    ['browsers without issuers', { clients: { browser: { tenants: {} } } }, /^clients\.browser needs issuers/],
    [
      'browsers without tenants',
      { clients: { browser: { issuers: browser.issuers } } },
      /^clients\.browser needs tenants/,
    ],
    [
      'a repeated issuer',
      { clients: { browser: { ...browser, issuers: [...browser.issuers, ...browser.issuers] } } },
      /contains the same issuer twice/,
    ],
    [
      'client tokens without browsers',
      { clientTokens: { secrets: [{ env: 'TOKEN_SECRET' }] } },
      /^clientTokens needs clients\.browser/,
    ],
    [
      'client tokens in an issuer’s name',
      {
        clients: { browser: { ...browser, issuers: [{ ...browser.issuers[0], issuer: 'notigraph' }] } },
        clientTokens: { secrets: [{ env: 'TOKEN_SECRET' }] },
      },
      /^clients\.browser\.issuers contains notigraph, /,
    ],
    [
      'logged trusted documents without manifests',
      { clients: { browser: { ...browser, trustedDocuments: 'log' } } },
      /^trustedDocuments\.manifests must contain/,
    ],
  ])('is rejected: %s', (_, content, problem) => {
    const found = problemsOf(fileWith(content));
    expect(found.map(withoutPlace)).toEqual([expect.stringMatching(problem)]);
  });
});

describe('a process', () => {
  const GROUPS = '{ notificationGroups { name } }';

  it('serves browsers with the file in its working directory and secrets from .env, the environment and files', async () => {
    const folder = await createTestFolder();
    await using issuer = await startTestIssuer({ claims: { aud: 'dashboard', scope: 'groups:read' } });
    await using upstream = await startService(() => ({ body: { data: [] } }));
    const config = {
      upstream: upstream.url,
      clients: {
        browser: {
          issuers: [
            {
              issuer: issuer.url,
              audience: 'dashboard',
              publicKey: { file: 'keys/login.pem' },
              algorithms: ['ES256'],
            },
          ],
          scopes: ['groups:read'],
          tenants: { acme: { env: 'ACME_KEY' }, globex: { env: 'GLOBEX_KEY' } },
          tenantKeys: { directory: 'keys/tenants' },
        },
      },
    };
    await mkdir(folder.path('keys', 'tenants'), { recursive: true });
    await writeFile(folder.path('keys', 'login.pem'), issuer.key.pem);
    await writeFile(folder.path('keys', 'tenants', 'initech'), 'key-of-initech\n');
    await writeFile(folder.path('.env'), 'ACME_KEY=key-of-acme\nGLOBEX_KEY=overruled\n');
    await writeFile(folder.path(NAME), stringify(config));
    const options = { args: ['--workers', '2'], env: { GLOBEX_KEY: 'key-of-globex' } };
    await using notigraph = await startNotigraph({ cwd: folder.path(), ...options });
    expect(notigraph.output()).toContain('browsers with a token');
    for (const tenant of ['acme', 'globex', 'initech']) {
      const answers = await Promise.all(
        Array.from({ length: 4 }, () => sendOperation(notigraph.url, GROUPS, {}, `Bearer ${issuer.sign({ tenant })}`)),
      );
      expect(answers).toEqual(Array(4).fill({ data: { notificationGroups: [] } }));
      expect(upstream.requests.at(-1)?.headers.authorization).toBe(`ApiKey key-of-${tenant}`);
    }
    const ending = await notigraph.stop('SIGTERM');
    expect(ending.code).toBe(0);
    expect(ending.stdout + ending.stderr).not.toMatch(/key-of-/);
  });

  it('reports every problem of every source in one run, each with its place', async () => {
    const folder = await createTestFolder();
    await writeFile(folder.path('keys.json'), '{\n  "a": canary\n}');
    await writeFile(folder.path('short'), 'canary');
    await writeFile(folder.path('.env'), '# settings\nNOTIGRAPH_MAX_DEPTH=canary\nACME_KEY="canary key"\n');
    spawnSync('mkfifo', [folder.path('pipe')]);
    await symlink('loop', folder.path('loop'));
    await writeFile(
      folder.path('notigraph.config.yaml'),
      `port: canary
clients:
  server: { trustedDocuments: enforce }
  browser:
    issuers:
      - { issuer: a, audience: a, publicKey: { file: login.pem } }
      - { issuer: b, audience: a, publicKey: { file: /dev/zero } }
      - { issuer: c, audience: a, publicKey: { file: keys.json } }
    scopes: [canary]
    tenants:
      acme: { env: ACME_KEY }
      birch: { file: secrets/birch }
      cedar: { file: pipe }
    tenantKeys: { directory: tenants }
trustedDocuments: { manifests: [nowhere.json, keys.json, pipe, /dev/null] }
clientTokens: { secrets: [{ file: loop }, { file: short }, { file: . }, { env: TOKEN_SECRET }] }
`,
    );
    const few = 'clientTokens: { secrets: [{ file: loop }, { file: short }, { file: . }, { env: TOKEN_SECRET }] }\n';
    await writeFile(folder.path('few.yaml'), few);
    const env = { NOTIGRAPH_HOST: 'canary/', NOTIGRAPH_WORKRES: '2' };
    const args = ['--graphiql', 'canary', '--sandbox', 'pipe', '--colour', 'canary', '--workers', '2'];
    const { code, stdout, stderr } = await runCommand({ cwd: folder.path(), env, args });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).not.toContain('canary');
    const rest = await runCommand({
      cwd: folder.path(),
      env: { NOTIGRAPH_MAX_DEPTH: '7' },
      args: ['--config', 'few.yaml'],
    });
    expect([code, rest.code]).toEqual([2, 2]);
    const printed = `${stderr}${rest.stderr}`.replaceAll(folder.path(), '').trimEnd();
    expect(printed.split('\n')).toMatchInlineSnapshot(`
      [
        "Unknown option "--colour". See notigraph serve --help.",
        "NOTIGRAPH_WORKRES (environment) is unknown (did you mean "NOTIGRAPH_WORKERS"?). See docs/settings.md.",
        "--graphiql must be on or off (true or false).",
        "NOTIGRAPH_MAX_DEPTH (.env) must be a whole number from 1 to 1000.",
        "NOTIGRAPH_HOST (environment) must be a host name or an IP address.",
        "--sandbox: the file pipe is a pipe, not a regular file.",
        "notigraph.config.yaml:1:1: port must be a whole number from 0 to 65535.",
        "notigraph.config.yaml:6:35: clients.browser.issuers.0.publicKey: the file /login.pem doesn't exist.",
        "notigraph.config.yaml:7:35: clients.browser.issuers.1.publicKey: the file /dev/zero is a device, not a regular file.",
        "notigraph.config.yaml:8:35: clients.browser.issuers.2.publicKey: the public key is neither PEM nor a JSON Web Key (JWK).",
        "notigraph.config.yaml:9:14: clients.browser.scopes.0 must be a scope such as groups:read; see docs/frontend.md.",
        "notigraph.config.yaml:11:7: clients.browser.tenants.acme: the key of tenant acme is empty, too long, or contains a space or another invalid character.",
        "notigraph.config.yaml:12:7: clients.browser.tenants.birch: the file /secrets/birch doesn't exist.",
        "notigraph.config.yaml:13:7: clients.browser.tenants.cedar: the file /pipe is a pipe, not a regular file.",
        "notigraph.config.yaml:14:5: clients.browser.tenantKeys: the folder /tenants doesn't exist.",
        "notigraph.config.yaml:15:33: trustedDocuments.manifests.0: the manifest /nowhere.json doesn't exist.",
        "notigraph.config.yaml:15:47: trustedDocuments.manifests.1: the manifest /keys.json cannot be used: it is not JSON.",
        "notigraph.config.yaml:15:58: trustedDocuments.manifests.2: the manifest /pipe is a pipe, not a regular file.",
        "notigraph.config.yaml:15:64: trustedDocuments.manifests.3: the manifest /dev/null is a device, not a regular file.",
        "notigraph.config.yaml:16:27: clientTokens.secrets.0: the file /loop is a symbolic link that leads back to itself.",
        "and 3 more problems.",
        "few.yaml:1:27: clientTokens.secrets.0: the file /loop is a symbolic link that leads back to itself.",
        "few.yaml:1:43: clientTokens.secrets.1: a secret of client tokens is shorter than 32 characters.",
        "few.yaml:1:60: clientTokens.secrets.2: the file  is a directory, not a regular file.",
        "few.yaml:1:73: clientTokens.secrets.3 requires the environment variable TOKEN_SECRET, which is not set.",
      ]
    `);
  });

  it('reads no configuration from a pipe or a device', async () => {
    const folder = await createTestFolder();
    await symlink('.env', folder.path('.env'));
    spawnSync('mkfifo', [folder.path(NAME)]);
    const { code, stderr } = await runCommand({ cwd: folder.path() });
    expect({ code, lines: stderr.trimEnd().split('\n') }).toEqual({
      code: 2,
      lines: [
        'The file .env is a symbolic link that leads back to itself.',
        'The configuration file notigraph.config.yaml is a pipe, not a regular file.',
      ],
    });
    for (const [path, kind] of [
      ['/dev/zero', 'a device'],
      ['.', 'a directory'],
    ] as const) {
      expect(() => readConfigText(path)).toThrow(`is ${kind}, not a regular file`);
    }
    await writeFile(folder.path('huge'), 'x'.repeat(1024 * 1024 + 1));
    expect(() => readConfigText(folder.path('huge'))).toThrow('is larger than 1024 KiB');
  });
});

type Path = readonly (string | number)[];

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Returns the paths of all values that contain no others. */
function leavesOf(value: unknown, path: Path = []): Path[] {
  return isObject(value) ? Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, [...path, name])) : [path];
}

/** Returns the paths of all objects that have settings. */
function sectionsOf(value: unknown, path: Path = []): Path[] {
  if (!isObject(value)) {
    return [];
  }
  const inner = Object.entries(value).flatMap(([name, member]) => sectionsOf(member, [...path, name]));
  const isByTenant = path.at(-1) === 'tenants';
  return Array.isArray(value) || isByTenant ? inner : [path, ...inner];
}

function replaceAt(value: unknown, [name, ...rest]: Path, replacement: unknown): object {
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value)
    ? [...value]
    : { ...(isObject(value) ? value : {}) };
  const inner = isObject(value) && name !== undefined ? value[name] : undefined;
  return Object.assign(copy, { [name ?? '']: rest.length === 0 ? replacement : replaceAt(inner, rest, replacement) });
}

const repeat = (count: number, write: (index: number) => string): string =>
  Array.from({ length: count }, (_, i) => write(i)).join('');

/** Returns YAML whose aliases expand to 10^9 elements. */
function yamlBomb(): string {
  const lines = ['a0: &a0 [canary, canary, canary, canary, canary, canary, canary, canary, canary, canary]'];
  for (let i = 1; i < 9; i += 1) {
    lines.push(
      `a${i}: &a${i} [${Array(10)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
    );
  }
  return lines.join('\n');
}
