import { GraphQLError } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { defineModule } from '../../src/modules/index.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';

guards('src/executor/values/complete-value.ts', 'sizeOf');

// An odd error or value of a resolver costs its field only: other fields arrive, one masked error is reported, and one line is logged.

/** Name of the method that makes an object a promise. The linter refuses it in objects. */
const THEN = 'then';

const fail = (): never => {
  throw new Error('Getter.');
};

/** Object whose every use throws. */
const hostile = (target: object = {}) =>
  new Proxy(
    target,
    Object.fromEntries(
      Reflect.ownKeys(Reflect)
        .filter((key) => typeof key === 'string')
        .map((key) => [key, fail]),
    ),
  );

const withGetter = (name: string, error: Error = new Error('Odd.')) =>
  Object.defineProperty(error, name, { get: fail });

class ReadonlyPath extends Error {
  get path(): string {
    return 'x';
  }
  get extensions(): never {
    return fail();
  }
}

class WithoutExtensions extends GraphQLError {
  override extensions = undefined as never;
}

function circular(): Error {
  const error = new Error('Circular.');
  error.cause = error;
  return error;
}

function circularGraphQLError(): Error {
  const error = new GraphQLError('Circular.');
  return Object.defineProperty(error, 'originalError', { value: error });
}

const shared = Object.freeze(new GraphQLError('Shared.', { extensions: { code: 'SHARED' } }));
const revoked = Proxy.revocable({}, {});
revoked.revoke();

const ERRORS: Record<string, () => unknown> = {
  'a frozen error': () => Object.freeze(new Error('Frozen.')),
  'a frozen GraphQLError': () => Object.freeze(new GraphQLError('Frozen.')),
  'a shared frozen GraphQLError': () => shared,
  null: () => null,
  undefined: () => undefined,
  'a text': () => 'Text.',
  'a symbol': () => Symbol('s'),
  'an object whose toString throws': () => ({ toString: fail }),
  'a proxy': () => hostile(),
  'a proxy of an error': () => hostile(new Error('Proxied.')),
  'a revoked proxy': () => revoked.proxy,
  ...Object.fromEntries(
    ['message', 'stack', 'name', 'cause', 'extensions', 'path', 'nodes'].map((name) => [
      `a getter ${name}`,
      () => withGetter(name),
    ]),
  ),
  'a getter extensions of a GraphQLError': () => withGetter('extensions', new GraphQLError('Odd.')),
  'a getter originalError of a GraphQLError': () => withGetter('originalError', new GraphQLError('Odd.')),
  'a getter code': () =>
    new GraphQLError('Odd.', { extensions: Object.defineProperty({}, 'code', { enumerable: true, get: fail }) }),
  'a readonly path': () => new ReadonlyPath('Odd.'),
  'no extensions': () => new WithoutExtensions('Odd.'),
  'a message that is no text': () => Object.assign(new Error('Odd.'), { message: { a: 1 } }),
  'a stack that is no text': () => Object.assign(new Error('Odd.'), { stack: 1 }),
  'a path that is no list': () => Object.assign(new Error('Odd.'), { path: 'x' }),
  'a path of hostile segments': () => Object.assign(new Error('Odd.'), { path: [hostile()] }),
  'a path of hostile segments in a GraphQLError': () =>
    Object.defineProperty(new GraphQLError('Odd.'), 'path', { value: [hostile()] }),
  'a path of another server': () => new GraphQLError('Odd.', { path: ['far'], extensions: { code: 'FAR' } }),
  'nodes that are none': () => Object.assign(new Error('Odd.'), { nodes: [1] }),
  'locations that are none': () => Object.assign(new Error('Odd.'), { path: [], locations: 7 }),
  'a circular cause': circular,
  'a circular originalError': circularGraphQLError,
  'circular members': () => Object.assign(new Error('Odd.'), { self: circular(), big: 1n }),
  'a huge message': () => new Error('x'.repeat(5_000_000)),
  'an aggregate': () => new AggregateError([hostile(), null, circular()], 'Many.'),
  'a toJSON that throws': () => Object.assign(new Error('Odd.'), { toJSON: fail }),
};

