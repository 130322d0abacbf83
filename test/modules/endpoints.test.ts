import { describe, expect, it } from 'vitest';
import { createTestGateway } from '../../packages/testing/src/index.ts';
import type { GatewayOptions } from '../../src/gateway.ts';
import type { GatewayContext } from '../../src/graphql/context.ts';
import { defineModule, type GatewayModule, type Toolkit } from '../../src/modules/index.ts';
import { ModuleError } from '../../src/modules/module.ts';
import { createSchema } from '../../src/modules/schema.ts';
import type { UpstreamClient } from '../../src/upstream/calls.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import type { Script } from '../support/service.ts';

guards('src/upstream/calls/bounded-client.ts', 'CallBudget.createRequest');
guards('src/upstream/transport/body.ts', 'findHeaderProblem');
guards('src/upstream/transport/body.ts', 'readSuccess');
guards('src/upstream/transport/encode-args.ts', 'assertArgs');
guards('src/upstream/transport/encode-args.ts', 'headersOf');
guards('src/upstream/calls.ts', 'readKeyOf');
guards('src/upstream/transport/encode-args.ts', 'fieldsOf');
guards('src/upstream/transport/encode-args.ts', 'isPlainObject');
guards('src/upstream/transport/encode-args.ts', 'requireJson');
guards('src/upstream/calls/recorder.ts', 'createRecorder.curlOf');

// What endpoints declare, and what goes over the wire then. `Object(…)` stands for what the compiler refuses, and JavaScript does not.

type Call = (ctx: GatewayContext, args: { a: string; b: string }) => Promise<unknown>;

/** Returns a module whose fields return what a call returns, as JSON: the query `read`, and the mutation `write`. */
const calling = (declare: (toolkit: Toolkit) => Call): GatewayModule =>
  defineModule('things', (toolkit) => {
    const call = declare(toolkit);
    const { builder, declareCalls, requireScopes } = toolkit;
    const args = { type: 'String', defaultValue: 'a' } as const;
    builder.queryField('read', (t) =>
      t.string({
        nullable: true,
        args: { a: t.arg(args), b: t.arg(args) },
        extensions: { ...requireScopes('things:read'), ...declareCalls('1') },
        resolve: async (_root, { a, b }, ctx) => JSON.stringify(await call(ctx, { a: a ?? '', b: b ?? '' })),
      }),
    );
    builder.mutationField('write', (t) =>
      t.string({
        nullable: true,
        args: { a: t.arg(args), b: t.arg(args) },
        extensions: { ...requireScopes('things:write'), ...declareCalls('1') },
        resolve: async (_root, { a, b }, ctx) => JSON.stringify(await call(ctx, { a: a ?? '', b: b ?? '' })),
      }),
    );
  });

const OK: Script = () => ({ body: { data: { _id: 't1' } } });

const windows = { freshSeconds: 60, staleWhileRevalidateSeconds: 0, staleIfErrorSeconds: 0 };

/** Starts a gateway, whose circuit breaker opens after two failures. */
const start = (declare: (toolkit: Toolkit) => Call, script: Script = OK, options: Partial<GatewayOptions> = {}) =>
  startGateway({ service: script, modules: [calling(declare)], ...options }, { breakerMinimumCalls: 2 });

/** Expects that a module is refused while the schema is built. */
function expectRefused(declare: (toolkit: Toolkit) => unknown, problem: string | RegExp | Error): void {
  const build = () => createSchema(undefined, [defineModule('things', (toolkit) => void declare(toolkit))]);
  expect(build).toThrow(ModuleError);
  expect(build).toThrow(problem);
}

const logged = ({ log }: GatewayWithService): unknown[] =>
  log.flatMap(({ err }) => (err === undefined ? [] : Reflect.get(Object(err), 'message')));

/** Expects that a field fails by a fault of the module, which the log names once, and that nothing is sent, as a mutation says. */
async function expectFault(gateway: GatewayWithService, field: string, problem: unknown): Promise<void> {
  gateway.log.length = 0;
  const { body } = await gateway.send(field, {}, { authorization: 'ApiKey a' });
  const outcome = field.startsWith('mutation') ? 'NOT_APPLIED' : undefined;
  expect(body.errors?.map(({ extensions }) => [extensions.code, extensions.outcome])).toEqual([
    ['INTERNAL_SERVER_ERROR', outcome],
  ]);
  expect(logged(gateway)).toEqual([problem]);
  expect(gateway.service.calls()).toEqual([]);
}

