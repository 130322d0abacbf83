import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import type { GatewayContext } from '../../src/graphql/context.ts';
import { defineModule } from '../../src/modules/index.ts';
import type { Toolkit } from '../../src/modules/module.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import type { Script } from '../support/service.ts';
import { bulkOf } from './example.ts';

guards('src/modules/toolkit/mutation-failures.ts', 'toFailure');
guards('src/graphql/loaders.ts', 'ownWrites.upstream.write');
guards('src/modules/toolkit/resolvers.ts', 'limitWrites');
guards('src/modules/toolkit/resolvers.ts', 'runAsMutation');
guards('src/upstream/calls.ts', 'FieldWrites.mayWrite');
guards('src/upstream/calls.ts', 'FieldWrites.track');
guards('src/upstream/calls/bounded-client.ts', 'CallBudget.createRequest');

// What a mutation with several writes promises, and where a write is refused.

interface StepBody {
  _id: string;
  code?: string;
}

type Endpoints = ReturnType<typeof declareEndpoints>;

/** Writes a step with an idempotency key, or reads it. The script responds by its name. */
interface Steps extends Pick<Toolkit, 'badResponse' | 'badUserInput'>, Endpoints {
  ctx: GatewayContext;
  send: (name: string) => Promise<StepBody>;
  read: (id: string) => Promise<StepBody | null>;
  load: (id: string) => Promise<StepBody | null>;
  /** Writes without the mutation's function. */
  write: (name: string) => Promise<unknown>;
}

type Resolve = (steps: Steps, id: string) => Promise<object>;

const declareEndpoints = ({ endpoint }: Toolkit) => ({
  create: endpoint('POST /v1/steps', { idempotent: true }).takes<{ body: { name: string } }>().returns<StepBody>(),
  replace: endpoint('PUT /v1/steps/{id}').returns<StepBody>(),
  get: endpoint('GET /v1/steps/{id}').returns<StepBody>(),
});

/** Resolver of the mutations. Each test sets it. */
let resolve: Resolve;

/** Declares the mutations `apply`, `applyAll` (in bulk) and `applyBare` (without `mutation`), and fields that write where none may. */
const steps = defineModule('steps', (toolkit) => {
  const { badResponse, badUserInput, builder, bulkMutation, declareCalls, mutation, requireScopes } = toolkit;
  const endpoints = declareEndpoints(toolkit);
  const step = toolkit.loader<StepBody>({ name: 'step', get: endpoints.get });
  const stepsFor = (ctx: GatewayContext): Steps => ({
    ...endpoints,
    badResponse,
    badUserInput,
    ctx,
    send: (name) => ctx.upstream.write(endpoints.create, { body: { name } }).then(({ body }) => body),
    read: (id) => ctx.upstream.read(endpoints.get, { id }),
    load: (id) => ctx.loaders.load(step, id),
    write: (id) => ctx.upstream.write(endpoints.replace, { id }),
  });

  const Step = builder.objectRef<StepBody>('Step').implement({
    extensions: requireScopes('steps:read'),
    fields: (t) => ({
      written: t.string({
        nullable: true,
        resolve: async ({ _id }, _args, ctx) => JSON.stringify(await stepsFor(ctx).write(_id)),
      }),
      rejected: t.string({
        nullable: true,
        resolve: () => Promise.reject(badUserInput('No.')),
      }),
    }),
  });
  builder.queryField('step', (t) =>
    t.field({ type: Step, nullable: true, extensions: declareCalls('1'), resolve: () => ({ _id: 'nested' }) }),
  );
  builder.queryField('writing', (t) =>
    t.string({
      nullable: true,
      extensions: { ...requireScopes('steps:read'), ...declareCalls('1') },
      resolve: async (_root, _args, ctx) => JSON.stringify(await stepsFor(ctx).write('query')),
    }),
  );
  builder.mutationField('applyBare', (t) =>
    t.string({
      nullable: true,
      extensions: { ...requireScopes('steps:write'), ...declareCalls('1') },
      resolve: async (_root, _args, ctx) => JSON.stringify(await resolve(stepsFor(ctx), 'bare')),
    }),
  );

  const apply = mutation('apply', {
    description: 'Applies.',
    scope: 'steps:write',
    endpoint: endpoints.create,
    input: { description: 'It.', fields: (t) => ({ id: t.id({ required: true }) }) },
    failures: { notFound: { resource: 'Step', id: ({ id }) => id } },
    resolve: ({ id }, send, ctx) =>
      resolve({ ...stepsFor(ctx), send: (name) => send({ body: { name } }) }, id).then((step) => ({
        _id: id,
        ...step,
      })),
    success: {
      description: 'It is applied.',
      fields: (t) => ({ step: t.field({ type: Step, resolve: (step) => step }) }),
    },
  });
  bulkMutation('applyAll', apply, bulkOf('steps', 50));
});

