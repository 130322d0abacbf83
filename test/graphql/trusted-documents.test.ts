import { rename, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { createGateway } from '../../src/gateway.ts';
import { type Manifest, ManifestError, sha256Of } from '../../src/graphql/documents/manifest.ts';
import type { TrustedDocumentsMode } from '../../src/settings/clients.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import {
  dataOf,
  errorOf,
  type GatewayPair,
  sendToBoth,
  startGatewayPair,
  type WireRequest,
  type WireResponse,
} from '../support/gateway-pair.ts';
import { healthyService } from '../support/healthy-service.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { startService } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

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
  startGatewayPair(healthyService, {
    clients: clientsOf(
      signer,
      { ...(browser && { trustedDocuments: browser }) },
      { server: { ...(server && { trustedDocuments: server }) } },
    ),
    trustedDocuments: { manifests },
  });

const ask = async (ways: GatewayPair, body: WireRequest['body'], request: WireRequest = {}): Promise<WireResponse> =>
  sendToBoth(ways, {
    ...request,
    headers: { authorization: await signer.bearer(), ...request.headers },
    ...(body && { body }),
  });

const askByGet = (ways: GatewayPair, params: Record<string, string>) =>
  ask(ways, undefined, { method: 'GET', path: `/graphql?${new URLSearchParams(params)}` });

const apq = (sha256Hash: unknown) => ({ persistedQuery: { version: 1, sha256Hash } });

/** Returns the status with the code of the first error. */
const outcomeOf = (answer: WireResponse) => [answer.status, errorOf(answer).extensions.code];

const SERVED = [200, undefined];
const NOT_FOUND = [400, 'PERSISTED_QUERY_NOT_FOUND'];
const NOT_TRUSTED = [400, 'DOCUMENT_NOT_TRUSTED'];
const BAD = [400, 'BAD_REQUEST'];

/** Expects a rejection without any upstream call. */
function expectRefusal(answer: WireResponse, outcome: unknown[]): void {
  expect([outcomeOf(answer), answer.upstream, dataOf(answer)]).toEqual([outcome, [], undefined]);
}

