import { describe, expect, it } from 'vitest';
import { createGateway, type GatewayOptions } from '../../src/gateway.ts';
import type { GatewayContext } from '../../src/graphql/context.ts';
import { defineModule } from '../../src/modules/index.ts';
import { type GatewayWithService, startGateway, type TestDeps } from '../support/gateway.ts';

// Execution ends at the operation's deadline and when the client leaves, whatever resolvers do.

const CODE = 'UPSTREAM_TIMEOUT';

/** Resolvers that settle when the test wants it, or never. */
function createHangs() {
  const entered = Promise.withResolvers<void>();
  const late = Promise.withResolvers<unknown>();
  const written = Promise.withResolvers<unknown>();
  const module = defineModule('hangs', ({ builder, declareCalls, endpoint, requireScopes }) => {
    const create = endpoint('POST /v1/hangs');
    const extensions = { ...requireScopes('hangs:read'), ...declareCalls('1') };
    const hang = (): Promise<never> => {
      entered.resolve();
      return late.promise as Promise<never>;
    };
    const Hang = builder.objectRef<object>('Hang').implement({
      extensions,
      fields: (t) => ({
        ready: t.int({ resolve: () => 1 }),
        never: t.int({ nullable: true, resolve: hang }),
        required: t.int({ resolve: hang }),
        items: t.intList({ nullable: { items: true, list: false }, resolve: () => [1, hang(), 3] }),
      }),
    });
    builder.queryField('hang', (t) => t.field({ type: Hang, nullable: true, extensions, resolve: () => ({}) }));
    builder.queryField('hangs', (t) =>
      t.field({ type: [Hang], nullable: true, extensions, resolve: () => Array.from({ length: 150 }, () => ({})) }),
    );
    const writing = { ...requireScopes('hangs:write'), ...declareCalls('1') };
    const write = (ctx: GatewayContext) => ctx.upstream.write(create, {});
    builder.mutationField('writeThenHang', (t) =>
      t.field({
        type: Hang,
        nullable: true,
        extensions: writing,
        resolve: (_root, _args, ctx) => write(ctx).then(hang),
      }),
    );
    builder.mutationField('hangThenWrite', (t) =>
      t.field({
        type: Hang,
        nullable: true,
        extensions: writing,
        resolve: (_root, _args, ctx) =>
          hang().then(
            () => ({}),
            () => {
              written.resolve(write(ctx).catch(({ code }) => code));
              return {};
            },
          ),
      }),
    );
    builder.mutationField('createHang', (t) =>
      t.field({ type: Hang, nullable: true, extensions: writing, resolve: (_root, _args, ctx) => write(ctx) }),
    );
  });
  return { module, entered: entered.promise, late, written: written.promise };
}