/** Service that responds to a step by its name, and to a repeated key with `Idempotency-Replay`. */
function createSteps(): Script {
  const stored = new Set<string>();
  return ({ path, body, headers }) => {
    if (path === '/v1/notification-groups') {
      return { body: [] };
    }
    const name = body === '' ? path.slice('/v1/steps/'.length) : JSON.parse(body).name;
    const status = { refused: 422, absent: 404, taken: 409, limited: 429, lost: 503, unavailable: 503 }[String(name)];
    if (status !== undefined) {
      return { status, headers: { 'retry-after': '0' }, body: { message: `It is ${name}.` } };
    }
    const key = headers['idempotency-key'] ?? '';
    const isReplayed = stored.has(key);
    stored.add(key);
    return {
      status: 201,
      headers: isReplayed && key !== '' ? { 'idempotency-replay': 'true' } : {},
      body: { _id: name },
    };
  };
}

let gateway: GatewayWithService;
beforeAll(async () => {
  const deps = { breakerMinimumCalls: Number.POSITIVE_INFINITY };
  gateway = await startGateway({ service: createSteps(), modules: [steps] }, deps);
  // The service has accepted the keys, so that mutations that send nothing cost no call.
  await gateway.data('{ notificationGroups { name } }');
  await gateway.run('{ notificationGroups { name } }');
  return () => gateway[Symbol.asyncDispose]();
});

/** Sets what the mutations do, and how the service responds. */
function prepare(next: Resolve, script = createSteps()): void {
  resolve = next;
  gateway.service.script = script;
  gateway.service.forget();
  gateway.log.length = 0;
  gateway.advance(60); // Retries are limited per second.
}

const APPLY =
  'mutation { apply(input: { id: "s" }) { __typename ... on MutationError { code message } ... on ApplySuccess { replayed } } }';

