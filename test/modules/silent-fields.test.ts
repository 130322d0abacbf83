import { beforeEach, describe, expect, it, vi } from 'vitest';
import { sha256Of } from '../../src/documents/manifest.ts';
import type { GatewayOptions } from '../../src/gateway.ts';
import { defineModule } from '../../src/modules/index.ts';
import { connectAgent, postToTools } from '../support/agent.ts';
import { sendExplain } from '../support/explain.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { group, workflow } from '../support/records.ts';
import { type ServiceRequest, type ServiceResponse, startService } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('src/upstream/calls/lane.ts', 'Lane.learn');
guards('src/graphql/context.ts', 'createContextFactory.tryKey');
guards('src/modules/toolkit/federation.ts', 'createResolveReference');
guards('src/modules/toolkit/resolvers.ts', 'tryKeyFirst');
guards('src/http/pipeline/pipeline.ts', 'authorize');
guards('src/upstream/calls/service.ts', 'Service.hasAccepted');

// Fields of modules that may answer without a call of the service: they need a credential, and a key that the service accepts.

const TRY = 'GET /v1/notification-groups';

/** Resolvers that ran, each with what it did. */
const ran: string[] = [];
let ownService: string;

const run = (name: string): string => {
  ran.push(name);
  return name;
};

const silent = defineModule('silent', (toolkit) => {
  const { builder, declareCalls, endpoint, entity, mutation, requireScopes } = toolkit;
  const list = endpoint('GET /v1/things', { expect: 'value' });
  const create = endpoint('POST /v1/things');
  const extensions = requireScopes('things:read');
  const Rule = builder.objectRef<{ id: string }>('Rule').implement({
    extensions: { ...extensions, ...entity({ id: async (id) => ({ id: run(id) }) }) },
    fields: (t) => ({ id: t.exposeID('id') }),
  });
  builder.queryFields((t) => ({
    constant: t.string({ extensions, resolve: () => run('constant') }),
    rules: t.field({ type: [Rule], nullable: true, resolve: () => [{ id: run('rules') }] }),
    fetched: t.string({
      nullable: true,
      extensions: { ...extensions, ...declareCalls('0, because it fetches something else') },
      resolve: async () => run(await (await fetch(ownService)).text()),
    }),
    things: t.string({
      nullable: true,
      extensions: { ...extensions, ...declareCalls('1') },
      resolve: async (_root, _args, ctx) => JSON.stringify(await ctx.upstream.read(list, {})),
    }),
  }));
  builder.mutationField('order', (t) =>
    t.string({ nullable: true, extensions: requireScopes('things:write'), resolve: () => run('order') }),
  );
  mutation('note', {
    description: 'Notes something without sending it.',
    scope: 'things:write',
    endpoint: create,
    resolve: async () => ({ text: 'noted' }),
    success: { description: 'It is noted.', fields: (t) => ({ text: t.exposeString('text') }) },
  });
});

/** Documents by name; each has a field that makes no call. */
const DOCUMENTS = {
  constant: 'query Constant { constant }',
  rules: 'query Rules { rules { id } }',
  fetched: 'query Fetched { fetched }',
  order: 'mutation Order { order }',
  note: 'mutation Note { note { ... on NoteSuccess { text } } }',
  entity: 'query Entity { _entities(representations: [{ __typename: "Rule", id: "r1" }]) { ... on Rule { id } } }',
  mixed: 'query Mixed { mine: constant notificationGroups { name } }',
};

/** Service that accepts only the key `good`. */
const strict = ({ headers, path }: ServiceRequest): ServiceResponse =>
  headers.authorization === 'ApiKey good' || path === '/v1/things'
    ? { body: { data: path.startsWith('/v1/workflows/') ? workflow() : [group()] } }
    : { status: 401, body: { statusCode: 401, message: 'Unauthorized' } };

beforeEach(() => {
  ran.length = 0;
  vi.useFakeTimers({ toFake: ['performance'] }); // Only the clock; connections use real timers.
  return () => void vi.useRealTimers();
});

async function start(options: Partial<GatewayOptions> = {}) {
  const own = await startService(() => ({ body: 'fetched' }));
  ownService = own.url;
  const gateway = await startGateway({
    service: strict,
    modules: [silent],
    federation: true,
    trustedDocuments: { manifests: [{ listed: DOCUMENTS.constant }] },
    mcp: { manifest: DOCUMENTS, mutations: ['Order', 'Note'] },
    maxRetries: 0,
    ...options,
  });
  return {
    ...gateway,
    own,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await own[Symbol.asyncDispose]();
    },
  };
}

