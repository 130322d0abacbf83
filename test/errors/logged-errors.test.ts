import { GraphQLError } from 'graphql';
import { beforeEach, expect, it } from 'vitest';
import { defineModule } from '../../src/modules/index.ts';
import { connectAgent } from '../support/agent.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { group } from '../support/records.ts';
import { clientsOf, createSigner, TENANT_KEYS } from '../support/tokens.ts';

guards('src/errors/logged-error.ts', 'toLoggedError');

// Errors of HTTP clients have the whole request. The log must not have its credential, wherever such an error comes from.

const KEY = 'canary-of-a-server';

class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code = 'ERR_BAD_REQUEST';
  readonly config: object;

  constructor(message: string, key: string, options?: ErrorOptions) {
    super(message, options);
    this.config = { url: 'http://127.0.0.1', headers: { authorization: `ApiKey ${key}`, token: key } };
  }
}

/** Returns an error like those of HTTP clients, with a cause of the same kind. */
const failure = (key: string, text = 'Request failed') =>
  Object.assign(new RequestError(text, key, { cause: new RequestError('connect refused', key) }), {
    request: { key },
    toJSON: () => ({ key }),
  });

/** Error that everything throws. Each test sets it. */
let thrown: () => unknown;
beforeEach(() => {
  thrown = () => failure(KEY);
});

const fail = (): never => {
  throw thrown();
};

const failing = defineModule(
  'failing',
  ({ builder, declareCalls, endpoint, entity, loader, mutation, requireScopes }) => {
    const extensions = { ...requireScopes('things:read'), ...declareCalls('1') };
    const get = endpoint('GET /v1/things/{id}').returns<{ _id: string }>();
    const thing = loader({ name: 'thing', get, identify: fail });
    const Thing = builder.objectRef<{ _id: string }>('Thing').implement({
      extensions: { ...extensions, ...entity({ id: async () => fail() }) },
      fields: (t) => ({ id: t.exposeID('_id'), failing: t.string({ nullable: true, resolve: fail }) }),
    });
    builder.queryFields((t) => ({
      thrown: t.string({ nullable: true, extensions, resolve: fail }),
      rejected: t.string({ nullable: true, extensions, resolve: async () => fail() }),
      returned: t.string({ nullable: true, extensions, resolve: () => thrown() as never }),
      things: t.field({ type: [Thing], nullable: true, extensions, resolve: () => [{ _id: 'a' }, { _id: 'b' }] }),
      loaded: t.field({
        type: Thing,
        nullable: true,
        extensions,
        resolve: (_root, _args, ctx) => ctx.loaders.load(thing, 'a'),
      }),
    }));
    builder.mutationField('change', (t) => t.string({ nullable: true, extensions, resolve: fail }));
    mutation('apply', {
      description: 'Applies.',
      scope: 'things:write',
      endpoint: endpoint('POST /v1/things'),
      resolve: async () => fail(),
      success: { description: 'Done.', fields: (t) => ({ done: t.boolean({ resolve: () => true }) }) },
    });
  },
);

const signer = createSigner();

const start = (plugins: object[] = []) =>
  startGateway({
    service: ({ path }) => ({ body: { data: path.endsWith('groups') ? [group()] : { _id: 'a' } } }),
    modules: [failing],
    plugins,
    federation: true,
    clients: clientsOf(signer, { scopes: ['things:read'] }),
    mcp: { manifest: { thrown: 'query Thrown { thrown }' } },
  });

it.each([
  ['a field', '{ thrown }'],
  ['a promise', '{ rejected }'],
  ['a returned error', '{ returned }'],
  ['a nested field', '{ things { failing } }'],
  ['a loader', '{ loaded { id } }'],
  ['an entity', '{ _entities(representations: [{ __typename: "Thing", id: "a" }]) { __typename } }'],
  ['a mutation', 'mutation { change }'],
  ['a mutation that is declared', 'mutation { apply { __typename } }'],
])('an error of %s is logged with type, message, code and stack, and those of its cause', async (_, query) => {
  await using gateway = await start();
  const { body } = await gateway.send(query, {}, { authorization: `ApiKey ${KEY}` });
  expect(JSON.stringify(body)).not.toContain('canary');
  const lines = gateway.log.filter(({ msg }) => msg === 'unexpected error');
  expect(lines.length).toBeGreaterThan(0);
  for (const { err } of lines) {
    expect(err).toEqual({
      type: 'RequestError',
      message: 'Request failed: connect refused',
      code: 'ERR_BAD_REQUEST',
      stack: expect.stringMatching(
        /^RequestError \[ERR_BAD_REQUEST\]: Request failed\n +at [\s\S]+\ncaused by: RequestError \[ERR_BAD_REQUEST\]: connect refused\n +at /,
      ),
    });
  }
  expect(JSON.stringify(gateway.log)).not.toContain('canary');
});