const VALUES: Record<string, () => unknown> = {
  'a proxy': () => hostile(),
  'a revoked proxy': () => revoked.proxy,
  'a getter': () => ({
    get value() {
      return fail();
    },
  }),
  'a method that throws': () => ({ value: fail }),
  'a then that throws': () => Object.defineProperty({}, 'then', { get: fail }),
  'a thenable that throws': () => ({ [THEN]: fail }),
  'a thenable that rejects with an odd error': () => ({
    [THEN]: (_: unknown, reject: (error: unknown) => void) => reject(hostile()),
  }),
  'a promise whose then throws': () => Object.assign(Promise.resolve({}), { [THEN]: fail }),
  'a promise whose constructor throws': () => Object.defineProperty(Promise.resolve({}), 'constructor', { get: fail }),
  'a returned frozen error': () => Object.freeze(new Error('Frozen.')),
  'a returned proxy of an error': () => hostile(new Error('Proxied.')),
  'an iterator that throws': () => ({ value: 1, [Symbol.iterator]: fail }),
};

/** Creates what resolvers throw or return. Each test sets it. */
let make: () => unknown;

const oddModule = (isError: boolean) =>
  defineModule('odd', ({ builder, declareCalls, endpoint, loader, requireScopes }) => {
    const failing = (): never => {
      throw make();
    };
    const get = endpoint('GET /v1/odd/{id}').returns<{ value?: unknown }>();
    const single = loader({ name: 'single', get, identify: failing });
    const list = endpoint('GET /v1/odd', { expect: 'list' })
      .takes<{ query: { id: string } }>()
      .returns<{ value?: unknown }[]>();
    const argsOf = (ids: readonly string[]) => ({ query: { id: ids.join() } });
    const several = loader({ name: 'several', get, many: { endpoint: list, argsOf, keyOf: failing } });
    const extensions = { ...requireScopes('odd:read'), ...declareCalls('1') };
    const resolve = (): never => (isError ? failing() : (make() as never));
    const Odd = builder.objectRef<{ value?: unknown }>('Odd').implement({
      extensions,
      fields: (t) => ({
        value: t.field({
          type: 'Int',
          nullable: true,
          resolve: (source) => (isError ? resolve() : (source.value as number)),
        }),
        later: t.int({ nullable: true, resolve: async () => resolve() }),
      }),
    });
    builder.queryField('ok', (t) => t.int({ nullable: true, extensions, resolve: () => 1 }));
    builder.queryField('sync', (t) => t.field({ type: Odd, nullable: true, extensions, resolve }));
    builder.queryField('async', (t) =>
      t.field({ type: Odd, nullable: true, extensions, resolve: async () => resolve() }),
    );
    builder.queryField('list', (t) => t.field({ type: [Odd], nullable: true, extensions, resolve }));
    builder.queryField('items', (t) =>
      t.field({
        type: [Odd],
        nullable: { list: true, items: true },
        extensions,
        resolve: () => (isError ? [{}] : [make() as never, {}]),
      }),
    );
    builder.queryField('leaf', (t) => t.field({ type: 'JSONObject', nullable: true, extensions, resolve }));
    builder.queryField('single', (t) =>
      t.field({ type: Odd, nullable: true, extensions, resolve: (_root, _args, ctx) => ctx.loaders.load(single, 'a') }),
    );
    builder.queryField('several', (t) =>
      t.field({
        type: [Odd],
        nullable: { list: true, items: true },
        extensions,
        resolve: (_root, _args, ctx) => ['a', 'b'].map((id) => ctx.loaders.load(several, id)),
      }),
    );
    builder.mutationField('change', (t) => t.field({ type: Odd, nullable: true, extensions, resolve }));
  });

const QUERY =
  '{ ok sync { value } async { value } again: sync { value } list { value } items { value later } leaf last: ok }';

