import { rename, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Manifest, ManifestError, sha256Of } from '../../src/documents/manifest.ts';
import { createGateway } from '../../src/gateway.ts';
import type { TrustedDocumentsMode } from '../../src/settings/settings.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { dataOf, errorOf } from '../support/gateway-pair.ts';
import { guards } from '../support/guards.ts';
import { healthyService } from '../support/healthy-service.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { startService } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('src/http/pipeline/pipeline.ts', 'createPipeline.handle');
guards('src/auth/identity.ts', 'isVerified');
guards('src/documents/manifest.ts', 'assertIds');
guards('src/documents/manifest.ts', 'readFormat');
guards('src/documents/trusted-documents.ts', 'TrustedDocuments.find');
guards('src/documents/trusted-documents.ts', 'TrustedDocuments.#findByIdAndText');
guards('src/documents/trusted-documents.ts', 'TrustedDocuments.logUnlisted');
guards('src/http/pipeline/pipeline.ts', 'createPipeline.noteUnlisted');
guards('src/http/params.ts', 'readFlags');

const signer = createSigner();

const LISTED = 'query Groups { notificationGroups { name } }';
const OTHER = 'query Flow($id: ID!) { workflow(idOrIdentifier: $id) { name } }';
const WRITE = 'mutation Write { createFeed(input: { name: "a" }) { __typename } }';
const MANY = 'query A { notificationGroups { name } } query B { workflow(idOrIdentifier: "w1") { name } }';
const UNLISTED = 'query Secret { notificationStats { count } }';
const CUSTOM_ID = 'groups/v1';

const manifestOf = (...texts: string[]): Manifest => Object.fromEntries(texts.map((text) => [sha256Of(text), text]));

const MANIFEST = { ...manifestOf(LISTED, OTHER, WRITE, MANY), [CUSTOM_ID]: LISTED };

interface Modes {
  browser?: TrustedDocumentsMode;
  server?: TrustedDocumentsMode;
}

const start = ({ browser, server }: Modes, manifests: readonly (string | Manifest)[] = [MANIFEST]) =>
  startGateway({
    service: 'healthy',
    clients: clientsOf(
      signer,
      { ...(browser && { trustedDocuments: browser }) },
      { server: { ...(server && { trustedDocuments: server }) } },
    ),
    trustedDocuments: { manifests },
  });

/** Gateway that enforces the manifest for browsers, and one that accepts all documents. */
let gateway: GatewayWithService;
let open: GatewayWithService;
beforeAll(async () => {
  gateway = await start({ browser: 'enforce' });
  open = await start({ browser: 'off' });
  return async () => {
    await gateway[Symbol.asyncDispose]();
    await open[Symbol.asyncDispose]();
  };
});

/** Runs a test in the modes off and enforce. */
const inBothModes = (title: string, test: (gateway: GatewayWithService) => Promise<void>) =>
  it.each(['off', 'enforce'])(`${title}, in mode %s`, (mode) => test(mode === 'off' ? open : gateway));

/** Sends a request with a browser's token, or with other headers. Returns the upstream calls with the response. */
async function send(
  { url, service }: GatewayWithService,
  init: RequestInit,
  headers: Record<string, string> = {},
  search = '',
) {
  service.forget();
  const authorization = await signer.bearer();
  const all = { 'content-type': 'application/json', 'x-request-id': 'r1', authorization, ...headers };
  const response = await fetch(url + search, { ...init, headers: all });
  return { status: response.status, body: await response.json(), upstream: [...service.requests] };
}

type Answer = Awaited<ReturnType<typeof send>>;

const ask = (gateway: GatewayWithService, body: unknown, headers?: Record<string, string>) =>
  send(gateway, { method: 'POST', body: JSON.stringify(body) }, headers);

const askByGet = (gateway: GatewayWithService, params: Record<string, string>) =>
  send(gateway, { method: 'GET' }, {}, `?${new URLSearchParams(params)}`);

const AS_SERVER = { authorization: 'ApiKey of-a-server' };

const apq = (sha256Hash: unknown) => ({ persistedQuery: { version: 1, sha256Hash } });

/** Returns the status with the code of the first error. */
const outcomeOf = (answer: Answer) => [answer.status, errorOf(answer).extensions.code];

const SERVED = [200, undefined];
const NOT_FOUND = [400, 'PERSISTED_QUERY_NOT_FOUND'];
const NOT_TRUSTED = [400, 'DOCUMENT_NOT_TRUSTED'];
const BAD = [400, 'BAD_REQUEST'];