describe('without a credential', () => {
  it('no field with a scope runs, whatever it calls, and a tool neither', async () => {
    await using gateway = await start();
    const post = async (body: object, headers: Record<string, string> = {}) => {
      const response = await fetch(gateway.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      return [response.status, (await response.json()).errors?.[0].extensions.code];
    };
    const refused = [401, 'UNAUTHENTICATED'];
    for (const query of [
      ...Object.values(DOCUMENTS),
      '{ __typename things }',
      'mutation { createFeed(input: { name: "n" }) { __typename } }',
    ]) {
      expect([query, await post({ query })]).toEqual([query, refused]);
      expect([query, await post({ query, extensions: { explain: true } })]).toEqual([query, refused]);
    }
    expect(await post({ documentId: sha256Of(DOCUMENTS.constant) })).toEqual(refused);
    const query = 'query ($of: [_Any!]!) { _entities(representations: $of) { __typename } }';
    expect(await post({ query, variables: { of: [{ __typename: 'Rule', id: 'r1' }] } })).toEqual(refused);
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'Constant', arguments: {} } };
    expect((await postToTools(gateway, call, { authorization: '' })).status).toBe(401);
    expect(await post({ query: '{ __schema { queryType { name } } _service { sdl } }' })).toEqual([200, undefined]);
    expect([ran, gateway.service.calls(), gateway.own.requests]).toEqual([[], [], []]);
  });
});

describe('with an invented key', () => {
  it.each(Object.entries(DOCUMENTS))('%s is UNAUTHENTICATED after one read, and does not run', async (_, query) => {
    await using gateway = await start();
    for (const key of ['a', 'b']) {
      gateway.service.forget();
      const { status, body, codes } = await gateway.send(query, {}, { authorization: `ApiKey ${key}` });
      expect([status, new Set(codes)]).toEqual([200, new Set(['UNAUTHENTICATED'])]);
      expect(
        Object.values(body.data ?? {})
          .flat()
          .filter((value) => value !== null),
      ).toEqual([]);
      expect(body.errors?.[0]?.extensions).toMatchObject({
        upstream: { status: 401, method: 'GET', route: '/v1/notification-groups' },
        ...(query.startsWith('mutation') && { outcome: 'NOT_APPLIED' }),
      });
      expect(gateway.service.calls()).toEqual([TRY]);
    }
    expect([ran, gateway.own.requests]).toEqual([[], []]);
  });

  it('neither listed documents nor tools run, and nothing is explained', async () => {
    await using gateway = await start();
    await using agent = await connectAgent(gateway, 'ApiKey a');
    for (const name of ['Constant', 'Fetched', 'Order', 'Entity']) {
      expect(await agent.call(name)).toMatchObject({ isError: true, text: expect.stringContaining('Unauthorized') });
    }
    gateway.service.forget();
    for (const query of [DOCUMENTS.constant, DOCUMENTS.fetched, DOCUMENTS.note, DOCUMENTS.entity]) {
      const { body } = await sendExplain(gateway, { query }, { authorization: 'ApiKey a' });
      expect(body.errors).toMatchObject([
        { message: expect.stringContaining('explained only for'), extensions: { code: 'UNAUTHENTICATED' } },
      ]);
    }
    const { body } = await sendExplain(gateway, { query: DOCUMENTS.order }, { authorization: 'ApiKey a' });
    expect(body.extensions?.explain?.notExplained).toEqual(['Mutation.order']);
    expect([ran, gateway.service.calls(), gateway.own.requests]).toEqual([[], [], []]);
  });

  it('an endpoint of a module that answers anybody does not make it accepted, and a stored response neither', async () => {
    await using gateway = await start({ cache: true });
    expect(await gateway.run('{ things }', 'a')).toEqual({ things: expect.any(String) });
    expect(await gateway.run('{ constant }', 'a')).toEqual(['UNAUTHENTICATED']);
    expect(await gateway.run('{ notificationGroups { name } constant }', 'good')).toMatchObject({
      constant: 'constant',
    });
    vi.advanceTimersByTime(60_000); // The response is still stored, but the service no longer accepts the key.
    gateway.service.script = () => ({ status: 401, body: {} });
    expect(await gateway.run('{ constant }', 'good')).toEqual(['UNAUTHENTICATED']);
  });
});