describe('a trusted document', () => {
  it.each<TrustedDocumentsMode>(['off', 'enforce'])(
    'is accepted by its id in every form, in mode %s',
    async (browser) => {
      await using ways = await start({ browser });
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
        const answer = await ask(ways, body);
        expect([body, outcomeOf(answer)]).toEqual([body, SERVED]);
        expect(answer.upstream).toHaveLength(1);
        expect(dataOf(answer)).toEqual({ notificationGroups: [{ name: 'Group' }, { name: 'Group' }] });
      }
    },
  );

  it('is accepted by GET', async () => {
    await using ways = await start({ browser: 'enforce' });
    const id = sha256Of(OTHER);
    for (const params of [
      { documentId: id },
      { documentId: `sha256:${id}`, operationName: 'Flow' },
      { extensions: JSON.stringify(apq(id)) },
      { query: OTHER },
      { query: OTHER, documentId: id },
    ]) {
      const answer = await askByGet(ways, { ...params, variables: '{"id":"w1"}' });
      expect([params, outcomeOf(answer)]).toEqual([params, SERVED]);
      expect(answer.upstream.map(({ path }) => path)).toEqual(['/v1/workflows/w1']);
    }
  });

  it('runs the operation that is named', async () => {
    await using ways = await start({ browser: 'enforce' });
    const documentId = sha256Of(MANY);
    for (const [operationName, path] of [
      ['A', '/v1/notification-groups'],
      ['B', '/v1/workflows/w1'],
    ]) {
      const answer = await ask(ways, { documentId, operationName });
      expect(answer.upstream.map((call) => call.path)).toEqual([path]);
      expect((await ask(ways, { query: MANY, operationName })).upstream).toHaveLength(1);
    }
    for (const operationName of [undefined, '', 'C', 'Secret', UNLISTED]) {
      const answer = await ask(ways, { documentId, operationName });
      expect([answer.status, answer.upstream]).toEqual([400, []]);
    }
  });

  it('cannot run a mutation by GET', async () => {
    await using ways = await start({ browser: 'enforce' });
    for (const params of [{ documentId: sha256Of(WRITE) }, { extensions: JSON.stringify(apq(sha256Of(WRITE))) }]) {
      const answer = await askByGet(ways, params);
      expect([answer.status, answer.upstream]).toEqual([405, []]);
    }
    expect((await ask(ways, { documentId: sha256Of(WRITE) })).upstream).toHaveLength(1);
  });

  it('must be within the document limits', async () => {
    const large = `query Large { ${Array.from({ length: 40 }, (_, i) => `a${i}: notificationGroups { name }`).join(' ')} }`;
    await using ways = await start({ browser: 'enforce' }, [manifestOf(large)]);
    expectRefusal(await ask(ways, { documentId: sha256Of(large) }), [400, 'DOCUMENT_LIMIT_EXCEEDED']);
  });

  it('requires the scopes of its fields', async () => {
    await using ways = await start({ browser: 'enforce' });
    const headers = { authorization: await signer.bearer({ scope: 'stats:read' }) };
    expectRefusal(await ask(ways, { documentId: sha256Of(LISTED) }, { headers }), [403, 'FORBIDDEN']);
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

  it.each<TrustedDocumentsMode>(['off', 'enforce'])(
    'that is in no manifest gets one clear error, in mode %s',
    async (browser) => {
      await using ways = await start({ browser });
      for (const id of IDS) {
        for (const body of [{ documentId: id }, { extensions: apq(id) }]) {
          const answer = await ask(ways, body);
          expectRefusal(answer, NOT_FOUND);
          expect(errorOf(answer)).toEqual({
            message:
              'No manifest of this gateway contains a document with this id. Add the manifest of the app to the gateway.',
            extensions: { code: 'PERSISTED_QUERY_NOT_FOUND', retryable: false, requestId: 'r1' },
          });
        }
        expectRefusal(await askByGet(ways, { documentId: id }), NOT_FOUND);
      }
    },
  );

  it('that is not a string is rejected', async () => {
    await using ways = await start({ browser: 'enforce' });
    for (const id of [1, false, {}, [sha256Of(LISTED)], { toString: sha256Of(LISTED) }]) {
      expectRefusal(await ask(ways, { documentId: id }), BAD);
      expectRefusal(await ask(ways, { documentId: id, query: LISTED }), BAD);
      expectRefusal(await ask(ways, { extensions: apq(id) }), BAD);
    }
  });

  it.each<TrustedDocumentsMode>(['off', 'enforce'])(
    'together with a different text is rejected, in mode %s',
    async (browser) => {
      await using ways = await start({ browser });
      for (const body of [
        { documentId: sha256Of(LISTED), query: UNLISTED },
        { documentId: sha256Of(LISTED), query: `${LISTED} ` },
        { documentId: sha256Of(LISTED), query: '' },
        { documentId: CUSTOM_ID, query: UNLISTED },
        { documentId: 'unknown', query: LISTED },
        { extensions: apq(sha256Of(LISTED)), query: UNLISTED },
      ]) {
        expectRefusal(await ask(ways, body), BAD);
      }
    },
  );

  it('in malformed `extensions` is ignored', async () => {
    await using ways = await start({ browser: 'enforce' });
    const hash = sha256Of(UNLISTED);
    for (const extensions of [
      {},
      { persistedQuery: null },
      { persistedQuery: [hash] },
      { persistedQuery: { sha256hash: hash } },
      { persistedQuery: { sha256Hash: null } },
    ]) {
      expectRefusal(await ask(ways, { extensions, query: UNLISTED }), NOT_TRUSTED);
      expect([extensions, outcomeOf(await ask(ways, { extensions, query: LISTED }))]).toEqual([extensions, SERVED]);
      expect((await ask(ways, { extensions })).status).toBe(400);
    }
    for (const extensions of ['x', 1, [], true]) {
      expect(await ask(ways, { extensions, query: UNLISTED })).toMatchObject({ status: 400, upstream: [] });
    }
  });
});

describe('a text that is in no manifest', () => {
  const VARIANTS = [
    UNLISTED,
    `${LISTED} `,
    `# comment\n${LISTED}`,
    LISTED.replace('name', 'name id'),
    `${LISTED} ${UNLISTED}`,
    `${LISTED}\0`,
    `\uFEFF${LISTED}`,
    '{ __schema { queryType { name } } }',
    '{',
    '',
  ];

  it('is rejected in mode enforce, however small the difference', async () => {
    await using ways = await start({ browser: 'enforce' });
    for (const query of VARIANTS) {
      expectRefusal(await ask(ways, { query }), NOT_TRUSTED);
      expectRefusal(await ask(ways, { query, operationName: 'Groups' }), NOT_TRUSTED);
      expectRefusal(await ask(ways, { query, documentId: sha256Of(query) }), NOT_TRUSTED);
      expectRefusal(await ask(ways, { query, extensions: apq(sha256Of(query)) }), NOT_TRUSTED);
      expectRefusal(await askByGet(ways, { query }), query === '' ? [400, 'BAD_REQUEST'] : NOT_TRUSTED);
    }
  });

  it('is not registered by sending it with its hash', async () => {
    await using ways = await start({ browser: 'enforce' });
    const id = sha256Of(UNLISTED);
    await ask(ways, { query: UNLISTED, extensions: apq(id) });
    expectRefusal(await ask(ways, { extensions: apq(id) }), NOT_FOUND);
  });

  it('is rejected for a browser even if a server has already run it', async () => {
    await using ways = await start({ browser: 'enforce', server: 'off' });
    const asServer = { headers: { authorization: 'ApiKey of-a-server' } };
    for (const text of [UNLISTED, `Groups\n${LISTED}`, `${LISTED}\n# Secret`]) {
      await ask(ways, { query: text }, asServer);
      await ask(ways, { query: text }, asServer);
      expectRefusal(await ask(ways, { query: text }), NOT_TRUSTED);
    }
    expect((await ask(ways, { query: UNLISTED }, asServer)).upstream).toHaveLength(1);
  });

  it('is accepted in modes off and log, and logged in mode log once per document without its text', async () => {
    for (const browser of ['off', 'log'] as const) {
      await using ways = await start({ browser });
      const noted = ({ log }: TestGateway) => log.filter(({ msg }) => /in no manifest/.test(String(msg)));
      for (let i = 0; i < 3; i += 1) {
        expect((await ask(ways, { query: UNLISTED })).upstream).toHaveLength(1);
        expect(outcomeOf(await ask(ways, { query: LISTED }))).toEqual(SERVED);
        expect(outcomeOf(await ask(ways, { documentId: sha256Of(LISTED) }))).toEqual(SERVED);
      }
      for (const gateway of [ways.listener, ways.fetch]) {
        const lines = noted(gateway).filter(({ operation }) => operation === 'Secret');
        const expected = { clientKind: 'browser', document: sha256Of(UNLISTED), level: 40 };
        expect(lines).toMatchObject(browser === 'log' ? [expected] : []);
        expect(JSON.stringify(noted(gateway))).not.toContain('notificationStats');
        expect(noted(gateway).every(({ document }) => document !== sha256Of(LISTED))).toBe(true);
      }
    }
  });
});

it('each kind of client has its own mode', async () => {
  for (const modes of [
    { browser: 'enforce', server: 'off' },
    { browser: 'off', server: 'enforce' },
  ] as const) {
    await using ways = await start(modes);
    const expected = { enforce: NOT_TRUSTED, off: SERVED };
    expect(outcomeOf(await ask(ways, { query: UNLISTED }))).toEqual(expected[modes.browser]);
    const asServer = { headers: { authorization: 'ApiKey of-a-server' } };
    expect(outcomeOf(await ask(ways, { query: UNLISTED }, asServer))).toEqual(expected[modes.server]);
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
    await writeFile(folder.path('app-1.json'), JSON.stringify(manifestOf(LISTED)));
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
    await using ways = await start({ browser: 'enforce' }, [
      folder.path(),
      manifestOf(WRITE),
      folder.path('app-1.json'),
    ]);
    for (const body of [
      { documentId: sha256Of(LISTED) },
      { documentId: 'by-apollo', variables: { id: 'w1' } },
      { documentId: sha256Of(OTHER), variables: { id: 'w1' } },
      { query: OTHER, variables: { id: 'w1' } },
      { documentId: sha256Of(WRITE) },
    ]) {
      expect([body, outcomeOf(await ask(ways, body))]).toEqual([body, SERVED]);
    }
  });

  it('may have ids that are names of object properties', async () => {
    await using folder = await createTemporaryFolder();
    await writeFile(folder.path('app.json'), JSON.stringify({ constructor: LISTED }));
    await using ways = await start({ browser: 'enforce' }, [folder.path('app.json')]);
    expect(outcomeOf(await ask(ways, { documentId: 'constructor' }))).toEqual(SERVED);
    expectRefusal(await ask(ways, { documentId: 'toString' }), NOT_FOUND);
    expectRefusal(await ask(ways, { query: UNLISTED }), NOT_TRUSTED);
  });

  it.each<[string, string, RegExp]>([
    ['is not JSON', '{', /it is not JSON/],
    ['has a number for a document', '{"a":1}', /neither an object of documents/],
    ['has the id __proto__', `{"__proto__":${JSON.stringify(LISTED)}}`, /the id __proto__ is not supported/],
    ['is of another version', '{"format":"apollo-persisted-query-manifest","version":2,"operations":[]}', /neither/],
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
    const create = () => createGateway({ upstream: 'http://127.0.0.1:9', trustedDocuments: { manifests: [file] } });
    expect(create).toThrow(ManifestError);
    expect(create).toThrow(problem);
    expect(create).toThrow(`the manifest ${file} cannot be used`);
  });

  it('prevent the start if one is missing or an id stands for different documents in two of them', async () => {
    const missing = () =>
      createGateway({ upstream: 'http://127.0.0.1:9', trustedDocuments: { manifests: ['/nowhere/app.json'] } });
    expect(missing).toThrow(ManifestError);
    expect(missing).toThrow("the manifest /nowhere/app.json doesn't exist");
    const manifests = [{ v: LISTED }, { v: UNLISTED }];
    const conflicting = () => createGateway({ upstream: 'http://127.0.0.1:9', trustedDocuments: { manifests } });
    expect(conflicting).toThrow(ManifestError);
    expect(conflicting).toThrow('the id v stands for two documents');
  });

  it('can be added, replaced and removed while the gateway runs, and a broken one changes nothing', async () => {
    await using folder = await createTemporaryFolder();
    const write = async (name: string, text: string) => {
      await writeFile(folder.path('next'), text);
      await rename(folder.path('next'), folder.path(name)); // Atomic, as in a deployment.
    };
    await write('app-1.json', JSON.stringify(manifestOf(LISTED)));
    await using ways = await startGatewayPair(healthyService, {
      clients: clientsOf(signer, { trustedDocuments: 'enforce' }),
      trustedDocuments: { manifests: [folder.path()] },
      reloadSeconds: 0.1,
    });
    /** Returns the outcomes of both gateways, which may reload their files at different times. */
    const outcomes = async (query: string) => {
      const request = { headers: { authorization: await signer.bearer() }, body: { query, variables: { id: 'w1' } } };
      return Object.values(await ways.ask(request)).map(outcomeOf);
    };
    const becomes = (query: string, outcome: unknown[]) =>
      expect.poll(() => outcomes(query), { timeout: 20_000, interval: 100 }).toEqual([outcome, outcome]);
    await becomes(LISTED, SERVED);
    await becomes(OTHER, NOT_TRUSTED);

    await write('app-2.json', JSON.stringify(manifestOf(OTHER)));
    await becomes(OTHER, SERVED);
    await becomes(LISTED, SERVED);

    await write('app-3.json', '{ broken');
    const problems = () =>
      [ways.listener, ways.fetch].map(({ log }) => log.filter(({ level }) => level === 50).map((line) => line.problem));
    await expect.poll(() => problems().every(({ length }) => length > 0), { timeout: 20_000 }).toBe(true);
    await becomes(OTHER, SERVED);
    await new Promise((resolve) => setTimeout(resolve, 300)); // Time for two more reloads, which cause no event to wait for.
    const problem = `the manifest ${folder.path('app-3.json')} cannot be used: it is not JSON (line 1, column 3)`;
    expect(problems()).toEqual([[problem], [problem]]);

    await write('app-3.json', JSON.stringify(manifestOf(UNLISTED)));
    await becomes(UNLISTED, SERVED);
    await write('app-3.json', '{}');
    await becomes(UNLISTED, NOT_TRUSTED);
    expect(await outcomes(LISTED)).toEqual([SERVED, SERVED]);
  }, 30_000);
});