/** Expects a rejection without any upstream call. */
function expectRefusal(answer: Answer, outcome: unknown[]): void {
  expect([outcomeOf(answer), answer.upstream, dataOf(answer)]).toEqual([outcome, [], undefined]);
}

describe('a trusted document', () => {
  it('is accepted as a text in another order, but not with other values, or other fields of a mutation first', async () => {
    const listed = `query Sorted($all: Boolean!, $id: ID!) {
      groups: notificationGroups @include(if: $all) { id name ...Parts }
      workflow(idOrIdentifier: $id) { name }
    } fragment Parts on NotificationGroup { id }`;
    const text = `fragment Parts on NotificationGroup { id }
      query Sorted($id: ID!, $all: Boolean!) {
        workflow(idOrIdentifier: $id) { name }
        groups: notificationGroups @include(if: $all) { ...Parts name id }
      }`;
    const create = (...names: string[]) =>
      names.map(
        (name) =>
          `${name}: createFeed(input: { name: "${name}" }) { __typename ... on CreateFeedSuccess { feed { id name } } }`,
      );
    const [a = '', b = ''] = create('a', 'b');
    const write = `mutation Both { ${a} ${b} }`;
    const nested = `mutation Nested { ... on Mutation { ${a} ...B } ...A } fragment A on Mutation { ${a} ${b} } fragment B on Mutation { ${b} }`;
    await using gateway = await start({ browser: 'enforce' }, [manifestOf(listed, write, nested)]);
    const variables = { id: 'w1', all: true };
    const [byId, byText] = [
      await ask(gateway, { documentId: sha256Of(listed), variables }),
      await ask(gateway, { query: text, variables }),
    ];
    expect(outcomeOf(byId)).toEqual(SERVED);
    expect(JSON.stringify(byText.body)).toBe(JSON.stringify(byId.body)); // The listed text is executed.
    const inside = (document: string) => document.replaceAll('{ id name }', '{ name id }');
    for (const query of [inside(write), inside(nested)]) {
      expect([query, outcomeOf(await ask(gateway, { query }))]).toEqual([query, SERVED]);
    }
    for (const query of [
      `mutation Both { ${b} ${a} }`,
      nested.replace(`${a} ...B`, `...B ${a}`),
      nested.replace(`${a} ${b}`, `${b} ${a}`),
      write.replace('"a"', '"c"'),
      text.replace('$id', '$all'),
      text.replace('groups: ', 'group: '),
      text.replace('@include', '@skip'),
      text.replace('name id', 'name'),
      JSON.stringify(listed),
    ]) {
      expectRefusal(await ask(gateway, { query, variables }), NOT_TRUSTED);
    }
  });

  inBothModes('is accepted by its id in every form', async (gateway) => {
    const id = sha256Of(LISTED);
    for (const body of [
      { documentId: id },
      { documentId: `sha256:${id}` },
      { documentId: CUSTOM_ID },
      { documentId: id, query: null, operationName: null, variables: null, extensions: null },
      { documentId: id, query: LISTED },
      { documentId: id, operationName: 'Groups', variables: {}, extensions: { other: 1 } },
      { extensions: apq(id) },
      { extensions: apq(id), query: LISTED },
      { documentId: null, extensions: apq(id) },
      { query: LISTED },
      { query: LISTED, extensions: { persistedQuery: null } },
    ]) {
      const answer = await ask(gateway, body);
      expect([body, outcomeOf(answer)]).toEqual([body, SERVED]);
      expect(answer.upstream).toHaveLength(1);
      expect(dataOf(answer)).toEqual({ notificationGroups: [{ name: 'Group' }, { name: 'Group' }] });
    }
  });

  it('is accepted by GET', async () => {
    const id = sha256Of(OTHER);
    for (const params of [
      { documentId: id },
      { documentId: `sha256:${id}`, operationName: 'Flow' },
      { extensions: JSON.stringify(apq(id)) },
      { query: OTHER },
      { query: OTHER, documentId: id },
    ]) {
      const answer = await askByGet(gateway, { ...params, variables: '{"id":"w1"}' });
      expect([params, outcomeOf(answer)]).toEqual([params, SERVED]);
      expect(answer.upstream.map(({ path }) => path)).toEqual(['/v1/workflows/w1']);
    }
  });

  it('runs the operation that is named', async () => {
    const documentId = sha256Of(MANY);
    for (const [operationName, path] of [
      ['A', '/v1/notification-groups'],
      ['B', '/v1/workflows/w1'],
    ]) {
      const answer = await ask(gateway, { documentId, operationName });
      expect(answer.upstream.map((call) => call.path)).toEqual([path]);
      expect((await ask(gateway, { query: MANY, operationName })).upstream).toHaveLength(1);
    }
    for (const operationName of [undefined, '', 'C', 'Secret', UNLISTED]) {
      const answer = await ask(gateway, { documentId, operationName });
      expect([answer.status, answer.upstream]).toEqual([400, []]);
    }
  });

  it('cannot run a mutation by GET', async () => {
    for (const params of [{ documentId: sha256Of(WRITE) }, { extensions: JSON.stringify(apq(sha256Of(WRITE))) }]) {
      const answer = await askByGet(gateway, params);
      expect([answer.status, answer.upstream]).toEqual([405, []]);
    }
    expect((await ask(gateway, { documentId: sha256Of(WRITE) })).upstream).toHaveLength(1);
  });

  it('must be within the document limits', async () => {
    const large = `query Large { ${Array.from({ length: 40 }, (_, i) => `a${i}: notificationGroups { name }`).join(' ')} }`;
    await using gateway = await start({ browser: 'enforce' }, [manifestOf(large)]);
    expectRefusal(await ask(gateway, { documentId: sha256Of(large) }), [400, 'DOCUMENT_LIMIT_EXCEEDED']);
  });

  it('requires the scopes of its fields', async () => {
    const headers = { authorization: await signer.bearer({ scope: 'stats:read' }) };
    expectRefusal(await ask(gateway, { documentId: sha256Of(LISTED) }, headers), [403, 'FORBIDDEN']);
  });
});