describe('an API key that the service accepts', () => {
  it('is tried once for concurrent requests, and again after a minute', async () => {
    await using gateway = await start();
    const all = () => Promise.all(Array.from({ length: 20 }, () => gateway.run('{ constant }', 'good')));
    const data = Array(20).fill({ constant: 'constant' });
    const held = gateway.service.hold(TRY);
    const first = all();
    await held.arrived;
    await gateway.inFlight(20);
    held.release();
    expect(await first).toEqual(data);
    vi.advanceTimersByTime(59_000);
    expect(await all()).toEqual(data);
    expect(gateway.service.calls()).toEqual([TRY]);
    vi.advanceTimersByTime(2_000);
    expect(await all()).toEqual(data);
    expect(gateway.service.calls()).toEqual([TRY, TRY]);
    expect(gateway.log.filter(({ msg }) => msg === 'operation').map(({ upstreamCalls }) => upstreamCalls)).toContain(1);
  });

  it('costs nothing more where a call is declared or was just made, and its rejection counts at once', async () => {
    await using gateway = await start();
    await gateway.run('{ things }', 'good');
    await gateway.run('{ workflow(idOrIdentifier: "w") { name } }', 'good');
    expect(gateway.service.calls()).toEqual(['GET /v1/things', 'GET /v1/workflows/w']);
    expect(await gateway.run(DOCUMENTS.constant, 'good')).toEqual({ constant: 'constant' });
    expect(await gateway.run(DOCUMENTS.note, 'good')).toEqual({ note: { text: 'noted' } });
    expect(await gateway.run(DOCUMENTS.entity, 'good')).toEqual({ _entities: [{ id: 'r1' }] });
    expect(gateway.service.calls()).toHaveLength(2);
    gateway.service.script = () => ({ status: 401, body: {} });
    expect(await gateway.run('{ workflow(idOrIdentifier: "w") { name } }', 'good')).toEqual(['UNAUTHENTICATED']);
    expect(await gateway.run('{ constant }', 'good')).toEqual(['UNAUTHENTICATED']);
  });

  it('is named at the start with the fields that it is tried for', async () => {
    await using gateway = await start();
    expect(gateway.log.filter(({ fields }) => fields !== undefined)).toMatchObject([
      { level: 40, fields: ['Mutation.order', 'Query.constant', 'Query.rules'] },
    ]);
  });

  it.each([
    [400, { body: { statusCode: 400, message: 'Bad Request' } }],
    [403, { body: { statusCode: 403, message: 'Forbidden resource' } }],
    [404, { body: { statusCode: 404, message: 'Cannot GET /v1/notification-groups' } }],
    [404, { body: '<html>Not Found</html>', headers: { 'content-type': 'text/html' } }],
    [500, { body: { statusCode: 500, message: 'Internal server error' } }],
  ])('is not refused by a %i of the read that tries it', async (status, answer) => {
    await using gateway = await start();
    gateway.service.script = () => ({ status, ...answer });
    for (const [name, expected] of [
      ['constant', { constant: 'constant' }],
      ['rules', { rules: [{ id: 'rules' }] }],
      ['order', { order: 'order' }],
      ['note', { note: { text: 'noted' } }],
      ['entity', { _entities: [{ id: 'r1' }] }],
    ] as const) {
      expect([name, await gateway.run(DOCUMENTS[name], 'good')]).toEqual([name, expected]);
    }
    expect(gateway.service.calls()).toEqual(Array(5).fill(TRY)); // It says nothing for the next operation.
  });

  // An invented key can bring about each of them, such as with a text that a firewall rejects.
  it.each([
    ['UPSTREAM_BAD_RESPONSE', { status: 403, body: '<html>Blocked</html>', headers: { 'content-type': 'text/html' } }],
    ['RATE_LIMITED', { status: 429, body: { message: 'Too Many Requests' } }],
  ])('is not accepted by what says nothing about it: %s', async (code, answer) => {
    await using gateway = await start();
    gateway.service.script = () => answer;
    expect(await gateway.run(DOCUMENTS.constant, 'invented')).toEqual([code]);
    expect(ran).toEqual([]);
  });

  it('cannot be tried during an outage, which is reported as for other fields', async () => {
    await using gateway = await start();
    gateway.service.script = () => ({ status: 503, body: {} });
    expect(await gateway.run(DOCUMENTS.fetched, 'good')).toEqual(['UPSTREAM_UNAVAILABLE']);
    const { body } = await gateway.send(DOCUMENTS.order, {}, { authorization: 'ApiKey good' });
    expect(body.errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE', outcome: 'NOT_APPLIED' } }]);
    expect(ran).toEqual([]);
  });
});

it('a token is not tried, because the gateway has verified it', async () => {
  const signer = createSigner();
  const clients = clientsOf(signer, { scopes: ['things:read'] });
  await using gateway = await start({ clients });
  const authorization = await signer.bearer({ scope: 'things:read' });
  expect((await gateway.send('{ constant }', {}, { authorization })).body).toEqual({ data: { constant: 'constant' } });
  expect(gateway.service.calls()).toEqual([]);
});
