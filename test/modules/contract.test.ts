import { buildSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { ModuleError } from '../../src/graphql/module.ts';
import { createSchema, printSdl } from '../../src/graphql/schema.ts';
import { defineModule } from '../../src/modules/index.ts';
import { deviationsIn, type ScriptedGateway, startScriptedGateway } from '../support/gateway.ts';
import type { Script, ServiceRequest } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';
import { layouts } from './example.ts';

// What modules get by declaration, shown with one module and a scripted service. The same code serves the built-in nouns, whose tests show details.

const layout = (id: string) => ({ _id: id, name: `Layout ${id}` });

/** Responds as the service of the module would. */
const respond: Script = ({ method, path, body }) => {
  const ids = /\?ids=(.*)$/.exec(path)?.[1];
  if (path.startsWith('/v1/layouts/count')) {
    return { body: { data: { count: 7 } } };
  }
  if (method === 'GET') {
    return ids === undefined
      ? { body: { data: layout(path.slice('/v1/layouts/'.length)) } }
      : { body: { data: decodeURIComponent(ids).split(',').toReversed().map(layout) } };
  }
  return method === 'POST'
    ? { status: 201, body: { data: { _id: 'l9', ...JSON.parse(body) } } }
    : { body: layout('l1') };
};

const start = (script: Script = respond, options: Partial<GatewayOptions> = {}): Promise<ScriptedGateway> =>
  startScriptedGateway(script, { modules: [layouts], ...options });

const CREATE =
  'mutation { createLayout(input: { name: "N", content: "<p>\\n</p>" }) { __typename ... on MutationError { code message } ... on InvalidInputError { issues { path } } } }';
const ARCHIVE =
  'mutation { archiveLayout(input: { layoutId: "l1" }) { __typename ... on MutationError { message } ... on InvalidInputError { issues { path } } } }';

/** Returns header values of requests. */
const headersOf = (requests: readonly ServiceRequest[], name: string) => requests.map(({ headers }) => headers[name]);

describe('a read of a module', () => {
  it('sends the key of the caller, and ids as one segment', async () => {
    await using gateway = await start();
    await gateway.run('{ layout(id: "a/b?c=é") { id } }', 'key-1');
    expect(gateway.service.calls()).toEqual(['GET /v1/layouts/a%2Fb%3Fc%3D%C3%A9']);
    expect(headersOf(gateway.service.requests, 'authorization')).toEqual(['ApiKey key-1']);
  });

  it.each(['', '..', '%2e%2e', 'a\u0000', 'x'.repeat(257)])('rejects the id %j without a call', async (id) => {
    await using gateway = await start();
    const { codes } = await gateway.send('query ($id: ID!) { layout(id: $id) { id } }', { id });
    expect(codes).toEqual(['BAD_USER_INPUT']);
    expect(gateway.service.requests).toHaveLength(0);
  });

  it('is null if the service has no such record', async () => {
    await using gateway = await start(() => ({ status: 404, body: { message: 'Not found.' } }));
    expect(await gateway.run('{ layout(id: "l1") { id } }')).toEqual({ layout: null });
  });

  it('is batched: several keys take calls of at most three, whose rows are matched by id', async () => {
    await using gateway = await start();
    const query = `{ ${['a', 'b', 'c', 'd', 'a'].map((id, i) => `l${i}: layout(id: "${id}") { name }`).join(' ')} }`;
    const names = ['a', 'b', 'c', 'd', 'a'].map((id, i) => [`l${i}`, { name: `Layout ${id}` }]);
    expect(await gateway.run(query)).toEqual(Object.fromEntries(names));
    expect(gateway.service.calls()).toEqual(['GET /v1/layouts?ids=a%2Cb%2Cc', 'GET /v1/layouts?ids=d']);
  });

  it('is sent again after a temporary failure, within the time and the calls of the operation', async () => {
    const statuses = [503, 200];
    await using gateway = await start((request, connection) =>
      statuses.shift() === 503 ? { status: 503 } : respond(request, connection),
    );
    expect(await gateway.run('{ layout(id: "l1") { id } }')).toEqual({ layout: { id: 'l1' } });
    expect(gateway.service.requests).toHaveLength(2);
    await using limited = await start(respond, { maxUpstreamCalls: 1 });
    expect(await limited.run('{ layout(id: "l1") { id } layoutCount }')).toEqual(['BUDGET_EXCEEDED']);
    expect(limited.service.requests).toHaveLength(1);
    await using hanging = await start(() => undefined, { operationTimeoutMs: 200, attemptTimeoutMs: 200 });
    expect(await hanging.run('{ layout(id: "l1") { id } }')).toEqual(['UPSTREAM_TIMEOUT']);
  });

  it('is stored only if its endpoint says so, for one credential, until a write that empties it', async () => {
    await using gateway = await start(respond, { cache: true });
    const count = () => gateway.service.calls().filter((call) => call.includes('count')).length;
    const query = '{ layoutCount layout(id: "l1") { id } }';
    await gateway.run(query, 'a');
    await gateway.run(query, 'a');
    expect([count(), gateway.service.requests.length]).toEqual([1, 3]);
    await gateway.run(query, 'b');
    expect(count()).toBe(2);
    await gateway.run(CREATE, 'a');
    await gateway.run(query, 'a');
    expect(count()).toBe(3);
    expect(gateway.service.calls()[0]).toContain('?kind=a%26b');
    expect(await gateway.metrics()).toContain('resource="layouts"');
  });

  it('is compared with the shape of its endpoint, counted by its route, and explained', async () => {
    await using gateway = await start(() => ({ body: { data: { _id: 'l1', name: null } } }));
    const { codes } = await gateway.send('{ layout(id: "l1") { id name } }');
    expect(codes).toEqual(['UPSTREAM_BAD_RESPONSE']);
    expect(deviationsIn(gateway.log)).toEqual(['GET /v1/layouts/{id} data.name null']);
    expect(await gateway.metrics()).toContain('route="/v1/layouts/{id}"');
    const explained = await gateway.send('{ layout(id: "l1") { id } }', {}, { extensions: { explain: true } });
    expect(explained.body.extensions?.explain).toMatchObject({
      calls: [{ method: 'GET', route: '/v1/layouts/{id}', min: 1, max: 1 }],
      scopes: ['layouts:read'],
    });
  });

  it('requires its scope of a token', async () => {
    const signer = createSigner();
    await using gateway = await start(respond, { clients: clientsOf(signer, { scopes: ['layouts:read'] }) });
    const authorization = await signer.bearer({ scope: 'groups:read' });
    expect((await gateway.send('{ layout(id: "l1") { id } }', {}, { authorization })).codes).toEqual(['FORBIDDEN']);
    const permitted = await signer.bearer({ scope: 'layouts:read' });
    expect((await gateway.send('{ layout(id: "l1") { id } }', {}, { authorization: permitted })).codes).toEqual([]);
  });
});

it('a scope that neither a module nor the built-in schema has is refused', async () => {
  const clients = clientsOf(createSigner(), { scopes: ['layouts:read', 'layout:read'] });
  await expect(start(respond, { clients })).rejects.toThrow('clients.browser.scopes.1 must be a scope');
  await expect(start(respond, { clients, modules: [] })).rejects.toThrow('clients.browser.scopes.0 must be a scope');
});

describe('a write of a module', () => {
  it('sends texts with line breaks only where they are declared', async () => {
    await using gateway = await start();
    expect(await gateway.run(CREATE)).toEqual({ createLayout: { __typename: 'CreateLayoutSuccess' } });
    expect(JSON.parse(gateway.service.requests[0]?.body ?? '')).toEqual({ name: 'N', content: '<p>\n</p>' });
    expect(await gateway.run(CREATE.replace('"N"', '"N\\n"'))).toMatchObject({
      createLayout: { __typename: 'InvalidInputError', issues: [{ path: ['input', 'name'] }] },
    });
    expect(gateway.service.requests).toHaveLength(1);
  });

  it('is sent once without an idempotency key, and again with one', async () => {
    await using gateway = await start(() => ({ status: 502 }), { maxRetries: 1, upstreamIdempotency: true });
    expect((await gateway.send(ARCHIVE)).body.errors?.[0]?.extensions).toMatchObject({ outcome: 'UNKNOWN' });
    expect(await gateway.run(CREATE)).toEqual(['UPSTREAM_UNAVAILABLE']);
    expect(gateway.service.requests).toHaveLength(2);
    gateway.service.forget();
    await gateway.run(CREATE, 'a', { 'idempotency-key': 'k1' });
    const keys = headersOf(gateway.service.requests, 'idempotency-key');
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), keys[0]]);
  });

  it.each([
    [404, { __typename: 'NotFoundError', message: 'No.' }],
    [409, { __typename: 'ConflictError', message: 'No.' }],
    [400, { __typename: 'InvalidInputError', message: 'No.', issues: [{ path: ['input'] }] }],
  ])('returns status %i as data', async (status, result) => {
    await using gateway = await start(() => ({ status, body: { message: 'No.' } }));
    expect(await gateway.run(ARCHIVE)).toEqual({ archiveLayout: result });
  });

  it('names the input of a path parameter that is invalid', async () => {
    await using gateway = await start();
    expect(await gateway.run(ARCHIVE.replace('"l1"', '".."'))).toMatchObject({
      archiveLayout: { __typename: 'InvalidInputError', issues: [{ path: ['input', 'layoutId'] }] },
    });
    expect(gateway.service.requests).toHaveLength(0);
  });

  it('in bulk has one result per item', async () => {
    await using gateway = await start(({ body }) =>
      body.includes('bad')
        ? { status: 422, body: { message: ['name must be good'] } }
        : { status: 201, body: layout('l1') },
    );
    const items = ['good', 'bad'].map((name) => `{ name: "${name}", content: "" }`);
    const document = `mutation { createLayouts(input: { layouts: [${items}] }) { succeeded failed results { __typename ... on InvalidInputError { issues { path } } } } }`;
    expect(await gateway.run(document)).toEqual({
      createLayouts: {
        succeeded: 1,
        failed: 1,
        results: [
          { __typename: 'CreateLayoutSuccess' },
          { __typename: 'InvalidInputError', issues: [{ path: ['input', 'layouts', '1', 'name'] }] },
        ],
      },
    });
  });
});