describe('a document id', () => {
  const IDS = [
    sha256Of(UNLISTED),
    `sha256:${sha256Of(UNLISTED)}`,
    sha256Of(LISTED).toUpperCase(),
    `SHA256:${sha256Of(LISTED)}`,
    `sha256:sha256:${sha256Of(LISTED)}`,
    ` ${sha256Of(LISTED)}`,
    '',
    'sha256:',
    '__proto__',
    'constructor',
    LISTED,
    '\0',
    'x'.repeat(10_000),
  ];

  inBothModes('that is in no manifest gets one clear error', async (gateway) => {
    for (const id of IDS) {
      for (const [body, message] of [
        [
          { documentId: id },
          'No manifest of this gateway contains a document with this id. Add the manifest of the app to the gateway.',
        ],
        [{ extensions: apq(id) }, 'PersistedQueryNotFound'],
      ] as const) {
        const answer = await ask(gateway, body);
        expectRefusal(answer, NOT_FOUND);
        expect(errorOf(answer)).toEqual({
          message,
          extensions: { code: 'PERSISTED_QUERY_NOT_FOUND', retryable: false, requestId: 'r1' },
        });
      }
      expectRefusal(await askByGet(gateway, { documentId: id }), NOT_FOUND);
    }
  });

  it('that is not a string is rejected', async () => {
    for (const id of [1, false, {}, [sha256Of(LISTED)], { toString: sha256Of(LISTED) }]) {
      expectRefusal(await ask(gateway, { documentId: id }), BAD);
      expectRefusal(await ask(gateway, { documentId: id, query: LISTED }), BAD);
      expectRefusal(await ask(gateway, { extensions: apq(id) }), BAD);
    }
  });

  inBothModes('together with a different text is rejected', async (gateway) => {
    for (const body of [
      { documentId: sha256Of(LISTED), query: UNLISTED },
      { documentId: sha256Of(LISTED), query: `${LISTED} ` },
      { documentId: sha256Of(LISTED), query: '' },
      { documentId: CUSTOM_ID, query: UNLISTED },
      { documentId: 'unknown', query: LISTED },
      { extensions: apq(sha256Of(LISTED)), query: UNLISTED },
    ]) {
      expectRefusal(await ask(gateway, body), BAD);
    }
  });

  it('in malformed `extensions` is ignored', async () => {
    const hash = sha256Of(UNLISTED);
    for (const extensions of [
      {},
      { persistedQuery: null },
      { persistedQuery: [hash] },
      { persistedQuery: { sha256hash: hash } },
      { persistedQuery: { sha256Hash: null } },
    ]) {
      expectRefusal(await ask(gateway, { extensions, query: UNLISTED }), NOT_TRUSTED);
      expect([extensions, outcomeOf(await ask(gateway, { extensions, query: LISTED }))]).toEqual([extensions, SERVED]);
      expect((await ask(gateway, { extensions })).status).toBe(400);
    }
    for (const extensions of ['x', 1, [], true]) {
      expect(await ask(gateway, { extensions, query: UNLISTED })).toMatchObject({ status: 400, upstream: [] });
    }
  });
});