describe.each([
  ['error', ERRORS, true],
  ['value', VALUES, false],
] as const)('an odd %s', (_, cases, isError) => {
  let gateway: GatewayWithService;
  beforeAll(async () => {
    gateway = await startGateway({ service: () => ({ body: {} }), modules: [oddModule(isError)] });
    return () => gateway[Symbol.asyncDispose]();
  });

  it.each(Object.entries(cases))('%s', async (_name, odd) => {
    make = odd;
    gateway.log.length = 0;
    const { status, body } = await gateway.send(QUERY);
    const logged = gateway.log.filter(({ msg }) => msg === 'unexpected error');
    expect([status, body.data]).toMatchObject([200, { ok: 1, last: 1 }]);
    const paths = body.errors?.map(({ path }) => path?.join('.'));
    expect(new Set(paths).size).toBe(paths?.length);
    for (const { path, locations, extensions } of body.errors ?? []) {
      expect(path?.length).toBeGreaterThan(0);
      expect(locations).toHaveLength(1);
      expect(extensions).toMatchObject({ code: expect.any(String), requestId: expect.any(String) });
    }
    const masked = body.errors?.filter(({ extensions }) => extensions?.code === 'INTERNAL_SERVER_ERROR') ?? [];
    expect(logged).toHaveLength(masked.length);
    expect(JSON.stringify(logged).length).toBeLessThan(1_000_000);
    if (isError) {
      expect(body.data).toMatchObject({
        sync: null,
        async: null,
        again: null,
        list: null,
        items: [{ value: null, later: null }],
        leaf: null,
      });
      expect(paths).toEqual(
        expect.arrayContaining(['sync', 'async', 'again', 'list', 'items.0.value', 'items.0.later', 'leaf']),
      );
      const loaded = await gateway.send('{ ok single { later } several { later } }');
      expect([loaded.status, loaded.body.data]).toEqual([200, { ok: 1, single: null, several: [null, null] }]);
      expect(loaded.body.errors?.map(({ path }) => path?.join('.'))).toEqual(['single', 'several.0', 'several.1']);
    }
    const changed = await gateway.send('mutation { change { value } other: change { value } }');
    expect(changed.status).toBe(200);
    expect(changed.body.data).toHaveProperty('other');
  });
});

const NOT_JSON: Record<string, () => unknown> = {
  'a bigint': () => 1n,
  'a bigint in a list': () => ({ list: [1n] }),
  'a symbol': () => Symbol('s'),
  'a function': () => () => 1,
  'an object that contains itself': () => {
    const all: unknown[] = [];
    all.push({ all });
    return all;
  },
  'a toJSON that throws': () => ({ toJSON: fail }),
  'a toJSON that returns a bigint': () => ({ toJSON: () => 1n }),
};

it('a scalar that returns what JSON does not have costs its field, and one with a JSON of its own does not', async () => {
  let value: unknown;
  const odd = defineModule('odd', ({ builder, declareCalls, requireScopes, scalar }) => {
    const Odd = scalar('Odd', { serialize: () => value });
    const extensions = { ...requireScopes('odd:read'), ...declareCalls('1') };
    builder.queryFields((t) => ({
      ok: t.int({ nullable: true, extensions, resolve: () => 1 }),
      odd: t.field({ type: Odd, nullable: true, extensions, resolve: () => 'x' }),
      odds: t.field({ type: [Odd], nullable: { list: true, items: true }, extensions, resolve: () => ['x'] }),
    }));
  });
  await using gateway = await startGateway({ service: () => ({ body: {} }), modules: [odd] });
  for (const [name, create] of Object.entries(NOT_JSON)) {
    value = create();
    const { status, body, codes } = await gateway.send('{ ok odd odds last: ok }');
    expect([status, body.data], name).toEqual([200, { ok: 1, odd: null, odds: [null], last: 1 }]);
    expect(codes, name).toEqual(['INTERNAL_SERVER_ERROR', 'INTERNAL_SERVER_ERROR']);
  }
  value = { at: new Date(0), none: undefined };
  expect(await gateway.run('{ odd }')).toEqual({ odd: { at: '1970-01-01T00:00:00.000Z' } });
});