describe('a mutation that sends several writes', () => {
  const both: Resolve = async ({ send }) => {
    await send('one');
    return send('two');
  };
  const digest = (...parts: unknown[]) => createHash('sha256').update(JSON.stringify(parts)).digest('hex');

  it('has a key for each, in a form that later versions keep', async () => {
    prepare(both);
    const run = () => gateway.run(APPLY, 'a', { 'idempotency-key': 'k' });
    expect(await run()).toEqual({ apply: { __typename: 'ApplySuccess', replayed: false } });
    expect(await run()).toEqual({ apply: { __typename: 'ApplySuccess', replayed: true } });
    const keys = gateway.service.requests.map(({ headers }) => headers['idempotency-key']);
    const keyOf = (write: number) => digest('apply', 'apply', 'ApiKey a', 'k', null, write, 'POST /v1/steps');
    const [first, second] = [keyOf(1), keyOf(2)]; // Another form makes repetitions across an upgrade apply twice.
    expect(keys).toEqual([first, second, first, second]);
    await gateway.run(APPLY);
    expect(gateway.service.requests.slice(4).map(({ headers }) => headers['idempotency-key'])).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('is replayed only if all of them are', async () => {
    let names = ['one'];
    prepare(async ({ send }) => {
      for (const name of names) {
        await send(name);
      }
      return {};
    });
    const run = () => gateway.run(APPLY, 'a', { 'idempotency-key': 'k' });
    await run();
    names = ['one', 'two'];
    expect(await run()).toMatchObject({ apply: { replayed: false } });
    expect(await run()).toMatchObject({ apply: { replayed: true } });
    names = [];
    expect(await run()).toMatchObject({ apply: { replayed: false } });
  });

  const after =
    (next: Resolve): Resolve =>
    async (steps, id) => {
      await steps.send('one');
      return next(steps, id);
    };
  const failures: [string, Resolve, string][] = [
    ['a refused write', ({ send }) => send('refused'), 'BAD_USER_INPUT'],
    ['a write to an absent record', async ({ write }) => ({ step: await write('absent') }), 'UPSTREAM_ERROR'],
    ['a conflict', ({ send }) => send('taken'), 'UPSTREAM_ERROR'],
    ['a limit', ({ send }) => send('limited'), 'RATE_LIMITED'],
    ['a write without a response', ({ send }) => send('lost'), 'UPSTREAM_UNAVAILABLE'],
    ['an invalid id', async ({ write }) => ({ step: await write('..') }), 'BAD_USER_INPUT'],
    ['a read', async ({ read }) => ({ step: await read('unavailable') }), 'UPSTREAM_UNAVAILABLE'],
    ['badUserInput', ({ badUserInput }) => Promise.reject(badUserInput('No.')), 'BAD_USER_INPUT'],
    ['badResponse', ({ badResponse }) => Promise.reject(badResponse('sent nothing')), 'UPSTREAM_BAD_RESPONSE'],
    ['a bug', () => Promise.reject(new Error('a bug')), 'INTERNAL_SERVER_ERROR'],
    ['a bug that throws no error', () => Promise.reject('a bug'), 'INTERNAL_SERVER_ERROR'],
    ['a call that is not sent', async ({ write }) => ({ step: await write(Object({})) }), 'INTERNAL_SERVER_ERROR'],
  ];

  it.each(failures)('has an unknown outcome if %s follows an applied one', async (_, fails, code) => {
    prepare(after(fails));
    const { body } = await gateway.send(APPLY);
    expect(body.data).toEqual({ apply: null });
    expect(body.errors).toMatchObject([
      { path: ['apply'], extensions: { code, retryable: false, outcome: 'UNKNOWN' } },
    ]);
    expect(body.errors).toHaveLength(1);
    expect(gateway.service.calls()[0]).toBe('POST /v1/steps');
    if (code !== 'INTERNAL_SERVER_ERROR') {
      expect(body.errors?.[0]?.message).toMatch(
        code === 'UPSTREAM_BAD_RESPONSE' ? /./ : /The change may have been applied\. Check before sending it again\.$/,
      );
    }
  });

  it.each(failures.flatMap((failure) => (['send', 'write'] as const).map((first) => [...failure, first] as const)))(
    'has it in bulk too if %s follows, and other items keep their results',
    async (_, fails, code, first) => {
      prepare(async (steps, id) => {
        await steps[first](id);
        return id === 'a' ? {} : fails(steps, id);
      });
      const document =
        'mutation { applyAll(input: { steps: [{ id: "a" }, { id: "b" }] }) { succeeded failed results { __typename ... on UpstreamFailure { retryable outcome } } } }';
      const { body } = await gateway.send(document);
      if (['badUserInput', 'badResponse'].includes(_) || code === 'INTERNAL_SERVER_ERROR') {
        // Not failures of the service: they fail the whole field.
        expect(body.data).toEqual({ applyAll: null });
        expect(body.errors).toMatchObject([{ extensions: { code, retryable: false, outcome: 'UNKNOWN' } }]);
        return;
      }
      expect(body).toEqual({
        data: {
          applyAll: {
            succeeded: 1,
            failed: 1,
            results: [
              { __typename: 'ApplySuccess' },
              { __typename: 'UpstreamFailure', retryable: false, outcome: 'UNKNOWN' },
            ],
          },
        },
      });
    },
  );

  it.each(failures)('has it if %s follows a write that `mutation` did not declare', async (_, fails, code) => {
    prepare(async (steps, id) => {
      await steps.write('one');
      return fails(steps, id);
    });
    for (const field of ['apply(input: { id: "s" }) { __typename }', 'applyBare']) {
      const { body } = await gateway.send(`mutation { result: ${field} }`);
      expect(body.errors).toMatchObject([{ extensions: { code, retryable: false, outcome: 'UNKNOWN' } }]);
    }
  });

  it('has it if another one is still in flight', async () => {
    prepare(async ({ send, write }) => {
      await Promise.all([write('slow'), send('refused')]);
      return {};
    });
    const held = gateway.service.hold('PUT /v1/steps/slow');
    const { body } = await gateway.send(APPLY);
    expect(body.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', outcome: 'UNKNOWN' } }]);
    held.release();
  });

  it('has it if the first has no known outcome, whatever the resolver makes of that', async () => {
    prepare(async ({ send }) => {
      await send('lost').catch(() => {});
      return send('refused');
    });
    expect((await gateway.send(APPLY)).body.errors).toMatchObject([
      { extensions: { code: 'BAD_USER_INPUT', retryable: false, outcome: 'UNKNOWN' } },
    ]);
  });

  it('changed nothing if all were refused, in the next field too', async () => {
    prepare(async ({ send }, id) => {
      await send(id).catch(() => {});
      return send('refused');
    });
    const document = `mutation { a: apply(input: { id: "one" }) { __typename } b: apply(input: { id: "refused" }) { __typename } }`;
    const { body } = await gateway.send(document);
    expect(body.data).toEqual({ a: null, b: { __typename: 'InvalidInputError' } });
    expect(body.errors).toMatchObject([{ path: ['a'], extensions: { outcome: 'UNKNOWN' } }]);
  });

  it('has it in errors below it', async () => {
    prepare(both);
    const document = 'mutation { apply(input: { id: "s" }) { ... on ApplySuccess { step { rejected } } } }';
    expect((await gateway.send(document)).body.errors).toMatchObject([
      { path: ['apply', 'step', 'rejected'], extensions: { code: 'BAD_USER_INPUT', outcome: 'UNKNOWN' } },
    ]);
  });

  it('is not repeated by the client, which would repeat a single one', async () => {
    let names = ['one', 'limited'];
    prepare(async ({ send }) => {
      for (const name of names) {
        await send(name);
      }
      return {};
    });
    const client = createClient({ url: gateway.url, authorization: 'ApiKey a', retries: { maxAttempts: 3 } });
    expect(await client.request(APPLY)).toMatchObject({
      attempts: 1,
      errors: [{ extensions: { code: 'RATE_LIMITED' } }],
    });
    expect(gateway.service.requests.filter(({ body }) => body.includes('one'))).toHaveLength(1);
    names = ['limited'];
    expect(await client.request(APPLY)).toMatchObject({ attempts: 3 });
  });

  it('sends no more once it has failed, also if a later field of the operation writes', async () => {
    const { promise: isLater, resolve: begin } = Promise.withResolvers<void>();
    const { promise: late, resolve: fail } = Promise.withResolvers<unknown>();
    prepare(async ({ send, badUserInput }, id) => {
      if (id === 'second') {
        begin();
        await late;
        return send('second');
      }
      void isLater.then(() => send('late')).catch(fail);
      throw badUserInput('No.');
    });
    const document =
      'mutation { a: apply(input: { id: "first" }) { __typename } b: apply(input: { id: "second" }) { __typename } }';
    const { body } = await gateway.send(document);
    expect(body.errors).toMatchObject([{ path: ['a'], extensions: { outcome: 'NOT_APPLIED' } }]);
    expect(gateway.service.requests.map(({ body: sent }) => sent)).toEqual(['{"name":"second"}']);
    expect(String(await late)).toContain('POST /v1/steps was not sent.');
  });

  it('sends no further item in bulk once one has failed without a response of the service', async () => {
    const { promise: refused, resolve: refuse } = Promise.withResolvers<unknown>();
    prepare(async ({ read, send, badUserInput }, id) => {
      if (id === 'wrong') {
        throw badUserInput('No.');
      }
      await read('one');
      return send(id).catch((error) => {
        refuse(error);
        throw error;
      });
    });
    const held = gateway.service.hold('GET /v1/steps/one');
    const { body } = await gateway.send(
      'mutation { applyAll(input: { steps: [{ id: "a" }, { id: "wrong" }] }) { failed } }',
    );
    expect(body.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', outcome: 'NOT_APPLIED' } }]);
    held.release();
    expect(String(await refused)).toContain('POST /v1/steps was not sent.');
    expect(gateway.service.calls()).toEqual(['GET /v1/steps/one']);
  });

  it('counts only its own writes, not those of the field before that end later', async () => {
    const { promise: isSecond, resolve: begin } = Promise.withResolvers<void>();
    const { promise: isRefused, resolve: refuse } = Promise.withResolvers<unknown>();
    prepare(
      async ({ send, write, badUserInput }, id) => {
        if (id === 'first') {
          write('refused').catch(refuse);
          throw badUserInput('No.');
        }
        await send('two');
        begin();
        await isRefused;
        return send('refused');
      },
      async (request, connection) => {
        if (request.method === 'PUT') {
          await isSecond;
        }
        return createSteps()(request, connection);
      },
    );
    const document =
      'mutation { a: apply(input: { id: "first" }) { __typename } b: apply(input: { id: "second" }) { __typename } }';
    expect((await gateway.send(document)).body.errors).toMatchObject([
      { path: ['a'], extensions: { outcome: 'UNKNOWN' } },
      { path: ['b'], extensions: { code: 'BAD_USER_INPUT', outcome: 'UNKNOWN' } },
    ]);
  });

  it('has an unknown outcome if a retry is refused after an attempt that may have been applied', async () => {
    let attempts = 0;
    await using gateway = await startGateway({
      service: () => {
        attempts += 1;
        return { status: attempts === 1 ? 503 : 404, body: { statusCode: 404, message: 'No such workflow' } };
      },
    });
    const { body } = await gateway.send(
      'mutation { updateWorkflowStatus(input: { workflowId: "w1", active: true }) { __typename } }',
    );
    expect(body).toMatchObject({
      data: { updateWorkflowStatus: null },
      errors: [
        {
          message: 'No such workflow. The change may have been applied. Check before sending it again.',
          extensions: { retryable: false, outcome: 'UNKNOWN' },
        },
      ],
    });
    expect(gateway.service.requests).toHaveLength(2);
  });
});

describe('a write outside the resolver of a mutation’s field', () => {
  const MESSAGE =
    'PUT /v1/steps/{id} was not sent. Only the resolver of a field of Mutation can write, until it has ended.';
  const nothing: Resolve = async () => ({});

  it.each([
    ['a query', '{ writing }', ['writing'], 'writing'],
    ['a field of a query with an alias', '{ step { mine: written } }', ['step', 'mine'], 'written'],
    [
      'the result of a mutation',
      'mutation { apply(input: { id: "s" }) { ... on ApplySuccess { step { written } } } }',
      ['apply', 'step', 'written'],
      'written',
    ],
  ])('is refused in %s, with one line in the log', async (_, document, path, field) => {
    prepare(nothing);
    for (const extensions of [{}, { upstream: true }, { explain: true }]) {
      gateway.log.length = 0;
      const { body } = await gateway.send(document, {}, { extensions });
      if ('explain' in extensions && path[0] === 'apply') {
        continue; // Fields below a mutation are not executed.
      }
      expect(body.errors).toMatchObject([
        { message: 'Unexpected error.', path, extensions: { code: 'INTERNAL_SERVER_ERROR', retryable: false } },
      ]);
      expect(gateway.log.filter(({ msg }) => msg === 'unexpected error')).toMatchObject([
        { level: 50, field, path, err: { message: MESSAGE } },
      ]);
      expect(Object(body.extensions?.explain).calls ?? []).toEqual([]);
    }
    expect(gateway.service.requests).toHaveLength(0);
  });

  const both =
    'a: apply(input: { id: "first" }) { __typename } b: apply(input: { id: "second" }) { ... on InvalidInputError { code } }';
  it.each([
    ['fields', `mutation { ${both} }`, {}],
    ['fields whose calls are reported', `mutation { ${both} }`, { upstream: true }],
    ['fields of a fragment', `mutation { ...F } fragment F on Mutation { ${both} }`, {}],
  ])(
    'is refused once its field has ended, also while a later one of several %s writes',
    async (_, document, extensions) => {
      const { promise: isSecond, resolve: begin } = Promise.withResolvers<void>();
      const { promise: refusal, resolve: refuse } = Promise.withResolvers<unknown>();
      prepare(async ({ send, write }, id) => {
        if (id === 'first') {
          void isSecond.then(() => write('late')).then(refuse, refuse);
          return {};
        }
        begin();
        await refusal;
        return send('refused');
      });
      const { body } = await gateway.send(document, {}, { extensions });
      expect(body.data).toEqual({ a: { __typename: 'ApplySuccess' }, b: { code: 'INVALID_INPUT' } });
      expect(String(await refusal)).toBe(`Error: ${MESSAGE}`);
      expect(gateway.service.calls()).toEqual(['POST /v1/steps']);
    },
  );

  it('is permitted in an explained mutation, and not sent', async () => {
    prepare(async ({ send }) => send('one'));
    const { body } = await gateway.send(APPLY, {}, { extensions: { explain: true } });
    expect(body.errors).toBeUndefined();
    expect(body.extensions?.explain).toMatchObject({ calls: [{ method: 'POST', route: '/v1/steps' }] });
    expect(gateway.service.requests).toHaveLength(0);
  });
});

describe('a call that fails, and that no resolver awaits', () => {
  const calls: [string, Resolve][] = [
    ['a read', async ({ read }) => ({ call: void read('lost') })],
    ['a refused read', async ({ read }) => ({ call: void read('..') })],
    ['a loaded record', async ({ load }) => ({ call: void load('lost') })],
    ['a record with an id that no path has', async ({ load }) => ({ call: void load('..') })],
    ['a write', async ({ write }) => ({ call: void write('lost') })],
    ['a refused write', async ({ write }) => ({ call: void write('..') })],
    ['send', async ({ send }) => ({ call: void send('refused') })],
    ['a late write', async ({ write }) => ({ call: setImmediate(() => void write('late')).unref() })],
    ['a late send', async ({ send }) => ({ call: setImmediate(() => void send('late')).unref() })],
  ];

  it.each(calls)('does not end the process: %s', async (_, call) => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', note);
    prepare(async (steps, id) => {
      if (id === 'last') {
        return {};
      }
      await call(steps, id);
      return { _id: (await steps.read('other'))?._id };
    });
    const [one, last] = ['apply(input: { id: "s" }) { __typename }', 'apply(input: { id: "last" }) { __typename }'];
    for (const document of [
      `mutation { ${one} }`,
      `mutation { ${one} last: ${last} }`,
      'mutation { applyAll(input: { steps: [{ id: "a" }] }) { succeeded } }',
    ]) {
      for (const extensions of [{}, { explain: true }]) {
        const { body } = await gateway.send(document, {}, { extensions });
        expect(body.errors).toBeUndefined();
      }
    }
    await gateway.send('mutation { apply(input: { id: "last" }) { __typename } }');
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
});

it('a success of a bulk mutation can have a member called code', async () => {
  prepare(async ({ send }) => ({ ...(await send('one')), code: 'X' }));
  expect(await gateway.run('mutation { applyAll(input: { steps: [{ id: "a" }] }) { succeeded failed } }')).toEqual({
    applyAll: { succeeded: 1, failed: 0 },
  });
});