describe('a text that is in no manifest', () => {
  const VARIANTS = [
    UNLISTED,
    LISTED.replace('name', 'name id'),
    `${LISTED} ${UNLISTED}`,
    `${LISTED}\0`,
    `${LISTED}\u{a0}`,
    '{ __schema { queryType { name } } }',
    '{',
    '',
  ];

  it('is rejected in mode enforce, however small the difference', async () => {
    for (const query of VARIANTS) {
      expectRefusal(await ask(gateway, { query }), NOT_TRUSTED);
      expectRefusal(await ask(gateway, { query, operationName: 'Groups' }), NOT_TRUSTED);
      expectRefusal(await ask(gateway, { query, documentId: sha256Of(query) }), NOT_TRUSTED);
      expectRefusal(await ask(gateway, { query, extensions: apq(sha256Of(query)) }), NOT_TRUSTED);
      expectRefusal(await askByGet(gateway, { query }), query === '' ? [400, 'BAD_REQUEST'] : NOT_TRUSTED);
    }
  });

  it('is not registered by sending it with its hash', async () => {
    const id = sha256Of(UNLISTED);
    await ask(gateway, { query: UNLISTED, extensions: apq(id) });
    expectRefusal(await ask(gateway, { extensions: apq(id) }), NOT_FOUND);
  });

  it('is rejected for a browser even if a server has already run it', async () => {
    for (const text of [UNLISTED, `Groups\n${LISTED}`, `${LISTED}\n${UNLISTED}`]) {
      await ask(gateway, { query: text }, AS_SERVER);
      await ask(gateway, { query: text }, AS_SERVER);
      expectRefusal(await ask(gateway, { query: text }), NOT_TRUSTED);
    }
    expect((await ask(gateway, { query: UNLISTED }, AS_SERVER)).upstream).toHaveLength(1);
  });

  it('is accepted in modes off and log, and logged in mode log once per document without its text', async () => {
    for (const browser of ['off', 'log'] as const) {
      await using gateway = await start({ browser });
      for (let i = 0; i < 3; i += 1) {
        expect((await ask(gateway, { query: UNLISTED })).upstream).toHaveLength(1);
        expect(outcomeOf(await ask(gateway, { query: LISTED }))).toEqual(SERVED);
        expect(outcomeOf(await ask(gateway, { documentId: sha256Of(LISTED) }))).toEqual(SERVED);
      }
      const noted = gateway.log.filter(({ msg }) => /in no manifest/.test(String(msg)));
      const expected = { operation: 'Secret', clientKind: 'browser', document: sha256Of(UNLISTED), level: 40 };
      expect(noted).toMatchObject(browser === 'log' ? [expected] : []);
      expect(JSON.stringify(noted)).not.toContain('notificationStats');
    }
  });
});

describe('a text that is in no manifest is logged in mode log', () => {
  const noted = ({ log }: GatewayWithService) =>
    log.filter(({ msg }) => /in no manifest/.test(String(msg))).map(({ operation }) => operation);
  const unlisted = (name: string) => `query ${name} { notificationStats { count } }`;

  it('only if it is valid, and its caller is verified', async () => {
    await using gateway = await start({ browser: 'log', server: 'log' });
    const invented = { authorization: 'ApiKey invented' };
    gateway.service.script = ({ headers, ...request }, connection) =>
      headers.authorization === 'ApiKey invented'
        ? { status: 401, body: { statusCode: 401, message: 'Unauthorized' } }
        : healthyService({ headers, ...request }, connection);
    for (const [query, headers, status] of [
      ['query Nothing { __typename }', invented, 200],
      [unlisted('Invented'), invented, 200],
      ['query Invalid { nothing }', {}, 400],
      ['query Broken { ', {}, 400],
      ['query Many { __typename } query More { __typename }', {}, 400],
      [unlisted('Scopeless'), { authorization: await signer.bearer({ scope: '' }) }, 403],
    ] as const) {
      expect([query, (await ask(gateway, { query }, headers)).status]).toEqual([query, status]);
    }
    const anonymous = async (query: string) => (await gateway.send(query, {}, { authorization: null })).status;
    expect([await anonymous('query Nobody { __typename }'), await anonymous(unlisted('Anonymous'))]).toEqual([
      200, 401,
    ]);
    expect(noted(gateway)).toEqual([]);
    await ask(gateway, { query: unlisted('Browser') });
    await ask(gateway, { query: unlisted('Server') }, AS_SERVER);
    expect(noted(gateway)).toEqual(['Browser', 'Server']);
  });

  it('once, at most 100 per minute, and those beyond them later', async () => {
    await using gateway = await start({ browser: 'log' });
    const askAll = async (count: number) => {
      for (let i = 0; i < count; i += 1) {
        await ask(gateway, { query: unlisted(`Q${i}`) });
      }
    };
    await askAll(103);
    expect(noted(gateway)).toEqual(Array.from({ length: 100 }, (_, i) => `Q${i}`));
    gateway.advance(59);
    await askAll(103);
    expect(noted(gateway)).toHaveLength(100);
    gateway.advance(1);
    await askAll(103);
    expect(noted(gateway).slice(100)).toEqual(['Q100', 'Q101', 'Q102']);
  });
});