describe('a query', () => {
  it.each([
    ['repeated', {}, '?tag=a&tag=b%2Cc&page=1&deep=true'],
    ['comma', { lists: 'comma' } as const, '?tag=a%2Cb&page=1&deep=true'],
  ])('has lists that are %s, and leaves out null, undefined and empty lists', async (_, options, query) => {
    const tag = 'lists' in options ? ['a', 'b'] : ['a', 'b,c'];
    await using gateway = await start(({ endpoint }) => {
      const list = endpoint('GET /v1/things', { expect: 'value', ...options }).takes<{
        query: { tag: string[]; page: number; deep: boolean; none: string[]; no?: string | undefined; nil: null };
      }>();
      return (ctx) =>
        ctx.upstream.read(list, { query: { tag, page: 1, deep: true, none: [], no: undefined, nil: null } });
    });
    await gateway.run('{ read }');
    expect(gateway.service.calls()).toEqual([`GET /v1/things${query}`]);
  });

  it('is refused with a comma in an item of a list that is separated by commas, and with ill-formed or empty text', async () => {
    await using gateway = await start(({ endpoint }) => {
      const list = endpoint('GET /v1/things', { lists: 'comma' }).takes<{ query: { ids: string[]; text: string } }>();
      return (ctx, { a, b }) => ctx.upstream.read(list, { query: { ids: [a], text: b === 'lone' ? '\ud800' : b } });
    });
    expect(await gateway.run('{ read(a: "x,y") }')).toEqual(['BAD_USER_INPUT']);
    expect(await gateway.run('{ read(b: "lone") }')).toEqual(['BAD_USER_INPUT']);
    expect(await gateway.run('{ read(a: "x", b: "") }')).toEqual(['BAD_USER_INPUT']);
    expect(await gateway.run('{ read(a: "", b: "y") }')).toEqual(['BAD_USER_INPUT']);
    expect(gateway.service.calls()).toEqual([]);
  });

  it('with a value that can’t be sent is a fault of the module, which is logged', async () => {
    let filter: unknown;
    await using gateway = await start(({ endpoint }) => {
      const list = endpoint('GET /v1/things').takes<{ query: { filter: string } }>();
      return (ctx) => ctx.upstream.read(list, { query: { filter: filter as string } });
    });
    for (const [kind, value] of [
      ['object', { name: 'a' }],
      ['object', new Date(0)],
      ['function', () => 1],
      ['symbol', Symbol('a')],
      ['bigint', 1n],
      ['NaN', Number.NaN],
      ['Infinity', Number.POSITIVE_INFINITY],
      ['object', [null]],
      ['a list in a list', [['a']]],
      ['undefined', ['a', undefined]],
    ] satisfies [string, unknown][]) {
      filter = value;
      await expectFault(
        gateway,
        '{ read }',
        `GET /v1/things of the module things was not sent: query.filter must be a text, a finite number, a boolean or a list of them, not ${kind}.`,
      );
    }
  });
});

it('arguments of a call that its endpoint does not have, or of another type, are refused', async () => {
  let args: object;
  await using gateway = await start(({ endpoint }) => {
    const path = '/v1/things/{id}/parts/{partId}' as const;
    const [read, write] = [endpoint(`GET ${path}`), endpoint(`POST ${path}`)];
    return ({ upstream }) =>
      'body' in args && args.body === 'text' ? upstream.write(write, Object(args)) : upstream.read(read, Object(args));
  });
  for (const [method, problem, given] of [
    ['GET', 'it has no argument "partID" (did you mean "partId"?)', { id: '1', partID: '2' }],
    ['GET', 'the argument "partId" must be a text', { id: '1' }],
    ['GET', 'the argument "partId" must be a text', { id: '1', partId: null }],
    ['GET', 'the argument "partId" must be a text', { id: '1', partId: Number.NaN }],
    ['GET', 'it has no argument "body"', { id: '1', partId: '2', body: {} }],
    ['GET', 'it has no argument "headers"', { id: '1', partId: '2', headers: {} }],
    ['GET', 'the argument "query" must be an object', { id: '1', partId: '2', query: 'a=b' }],
    ['POST', 'the argument "body" must be an object', { id: '1', partId: '2', body: 'text' }],
  ] as const) {
    args = given;
    const call = `${method} /v1/things/{id}/parts/{partId}`;
    await expectFault(gateway, 'mutation { write }', `${call} of the module things was not sent: ${problem}.`);
  }
  args = { id: 1, partId: '2' }; // As a service can send it.
  await gateway.run('mutation { write }');
  expect(gateway.service.calls()).toEqual(['GET /v1/things/1/parts/2']);
});