async function start(options: Partial<GatewayOptions> = {}, deps: TestDeps = {}) {
  const hangs = createHangs();
  const gateway = await startGateway(
    {
      service: () => ({ body: { data: {} } }), // A body of its own shape.
      operationTimeoutMs: 300,
      maxInFlightRequests: 1,
      modules: [hangs.module],
      ...options,
    },
    deps,
  );
  return { ...gateway, ...hangs, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}

/** Sends an operation, and another one that needs its place. Returns the response of the first. */
async function sendAndFollow(gateway: GatewayWithService, query: string) {
  const { status, body } = await gateway.send(query);
  expect((await gateway.send('{ __typename }')).body).toEqual({ data: { __typename: 'Query' } });
  return {
    status,
    data: body.data,
    errors: body.errors?.map(({ path, extensions }) => [path?.join('.'), extensions?.code]),
  };
}

describe('at the deadline', () => {
  it.each(['listener', 'fetch'] as const)('what is pending fails, and what is complete arrives: %s', async (entry) => {
    await using gateway = await start({}, { entry });
    const query = '{ hang { ready never items } other: hang { required } none: hang { ready } }';
    expect(await sendAndFollow(gateway, query)).toEqual({
      status: 200,
      data: { hang: { ready: 1, never: null, items: [1, null, 3] }, other: null, none: { ready: 1 } },
      errors: [
        ['hang.never', CODE],
        ['hang.items.1', CODE],
        ['other.required', CODE],
      ],
    });
    expect(gateway.log.filter(({ msg }) => msg === 'operation')).toHaveLength(2);
  });

  it('with plugins of the host too, what is complete arrives', async () => {
    await using gateway = await start({ plugins: [{ onExecute: () => undefined }] });
    expect(await sendAndFollow(gateway, '{ hang { ready never } }')).toMatchObject({
      data: { hang: { ready: 1, never: null } },
      errors: [['hang.never', CODE]],
    });
  });

  it('a result with more pending fields than errors stops', async () => {
    await using gateway = await start();
    const { status, data, errors } = await sendAndFollow(gateway, '{ hangs { never } }');
    expect([status, data?.hangs, errors?.length, errors?.at(-1)]).toEqual([
      200,
      Array.from({ length: 150 }, () => ({ never: null })),
      101,
      [undefined, 'RESULT_LIMIT_EXCEEDED'],
    ]);
  });

  it('a mutation that hangs is UNKNOWN, and those after it are not executed', async () => {
    await using gateway = await start();
    const { body } = await gateway.send('mutation { writeThenHang { ready } createHang { ready } }');
    expect(body).toMatchObject({
      data: { writeThenHang: null, createHang: null },
      errors: [
        { path: ['writeThenHang'], extensions: { code: CODE, retryable: false, outcome: 'UNKNOWN' } },
        { path: ['createHang'], extensions: { code: CODE, outcome: 'NOT_APPLIED' } },
      ],
    });
    expect(gateway.service.calls()).toEqual(['POST /v1/hangs']);
  });

  it('a resolver that continues later writes nothing', async () => {
    await using gateway = await start();
    expect(await sendAndFollow(gateway, 'mutation { hangThenWrite { ready } }')).toMatchObject({
      errors: [['hangThenWrite', CODE]],
    });
    gateway.late.reject(new Error('Too late.'));
    expect(await gateway.written).toBe(CODE);
    expect(gateway.service.calls()).toEqual([]);
    expect(gateway.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  it.each(['onExecute', 'onContextBuilding'])('a hook %s that hangs ends too', async (hook) => {
    await using gateway = await start({ plugins: [{ [hook]: () => new Promise(() => undefined) }] });
    expect(await sendOnly(gateway, '{ hang { ready } }')).toEqual([200, null, [[undefined, CODE, undefined]]]);
    expect(await sendOnly(gateway, 'mutation { createHang { ready } }')).toEqual([
      200,
      null,
      [[undefined, CODE, 'UNKNOWN']],
    ]);
    expect(gateway.service.calls()).toEqual([]);
  });
});

async function sendOnly(gateway: GatewayWithService, query: string) {
  const { status, body } = await gateway.send(query);
  return [status, body.data, body.errors?.map(({ path, extensions }) => [path, extensions?.code, extensions?.outcome])];
}

it('an operation whose client left before its execution ends at once', async () => {
  const { module } = createHangs();
  await using gateway = createGateway({ upstream: 'http://127.0.0.1:1', modules: [module] });
  const url = `http://gateway.test/graphql?query=${encodeURIComponent('{ hang { never } }')}`;
  const request = new Request(url, {
    headers: { accept: 'application/json', authorization: 'ApiKey a' },
    signal: AbortSignal.abort(),
  });
  const response = await gateway.fetch(request);
  expect(await response.json()).toMatchObject({ data: { hang: { never: null } } });
});

it('when the client leaves, execution ends and its place is free', async () => {
  await using gateway = await start({ operationTimeoutMs: 60_000 });
  const client = new AbortController();
  const left = gateway.send('{ hang { never } }', {}, { signal: client.signal }).catch(() => 'left');
  await gateway.entered;
  client.abort();
  expect(await left).toBe('left');
  await expect.poll(() => gateway.log.find(({ msg }) => msg === 'operation')).toMatchObject({ httpStatus: 499 });
  expect((await gateway.send('{ __typename }')).status).toBe(200);
});