describe('a module', () => {
  it('becomes part of the schema, which is the same without it', () => {
    const sdl = printSdl(createSchema(undefined, [layouts]));
    expect(buildSchema(sdl).getMutationType()?.getFields()).toHaveProperty('createLayouts');
    expect(printSdl(createSchema())).toBe(printSdl(createSchema(undefined, [])));
    expect(sdl).toContain('Token scope: `layouts:read`.');
  });

  it('can be resolved by a federation router', async () => {
    await using gateway = await start(respond, { federation: true });
    const query = '{ _entities(representations: [{ __typename: "Layout", id: "l1" }]) { ... on Layout { name } } }';
    expect(await gateway.run(query)).toEqual({ _entities: [{ name: 'Layout l1' }] });
  });

  const query = (name: string, scope?: 'x:read') =>
    defineModule(name, ({ builder, requireScopes }) => {
      const extensions = scope === undefined ? {} : requireScopes(scope);
      builder.queryField(name, (t) =>
        t.int({ nullable: true, extensions, description: 'A number.', resolve: () => 1 }),
      );
    });
  const declares = (name: string, template: `GET /${string}`) =>
    defineModule(name, ({ endpoint }) => void endpoint<Record<string, never>, object>(template));

  it.each([
    ['a root field without a scope', [query('a')], /^the field Query\.a requires no scope/],
    ['the name of another module', [query('a', 'x:read'), query('a', 'x:read')], /two modules with the name a$/],
    ['the name of a built-in one', [query('feeds', 'x:read')], /two modules with the name feeds$/],
    ['a field that exists', [query('workflow', 'x:read')], /don't fit together: .*workflow/],
    [
      'an endpoint of the contract',
      [declares('a', 'GET /v1/workflows/{x}')],
      /GET \/v1\/workflows\/\{x\} is declared twice/,
    ],
    [
      'an endpoint of another module',
      [declares('a', 'GET /v1/a/{b}'), declares('b', 'GET /v1/a/{c}')],
      /declared twice/,
    ],
    ['the address of another host', [declares('a', 'GET //evil.example/x')], /must be a method and a path/],
    ['a parent folder', [declares('a', 'GET /v1/../admin')], /must be a method and a path/],
    ['a query', [declares('a', 'GET /v1/a?b=c')], /must be a method and a path/],
    ['two parameters in one segment', [declares('a', 'GET /v1/{a}{b}')], /must be a method and a path/],
    ['a parameter with a reserved name', [declares('a', 'GET /v1/{body}')], /other than query, body/],
  ])('is refused with %s', (_, modules, message) => {
    const build = () => createSchema(undefined, modules);
    expect(build).toThrow(ModuleError);
    expect(build).toThrow(message);
  });
});