describe('a call of the wrong kind', () => {
  it.each(['GET', 'POST'] as const)('is a fault of the module, and nothing is sent: %s', async (method) => {
    await using gateway = await start(({ endpoint }) => {
      const declared = Object(endpoint(`${method} /v1/things` as 'GET /'));
      return ({ upstream }) => (method === 'GET' ? upstream.write(declared, {}) : upstream.read(declared, {}));
    });
    const kind = method === 'GET' ? 'read' : 'write';
    for (const field of ['{ read }', 'mutation { write }']) {
      expect(await gateway.run(field)).toEqual(['INTERNAL_SERVER_ERROR']);
      const { body } = await gateway.send(field, {}, { authorization: 'ApiKey a', extensions: { explain: true } });
      expect(body.extensions?.explain).toMatchObject({ calls: [] });
    }
    expect(gateway.service.calls()).toEqual([]);
    expect(new Set(logged(gateway))).toEqual(
      new Set([`${method} /v1/things of the module things was not sent: it is a ${kind}; use ctx.upstream.${kind}.`]),
    );
  });

  it.each<[string, string, (toolkit: Toolkit) => unknown]>([
    [
      'a loader that reads with POST',
      'the loader thing reads with POST /v1/things/{id}, which is a write',
      ({ endpoint, loader }) => loader(Object({ name: 'thing', get: endpoint('POST /v1/things/{id}') })),
    ],
    [
      'a loader that reads several as a page',
      "the loader thing reads several with GET /v1/things, which must have expect: 'list', or 'page' with argsOf",
      ({ endpoint, loader }) =>
        loader<object>({
          name: 'thing',
          get: endpoint('GET /v1/things/{id}').returns<object>(),
          many: { endpoint: endpoint('GET /v1/things', { expect: 'page' }).returns<object[]>(), keyOf: () => '1' },
        }),
    ],
    [
      'a mutation that reads',
      'the mutation change sends GET /v1/things, which is a read',
      ({ endpoint, mutation }) =>
        Object(mutation)('change', {
          description: 'Changes.',
          scope: 'things:write',
          endpoint: Object(endpoint('GET /v1/things')),
          resolve: () => ({}),
          success: { description: 'It is done.', fields: () => ({}) },
        }),
    ],
  ])('is refused at load in %s', (_, problem, declare) => expectRefused(declare, problem));
});

it('a page is refused if it is a list or null, has no data, or has data that is no list', async () => {
  let body: unknown;
  await using gateway = await start(
    ({ endpoint }) => {
      const list = endpoint('GET /v1/things', { expect: 'page' });
      return ({ upstream }) => upstream.read(list, {});
    },
    () => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  );
  for (body of [[{ _id: 't1' }], { items: [] }, { data: { _id: 't1' } }, null]) {
    expect([body, await gateway.run('{ read }')]).toEqual([body, ['UPSTREAM_BAD_RESPONSE']]);
  }
});