it('each kind of client has its own mode', async () => {
  for (const modes of [
    { browser: 'enforce', server: 'off' },
    { browser: 'off', server: 'enforce' },
  ] as const) {
    await using gateway = await start(modes);
    const expected = { enforce: NOT_TRUSTED, off: SERVED };
    expect(outcomeOf(await ask(gateway, { query: UNLISTED }))).toEqual(expected[modes.browser]);
    expect(outcomeOf(await ask(gateway, { query: UNLISTED }, AS_SERVER))).toEqual(expected[modes.server]);
  }
});

it('a client without a token can run nothing that it could not run with one', async () => {
  await using upstream = await startService(healthyService);
  for (const [browser, server] of [
    ['enforce', 'off'],
    ['log', 'enforce'],
  ] as const) {
    await using gateway = await startGateway({
      upstream: upstream.url,
      clients: clientsOf(signer, { trustedDocuments: browser }, { server: { trustedDocuments: server } }),
      trustedDocuments: { manifests: [MANIFEST] },
    });
    const query = '{ __schema { queryType { name } } }';
    const proof = { 'graphql-require-preflight': 'true' };
    const post = async (body: unknown, headers: Record<string, string> = {}, search = '') =>
      fetch(gateway.url + search, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    const search = `?${new URLSearchParams({ query })}`;
    for (const response of [
      await post({ query }),
      await post([{ query }]),
      await post({ query }, { 'content-type': 'application/graphql+json' }),
      await post({ query }, { authorization: 'Bearer a.b.c' }),
      await post({ query }, { authorization: 'Basic YTpi' }),
      await post({ query }, { authorization: '' }),
      await post({ query, documentId: sha256Of(LISTED) }),
      await post({ query }, { 'x-http-method-override': 'GET' }),
      await post({}, {}, search),
      await fetch(gateway.url + search, { headers: proof }),
      await fetch(gateway.url, { method: 'POST', headers: proof, body: new URLSearchParams({ query }) }),
    ]) {
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(await response.text()).not.toContain('"data"');
    }
    // A listed document runs, but without a credential it gets no data.
    expect(await (await post({ documentId: sha256Of(LISTED) })).text()).toContain('UNAUTHENTICATED');
  }
  expect(upstream.requests).toEqual([]);
});

describe('manifests', () => {
  const apolloManifest = (operations: { id: string; body: string }[]) => ({
    format: 'apollo-persisted-query-manifest',
    version: 1,
    operations: operations.map(({ id, body }) => ({ id, body, name: 'Any', type: 'query' })),
  });

  it('can be combined, in both formats, as files and folders', async () => {
    await using folder = await createTemporaryFolder();
    await writeFile(folder.path('app-1.json'), JSON.stringify({ ...manifestOf(LISTED), constructor: LISTED }));
    await writeFile(
      folder.path('app-2.json'),
      JSON.stringify(
        apolloManifest([
          { id: 'by-apollo', body: OTHER },
          { id: sha256Of(LISTED), body: LISTED },
        ]),
      ),
    );
    await writeFile(folder.path('notes.txt'), 'no manifest');
    await using gateway = await start({ browser: 'enforce' }, [
      folder.path(),
      manifestOf(WRITE),
      folder.path('app-1.json'),
    ]);
    for (const body of [
      { documentId: sha256Of(LISTED) },
      { documentId: 'constructor' }, // Also a name of a property.
      { documentId: 'by-apollo', variables: { id: 'w1' } },
      { documentId: sha256Of(OTHER), variables: { id: 'w1' } },
      { query: OTHER, variables: { id: 'w1' } },
      { documentId: sha256Of(WRITE) },
    ]) {
      expect([body, outcomeOf(await ask(gateway, body))]).toEqual([body, SERVED]);
    }
  });

  it.each<[string, string, RegExp]>([
    ['is not JSON', '{', /it is not JSON/],
    ['has a number for a document', '{"a":1}', /neither an object of documents/],
    ['is null', 'null', /neither an object of documents/],
    ['has the id __proto__', `{"__proto__":${JSON.stringify(LISTED)}}`, /the id __proto__ is not supported/],
    ['is of another version', '{"format":"apollo-persisted-query-manifest","version":2,"operations":[]}', /neither/],
    [
      'has the SHA-256 of a different text',
      JSON.stringify({ [sha256Of(LISTED)]: OTHER }),
      /is not the SHA-256 of its text/,
    ],
    [
      'has the SHA-256 of a different text with the prefix sha256:',
      JSON.stringify({ [`sha256:${sha256Of(LISTED)}`]: OTHER }),
      /is not the SHA-256 of its text/,
    ],
    [
      'has one id for two texts',
      JSON.stringify(
        apolloManifest([
          { id: 'a', body: LISTED },
          { id: 'a', body: UNLISTED },
        ]),
      ),
      /the id a stands for two documents/,
    ],
  ])('prevent the start if one %s', async (_, text, problem) => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('broken.json');
    await writeFile(file, text);
    expectRefused([file], problem);
    expectRefused([file], `the manifest ${file} cannot be used`);
  });

  it('prevent the start if one is missing or an id stands for different documents in two of them', () => {
    expectRefused(['/nowhere/app.json'], "the manifest /nowhere/app.json doesn't exist");
    expectRefused([{ v: LISTED }, { v: UNLISTED }], 'the id v stands for two documents');
  });

  function expectRefused(manifests: (string | Manifest)[], problem: string | RegExp): void {
    const create = () => createGateway({ upstream: 'http://127.0.0.1:9', trustedDocuments: { manifests } });
    expect(create).toThrow(ManifestError);
    expect(create).toThrow(problem);
  }

  it('can be added, replaced and removed while the gateway runs, and a broken one changes nothing', async () => {
    await using folder = await createTemporaryFolder();
    const write = async (name: string, text: string) => {
      await writeFile(folder.path('next'), text);
      await rename(folder.path('next'), folder.path(name)); // Atomic, as in a deployment.
    };
    await write('app-1.json', JSON.stringify(manifestOf(LISTED)));
    await using gateway = await startGateway({
      service: 'healthy',
      clients: clientsOf(signer, { trustedDocuments: 'enforce' }),
      trustedDocuments: { manifests: [folder.path()] },
      reloadSeconds: 0.1,
    });
    const becomes = (query: string, outcome: unknown[]) =>
      expect
        .poll(async () => outcomeOf(await ask(gateway, { query, variables: { id: 'w1' } })), {
          timeout: 20_000,
          interval: 50,
        })
        .toEqual(outcome);
    await becomes(LISTED, SERVED);
    await becomes(OTHER, NOT_TRUSTED);

    await write('app-2.json', JSON.stringify(manifestOf(OTHER)));
    await becomes(OTHER, SERVED);
    await becomes(LISTED, SERVED);

    await write('app-3.json', '{ broken');
    const problems = () => gateway.log.filter(({ level }) => level === 50).map(({ problem }) => problem);
    await expect.poll(() => problems().length, { timeout: 20_000 }).toBeGreaterThan(0);
    await becomes(OTHER, SERVED);
    await new Promise((resolve) => setTimeout(resolve, 300)); // Time for two more reloads, which cause no event to wait for.
    const problem = `the manifest ${folder.path('app-3.json')} cannot be used: it is not JSON (line 1, column 3)`;
    expect(problems()).toEqual([problem]);

    await write('app-3.json', JSON.stringify(manifestOf(UNLISTED)));
    await becomes(UNLISTED, SERVED);
    await write('app-3.json', '{}');
    await becomes(UNLISTED, NOT_TRUSTED);
    await becomes(LISTED, SERVED);
  }, 30_000);
});