it.each(['onExecute', 'onContextBuilding', 'onParse'])('so is an error of a plugin: %s', async (hook) => {
  await using gateway = await start([{ [hook]: fail }]);
  await gateway.send('{ notificationGroups { name } }', {}, { authorization: `ApiKey ${KEY}` });
  expect(gateway.log.filter(({ msg }) => msg === 'unexpected error')).toMatchObject([
    { err: { code: 'ERR_BAD_REQUEST' } },
  ]);
  expect(JSON.stringify(gateway.log)).not.toContain('canary');
});

it('so is an error behind a tool', async () => {
  await using gateway = await start();
  await using agent = await connectAgent(gateway, `ApiKey ${KEY}`);
  expect(await agent.call('Thrown')).toMatchObject({ isError: true });
  expect(gateway.log.filter(({ msg }) => msg === 'unexpected error')).toMatchObject([
    { err: { code: 'ERR_BAD_REQUEST' } },
  ]);
  expect(JSON.stringify(gateway.log)).not.toContain('canary');
});

it('a text with the credential of the caller is not logged, in whatever form, and others are', async () => {
  await using gateway = await start();
  const token = await signer.bearer({ scope: 'things:read' });
  const callers = [
    { authorization: `ApiKey ${KEY}`, key: KEY },
    { authorization: token, key: TENANT_KEYS.acme },
  ];
  for (const { authorization, key } of callers) {
    for (const text of [key, `sent ${key}`, Buffer.from(key).toString('base64'), encodeURIComponent(`k=${key}`)]) {
      gateway.log.length = 0;
      thrown = () => failure(key, text);
      await gateway.send('{ things { failing } }', {}, { authorization });
      const lines = gateway.log.filter(({ msg }) => msg === 'unexpected error');
      expect(lines).toHaveLength(2);
      expect(lines[0]?.err).toMatchObject({ message: '(not shown: it contains a credential): connect refused' });
      expect(JSON.stringify(gateway.log)).not.toContain(text);
    }
  }
  for (const [text, logged] of [
    [`headers: Authorization: ${token}`, 'headers: Authorization: Bearer ***'],
    [`the token ${token.slice('Bearer '.length)} expired`, 'the token *** expired'],
    ['{"authorization":"ApiKey of-another-tenant"}', '{"authorization":"ApiKey ***"}'],
    ['x'.repeat(5_000), 'x'.repeat(2_000)],
  ] as const) {
    gateway.log.length = 0;
    thrown = () => new Error(text);
    await gateway.send('{ thrown }', {}, { authorization: token });
    expect(gateway.log.find(({ msg }) => msg === 'unexpected error')?.err).toMatchObject({ message: logged });
  }
});

/** Returns an error that is its own cause. */
const withCause = (error: Error): Error => Object.assign(error, { cause: error });

it('what is no error is logged by its text, and an error that contains others by them', async () => {
  await using gateway = await start();
  for (const [value, logged] of [
    ['a text', { message: expect.stringContaining('a text') }],
    [{ ...failure(KEY) }, { message: '(not shown: it contains a credential)' }],
    [
      new AggregateError([failure(KEY)], 'all failed'),
      { type: 'AggregateError', message: 'all failed: Request failed: connect refused' },
    ],
    [new GraphQLError('No.', { originalError: failure(KEY) }), { type: 'RequestError' }],
    [new Error('No code.'), { stack: expect.stringMatching(/^Error: No code\.\n +at /) }],
    [withCause(new Error('a')), { message: 'a: a: a: a' }],
    [Object.assign(new Error('bare'), { stack: 'bare' }), { type: 'Error', message: 'bare', stack: 'Error: bare' }],
    [Object.assign(new Error(), { name: 7, message: 7 }), { type: 'object', message: '' }],
  ] as const) {
    gateway.log.length = 0;
    thrown = () => value;
    await gateway.send('{ thrown }', {}, { authorization: `ApiKey ${KEY}` });
    expect(gateway.log.find(({ msg }) => msg === 'unexpected error')?.err).toMatchObject(logged);
    expect(JSON.stringify(gateway.log)).not.toContain('canary');
  }
});