describe('headers', () => {
  const declare = ({ endpoint }: Toolkit): Call => {
    const get = endpoint('GET /v1/things/{id}', { headers: { 'X-Version': '2', 'Accept-Language': true } });
    return ({ upstream }, { a, b }) =>
      upstream.read(get, { id: a, headers: { 'Accept-Language': b === '' ? null : b } });
  };

  it('are sent as declared, from the call too, without those that are null', async () => {
    await using gateway = await start(declare);
    await gateway.run('{ read(b: "de") }');
    await gateway.run('{ read(b: "") }');
    const sent = gateway.service.requests.map(({ headers }) => [headers['x-version'], headers['accept-language']]);
    expect(sent).toEqual([
      ['2', 'de'],
      ['2', undefined],
    ]);
  });

  it('tell reads apart that are in flight or stored', async () => {
    for (const cached of [undefined, { resource: 'things', windows }]) {
      await using gateway = await start(
        ({ endpoint }) => {
          const get = endpoint('GET /v1/things/{id}', {
            headers: { 'Accept-Language': true },
            ...(cached && { cached }),
          }).returns<object>();
          return ({ upstream }, { a, b }) => upstream.read(get, { id: a, headers: { 'Accept-Language': b } });
        },
        ({ headers }) => ({ body: { language: headers['accept-language'] } }),
        { cache: {} as const },
      );
      const read = '{ de: read(b: "de") fr: read(b: "fr") again: read(b: "de") }';
      const expected = { de: '{"language":"de"}', fr: '{"language":"fr"}', again: '{"language":"de"}' };
      expect(await gateway.run(read)).toEqual(expected);
      expect(gateway.service.calls()).toHaveLength(2);
      expect(await gateway.run(read)).toEqual(expected);
      expect(gateway.service.calls()).toHaveLength(cached === undefined ? 4 : 2);
    }
  });

  it('are refused with values that no header can have', async () => {
    await using gateway = await start(declare);
    for (const value of [String.raw`a\r\nx-injected: 1`, String.raw`a\u0000`, '日本']) {
      expect([value, await gateway.run(`{ read(b: "${value}") }`)]).toEqual([value, ['BAD_USER_INPUT']]);
    }
    expect(gateway.service.calls()).toEqual([]);
  });

  it('with such a value are an InvalidInputError of the field that has it', async () => {
    const replace = defineModule('things', ({ endpoint, mutation }) => {
      mutation('replaceThing', {
        description: 'Replaces a thing.',
        scope: 'things:write',
        endpoint: endpoint('PUT /v1/things/{id}', { headers: { 'If-Match': true } }),
        input: {
          description: 'The thing.',
          fields: (t) => ({
            id: t.id({ required: true, description: 'Its id.' }),
            version: t.string({ description: 'Its version.' }),
          }),
        },
        inputPath: { 'If-Match': 'version' },
        resolve: async ({ id, version }, send) => ({ id, sent: await send({ id, headers: { 'If-Match': version } }) }),
        success: {
          description: 'It is replaced.',
          fields: (t) => ({ id: t.exposeID('id', { description: 'Its id.' }) }),
        },
      });
    });
    await using gateway = await startGateway({ service: OK, modules: [replace] });
    const run = (version: string) =>
      gateway.run(
        `mutation { replaceThing(input: { id: "1", version: ${version} }) {
          __typename ... on InvalidInputError { issues { path message } }
        } }`,
      );
    expect(await run('"日本"')).toEqual({
      replaceThing: {
        __typename: 'InvalidInputError',
        issues: [{ path: ['input', 'version'], message: 'If-Match must be a single line of Latin-1 characters.' }],
      },
    });
    expect(gateway.service.calls()).toEqual([]);
    for (const version of ['null', String.raw`"\"v1\""`]) {
      expect(await run(version)).toEqual({ replaceThing: { __typename: 'ReplaceThingSuccess' } });
    }
    expect(gateway.service.requests.map(({ headers }) => headers['if-match'])).toEqual([undefined, '"v1"']);
  });

  it('that the endpoint does not declare, or that are no texts, are a fault of the module', async () => {
    let headers: object;
    await using gateway = await start(({ endpoint }) => {
      const get = endpoint('GET /v1/things', { headers: { 'X-Version': '2', 'Accept-Language': true } });
      return ({ upstream }) => upstream.read(get, Object({ headers }));
    });
    const given = [{ 'Accept-Langage': 'de' }, { 'X-Version': '3' }, { 'Accept-Language': 5 }, { Authorization: 'x' }];
    for (headers of given) {
      const problem = expect.stringMatching(/of the module things was not sent: .* header "/);
      await expectFault(gateway, '{ read }', problem);
    }
  });

  it('and forms are in the command that explain shows', async () => {
    await using gateway = await start(({ endpoint, mutation }) => {
      const create = endpoint('POST /v1/things', {
        bodyFormat: 'form',
        headers: { 'X-Version': '2', 'X-Reason': true },
      }).takes<{
        body: { name: string };
      }>();
      mutation('apply', {
        description: 'Applies.',
        scope: 'things:write',
        endpoint: create,
        input: { description: 'It.', fields: (t) => ({ a: t.string({ required: true }) }) },
        resolve: async ({ a }, send) => ({ sent: await send({ body: { name: 'a b' }, headers: { 'X-Reason': a } }) }),
        success: { description: 'Done.', fields: (t) => ({ done: t.boolean({ resolve: () => true }) }) },
      });
      return async () => null;
    });
    const explain = async (reason: string) => {
      const { body } = await gateway.send(
        'mutation ($a: String!) { apply(input: { a: $a }) { __typename } }',
        { a: reason },
        { extensions: { explain: true }, authorization: 'ApiKey secret-key-1' },
      );
      return JSON.stringify(body.extensions);
    };
    expect(await explain("it's")).toContain(
      String.raw`--header 'Content-Type: application/x-www-form-urlencoded' --header 'X-Version: 2' --header 'X-Reason: it'\\''s' --data-raw 'name=a+b'`,
    );
    expect(await explain('')).toContain("--header 'X-Reason;' ");
    expect(await explain('secret-key-1')).not.toContain('secret-key-1');
    expect(gateway.service.calls()).toEqual([]);
  });
});

describe('a body in the format form', () => {
  const declare = ({ endpoint }: Toolkit): Call => {
    const send = endpoint('POST /v1/things', { bodyFormat: 'form', multiline: ['note'] }).takes<{ body: object }>();
    return async ({ upstream }, { a }) => (await upstream.write(send, { body: JSON.parse(a) })).body;
  };
  const write = (body: unknown) => `mutation { write(a: ${JSON.stringify(JSON.stringify(body))}) }`;

  it('is sent encoded, with repeated lists', async () => {
    await using gateway = await start(declare);
    await gateway.run(write({ name: 'a & b', tags: ['x', 'y'], count: 1, on: true, none: null, note: 'a\nb' }));
    expect(gateway.service.requests.map(({ headers, body }) => [headers['content-type'], body])).toEqual([
      ['application/x-www-form-urlencoded', 'name=a+%26+b&tags=x&tags=y&count=1&on=true&none=&note=a%0Ab'],
    ]);
  });

  it('has nested members in brackets', async () => {
    await using gateway = await start(declare);
    await gateway.run(write({ a: { b: 1, c: { d: null }, tags: ['x', 'y'] }, parts: [{ n: 1 }, { n: 2 }], empty: {} }));
    const [{ body = '' } = {}] = gateway.service.requests;
    expect(decodeURIComponent(body)).toBe('a[b]=1&a[c][d]=&a[tags]=x&a[tags]=y&parts[0][n]=1&parts[1][n]=2');
  });

  it('is refused with values that no form has', async () => {
    let deep = {};
    for (let i = 0; i < 30; i += 1) {
      deep = { deep };
    }
    let body: unknown;
    await using gateway = await start(({ endpoint }) => {
      const send = endpoint('POST /v1/things', { bodyFormat: 'form' }).takes<{ body: object }>();
      return ({ upstream }) => upstream.write(send, { body: Object(body) });
    });
    for (body of [{ a: [[1]] }, ['a'], { at: new Date(0) }, { a: [{ at: new Map() }] }, deep]) {
      await expectFault(gateway, 'mutation { write }', expect.stringContaining('was not sent'));
    }
  });
});

describe('a text', () => {
  const declare = ({ endpoint }: Toolkit): Call => {
    const get = endpoint('GET /v1/things/{id}.csv', { expect: 'text' });
    return ({ upstream }, { a }) => upstream.read(get, { id: a });
  };

  it.each<[string, Awaited<ReturnType<Script>>, unknown]>([
    ['of any media type', { headers: { 'content-type': 'text/csv' }, body: 'a,b\n1,2' }, 'a,b\n1,2'],
    ['of JSON', { headers: { 'content-type': 'application/json' }, body: '{"a":1}' }, '{"a":1}'],
    ['that is empty', { status: 204 }, ''],
    ['that is empty, and said to be compressed', { headers: { 'content-encoding': 'gzip' }, body: '' }, ''],
    [
      'that does not exist',
      { status: 404, headers: { 'content-type': 'application/json' }, body: '{"message":"x"}' },
      null,
    ],
  ])('%s is read', async (_, response, text) => {
    await using gateway = await start(declare, () => response);
    expect(await gateway.run('{ read }')).toEqual({ read: JSON.stringify(text) });
    expect(gateway.service.requests[0]?.headers.accept).toBe('*/*');
  });

  it('is stored as it is', async () => {
    await using gateway = await start(
      ({ endpoint }) => {
        const get = endpoint('GET /v1/things/{id}.csv', { expect: 'text', cached: { resource: 'things', windows } });
        return ({ upstream }, { a }) => upstream.read(get, { id: a });
      },
      () => ({ headers: { 'content-type': 'text/csv' }, body: 'a,b' }),
      { cache: {} as const },
    );
    for (let i = 0; i < 2; i += 1) {
      expect(await gateway.run('{ read }')).toEqual({ read: '"a,b"' });
    }
    expect(gateway.service.calls()).toEqual(['GET /v1/things/a.csv']);
  });

  it.each<[string, Awaited<ReturnType<Script>>]>([
    [
      'a page instead of a record that is missing',
      { status: 404, headers: { 'content-type': 'text/html' }, body: '<p>' },
    ],
    ['bytes that are not UTF-8', { headers: { 'content-type': 'text/plain' }, body: Buffer.from([0xff]) }],
    ['a compressed body', { headers: { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, body: 'a' }],
    ['more bytes than allowed', { headers: { 'content-type': 'text/plain' }, body: 'a'.repeat(5 * 1024 * 1024 + 1) }],
  ])('is refused with %s', async (_, response) => {
    await using gateway = await start(declare, () => response);
    expect(await gateway.run('{ read }')).toEqual(['UPSTREAM_BAD_RESPONSE']);
  });
});

describe('a time limit', () => {
  it('ends an attempt, which does not count as an outage if it is shorter than that of the gateway', async () => {
    await using gateway = await start(
      ({ endpoint }) => {
        const get = endpoint('GET /v1/things/{id}', { timeoutMs: 50 });
        return ({ upstream }, { a }) => upstream.read(get, { id: a });
      },
      () => undefined,
      { maxRetries: 0 },
    );
    for (let i = 0; i < 3; i += 1) {
      expect(await gateway.run('{ read }')).toEqual(['UPSTREAM_TIMEOUT']);
    }
  });

  it('can be longer than that of the gateway, but not than the operation’s', async () => {
    await using gateway = await start(
      ({ endpoint }) => {
        const get = endpoint('GET /v1/things/{id}', { timeoutMs: 60_000 });
        return ({ upstream }, { a }) => upstream.read(get, { id: a });
      },
      () => undefined,
      { attemptTimeoutMs: 50, operationTimeoutMs: 500 },
    );
    expect(await gateway.run('{ read }')).toEqual(['UPSTREAM_TIMEOUT']);
    expect(gateway.service.calls()).toHaveLength(1); // Else the attempt would have been repeated.
  });
});

describe('a path', () => {
  it.each<[`GET /${string}`, string]>([
    ['GET /v1/things/{a}:archive', '/v1/things/x%3A1:archive'],
    ['GET /v1/things/{a}.json', '/v1/things/x%3A1.json'],
    ['GET /v1/things:search', '/v1/things:search'],
    ['GET /v1/u-{a}/parts', '/v1/u-x%3A1/parts'],
    ['GET /v1/{a},{b}/parts', '/v1/x%3A1,a/parts'],
  ])('can be %s', async (template, path) => {
    await using gateway = await start(({ endpoint }) => {
      const get = endpoint(template);
      return ({ upstream }, args) =>
        upstream.read(get, Object.fromEntries(get.params.map((name) => [name, Reflect.get(args, name)])));
    });
    await gateway.run('{ read(a: "x:1") }');
    expect(gateway.service.calls()).toEqual([`GET ${path}`]);
    expect(await gateway.metrics()).toContain(template.slice('GET '.length));
  });

  it.each([
    '/v1/{a}{b}',
    '/v1/{a}-{b}',
    '/v1/{a}.',
    '/v1/{a}..',
    '/v1/.{a}',
    '/v1/.',
    '/v1/{a',
    '/v1/:archive',
    '/v1/{a}:',
    '/v1/..%2fadmin',
    '//evil.example/x',
    '/v1/../admin',
    '/v1/a?b=c',
    'https://evil.example/x',
  ])('can’t be %s', (path) =>
    expectRefused(({ endpoint }) => endpoint(`GET ${path}` as 'GET /'), /must be a method and a path/),
  );
});

describe('options', () => {
  const RESERVED = (
    'accept AUTHORIZATION Connection content-length Content-Type cookie host Idempotency-Key if-none-match ' +
    'Proxy-Authorization te traceparent tracestate Transfer-Encoding user-agent X-HTTP-Method-Override X-Request-Id'
  ).split(' ');

  it.each<readonly [string, object, string]>([
    ['GET', { expects: 'list' }, 'it has the unknown option "expects" (did you mean "expect"?)'],
    ['GET', { expect: 'lists' }, 'expect must be record, list, page, value, text or nothing'],
    ['GET', { timeoutMs: 0 }, 'timeoutMs must be a whole number from 1 to 600000'],
    ['GET', { timeoutMs: '5' }, 'timeoutMs must be a whole number from 1 to 600000'],
    ['GET', { lists: 'commas' }, 'lists must be repeated or comma'],
    ['GET', { identifiedBy: '_id' }, 'identifiedBy must be a list of texts'],
    ['GET', { response: 'x' }, 'response must be a shape'],
    ['GET', { cached: true }, 'cached must be an object with a resource'],
    ['GET', { cached: { resource: 'things' } }, 'cached must have windows'],
    [
      'GET',
      { cached: { resource: 'things', window: windows } },
      'cached has the unknown option "window" (did you mean "windows"?); cached must have windows',
    ],
    [
      'GET',
      { cached: { resource: 'a', windows: { freshSeconds: 1, staleIfErrorSeconds: 1 } } },
      'cached.windows.staleWhileRevalidateSeconds must be a whole number from 0 to 86400',
    ],
    [
      'GET',
      { cached: { resource: 'a', windows: { ...windows, freshSeconds: 259_200 } } },
      'cached.windows.freshSeconds must be a whole number from 1 to 86400',
    ],
    ['GET', { idempotent: true }, "idempotent can't be used with GET"],
    ['GET', { empties: [], multiline: [] }, "empties can't be used with GET; multiline can't be used with GET"],
    ['POST', { cached: { resource: 'a', windows } }, "cached can't be used with POST"],
    ['POST', { idempotent: 'yes' }, 'idempotent must be true or false'],
    ['POST', { bodyFormat: 'xml' }, 'bodyFormat must be json or form'],
    ['GET', { expect: 'text', identifiedBy: ['_id'] }, "identifiedBy can't be used with text"],
    ['GET', { headers: ['X-A'] }, 'headers must be an object'],
    ['GET', { headers: { 'X-A': 5 } }, 'headers.X-A must be true, or a text without control characters'],
    ['GET', { headers: { 'X-A': 'a\nb' } }, 'headers.X-A must be true, or a text without control characters'],
    ['GET', { headers: { 'X A': 'a' } }, "headers has X A, which an endpoint can't declare"],
    ...RESERVED.map(
      (name) => ['GET', { headers: { [name]: true } }, `headers has ${name}, which an endpoint can't declare`] as const,
    ),
  ])('of %s are refused: %j', (method, options, problem) =>
    expectRefused(
      ({ endpoint }) => endpoint(`${method} /v1/things` as 'GET /', Object(options)),
      new ModuleError(`the module things fails: TypeError: The endpoint ${method} /v1/things is invalid: ${problem}.`),
    ),
  );

  it.each(['workflow', 'notificationGroups'])('are refused with %s in empties, which no cached read has', (name) =>
    expectRefused(
      ({ endpoint }) => endpoint('POST /v1/a', { empties: [name] }),
      new ModuleError(
        `POST /v1/a of the module things empties the unknown kind of cached reads "${name}" (did you mean "workflows"?)`,
      ),
    ),
  );
});

it('a body that JSON does not have is a fault of the module, and no outage of the service', async () => {
  const containsItself: Record<string, unknown> = {};
  containsItself.self = containsItself;
  let body: object;
  await using gateway = await start(({ endpoint }) => {
    const send = endpoint('POST /v1/things').takes<{ body: object }>();
    return ({ upstream }) => upstream.write(send, { body });
  });
  for (const given of [
    { price: 5n },
    containsItself,
    new Map([['price', 5]]),
    { price: Number.NaN },
    { prices: [1, Number.POSITIVE_INFINITY] },
    { price: () => 5 },
    [Symbol('price')],
    new URLSearchParams('price=5'),
  ]) {
    body = given;
    const problem = expect.stringMatching(/of the module things was not sent: .*body/);
    await expectFault(gateway, 'mutation { write }', problem);
  }
  expect(await gateway.run('{ notificationGroups { name } }')).not.toEqual(['UPSTREAM_UNAVAILABLE']);
});

it('the testing kit knows actions, texts, forms, lists and headers', async () => {
  const things = defineModule('things', ({ builder, declareCalls, endpoint, requireScopes }) => {
    const get = endpoint('GET /v1/things/{id}');
    const getText = endpoint('GET /v1/things/{id}.csv', { expect: 'text', headers: { 'X-Version': '2' } }).takes<{
      query: { tag: string[] };
    }>();
    const replace = endpoint('POST /v1/things/{id}');
    const archive = endpoint('POST /v1/things/{id}:archive', { bodyFormat: 'form' }).takes<{
      body: { tag: string[] };
    }>();
    const fieldOf = (call: (upstream: UpstreamClient) => Promise<unknown>) =>
      ({
        type: 'JSON',
        nullable: true,
        extensions: { ...requireScopes('things:read'), ...declareCalls('1') },
        resolve: (_root: unknown, _args: object, { upstream }: GatewayContext) => call(upstream),
      }) as const;
    builder.queryFields((t) => ({
      text: t.field(fieldOf(({ read }) => read(getText, { id: 'a:b', query: { tag: ['x', 'y'] } }))),
      thing: t.field(fieldOf(({ read }) => read(get, { id: '1' }))),
    }));
    builder.mutationFields((t) => ({
      replace: t.field(fieldOf(({ write }) => write(replace, { id: '1' }))),
      archive: t.field(fieldOf(({ write }) => write(archive, { id: '1', body: { tag: ['x', 'y'] } }))),
    }));
  });
  await using gateway = await createTestGateway({
    modules: [things],
    endpoints: {
      'GET /v1/things/{id}': () => ({ body: { _id: '1' } }),
      'GET /v1/things/{id}.csv': () => ({ headers: { 'Content-Type': 'text/csv' }, body: 'a,b' }),
      'POST /v1/things/{id}': () => ({ body: {} }),
      'POST /v1/things/{id}:archive': () => ({ body: {} }),
    },
  });
  expect(await gateway.client.request('{ text thing }')).toMatchObject({ data: { text: 'a,b', thing: { _id: '1' } } });
  expect(await gateway.client.request('mutation { replace archive }')).not.toHaveProperty('errors');
  expect(
    gateway.calls.map(({ endpoint, params, query, headers, body }) => [
      endpoint,
      params,
      query,
      headers['x-version'],
      body,
    ]),
  ).toEqual([
    ['GET /v1/things/{id}.csv', { id: 'a:b' }, { tag: 'x,y' }, '2', undefined],
    ['GET /v1/things/{id}', { id: '1' }, {}, undefined, undefined],
    ['POST /v1/things/{id}', { id: '1' }, {}, undefined, undefined],
    ['POST /v1/things/{id}:archive', { id: '1' }, {}, undefined, { tag: 'x,y' }],
  ]);
});
