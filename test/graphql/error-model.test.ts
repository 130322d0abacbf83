import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { startGateway, startScriptedGateway, type TestGateway } from '../support/gateway.ts';
import { feed, group, workflow } from '../support/records.ts';
import { HEAD, type Script, type ServiceResponse, startService } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

const KEY = 'canary-key-8d1f';
const AUTHORIZATION = { authorization: `ApiKey ${KEY}` };

const READ = 'query { workflow(idOrIdentifier: "w1") { id name } }';
const CREATE = 'mutation { createFeed(input: { name: "News" }) { ...result } }';
const RENAME = 'mutation { updateNotificationGroup(input: { id: "g1", name: "New" }) { ...result } }';
const DELETE_MESSAGES = 'mutation { deleteMessagesByTransaction(input: { transactionId: "t1" }) { ...result } }';
const RESULT = `
  fragment result on MutationError {
    __typename code message
    ... on NotFoundError { resource requestedId }
    ... on ConflictError { reason }
    ... on InvalidInputError { issues { path message } }
  }`;

const READ_ROUTE = { method: 'GET', route: '/v1/workflows/{workflowIdOrIdentifier}' };
const CREATE_ROUTE = { method: 'POST', route: '/v1/feeds' };

/** Starts a gateway in front of a scripted upstream; `run()` returns the result and the error of an operation. */
async function startScenario(script: Script, gatewayOptions = {}) {
  const upstream = await startService(script);
  const gateway = await startGateway({ upstream: upstream.url, ...gatewayOptions });
  const run = async (document: string) => {
    const { status, body } = await gateway.send(
      document.startsWith('query') ? document : document + RESULT,
      {},
      AUTHORIZATION,
    );
    expect(status).toBe(200);
    expect(JSON.stringify([body, gateway.log])).not.toContain(KEY);
    const [error] = body.errors ?? [];
    const result = Object.values(body.data ?? {})[0];
    const described: Record<string, unknown> | undefined = error && { message: error.message, ...error.extensions };
    return { result, error: described };
  };
  return {
    run,
    calls: upstream.requests,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

const errorResponse = (status: number, message: unknown = 'What the service says.'): ServiceResponse => ({
  status,
  body: { statusCode: status, message, path: '/v1/secret-path', error: 'x' },
});

describe('a failure that a client can act on is returned in the result union', () => {
  it.each([
    [
      '400',
      errorResponse(400),
      { __typename: 'InvalidInputError', code: 'INVALID_INPUT', message: 'What the service says.' },
    ],
    ['422', errorResponse(422), { __typename: 'InvalidInputError', code: 'INVALID_INPUT' }],
    ['409', errorResponse(409), { __typename: 'ConflictError', code: 'CONFLICT', reason: 'ALREADY_EXISTS' }],
  ])('for a %s on createFeed', async (_, answer, expected) => {
    await using gateway = await startScenario(() => answer);
    expect(await gateway.run(CREATE)).toEqual({ result: expect.objectContaining(expected), error: undefined });
    expect(gateway.calls).toHaveLength(1);
  });

  it.each([404, 410])('for a %i on updateNotificationGroup and deleteMessagesByTransaction', async (status) => {
    await using gateway = await startScenario(() => ({ status, body: {} }));
    const expected = { __typename: 'NotFoundError', code: 'NOT_FOUND' };
    expect((await gateway.run(RENAME)).result).toMatchObject({
      ...expected,
      resource: 'NotificationGroup',
      requestedId: 'g1',
    });
    expect((await gateway.run(DELETE_MESSAGES)).result).toMatchObject({
      ...expected,
      resource: 'Transaction',
      requestedId: 't1',
    });
  });

  it('for a 400 on deleteFeed: NotFoundError if the message says so', async () => {
    const deleteFeed = async (message: string) => {
      await using gateway = await startScenario(() => errorResponse(400, message));
      return (await gateway.run('mutation { deleteFeed(input: { id: "f1" }) { ...result } }')).result;
    };
    for (const message of ['Could not find feed with id f1', 'Feed f1 was not found', 'The feed does not exist.']) {
      expect(await deleteFeed(message)).toMatchObject({
        code: 'NOT_FOUND',
        resource: 'Feed',
        requestedId: 'f1',
        message,
      });
    }
    for (const message of ['The feed f1 is used by a workflow.', 'This feed cannot be deleted']) {
      expect(await deleteFeed(message)).toMatchObject({ code: 'INVALID_INPUT', message });
    }
  });

  it('with the input field that the service rejected', async () => {
    await using gateway = await startScenario(() =>
      errorResponse(422, ['name must be shorter than 3 characters', 'something else']),
    );
    expect((await gateway.run(CREATE)).result).toMatchObject({
      message: 'name must be shorter than 3 characters; something else',
      issues: [
        { path: ['input', 'name'], message: 'name must be shorter than 3 characters' },
        { path: ['input'], message: 'something else' },
      ],
    });
  });
});

describe('a failure without a type in the union is an error', () => {
  it('for a 404 on a create', async () => {
    await using gateway = await startScenario(() => errorResponse(404));
    expect(await gateway.run(CREATE)).toMatchObject({
      result: null,
      error: { code: 'UPSTREAM_ERROR', outcome: 'NOT_APPLIED' },
    });
  });

  it('for a 409 on a message deletion', async () => {
    await using gateway = await startScenario(() => errorResponse(409));
    expect(await gateway.run(DELETE_MESSAGES)).toMatchObject({ result: null, error: { code: 'UPSTREAM_ERROR' } });
  });
});

describe('a read', () => {
  it.each([404, 410])('returns null without an error for a %i', async (status) => {
    await using gateway = await startScenario(() => errorResponse(status));
    expect(await gateway.run(READ)).toEqual({ result: null, error: undefined });
    expect(await gateway.run('query { notificationGroup(id: "g1") { id } }')).toEqual({
      result: null,
      error: undefined,
    });
  });

  it.each([
    [400, { code: 'BAD_USER_INPUT', message: 'What the service says.', retryable: false }],
    [401, { code: 'UNAUTHENTICATED', message: 'What the service says.', retryable: false }],
    [402, { code: 'FORBIDDEN', message: "This API key's plan does not include this action." }],
    [403, { code: 'FORBIDDEN', message: 'What the service says.' }],
    [409, { code: 'UPSTREAM_ERROR', message: 'What the service says.' }],
    [418, { code: 'UPSTREAM_ERROR', message: 'The notification service rejected the request (status 418).' }],
    [422, { code: 'BAD_USER_INPUT' }],
    [429, { code: 'RATE_LIMITED', retryable: true }],
    [500, { code: 'UPSTREAM_ERROR', message: 'The notification service failed on this request.', retryable: false }],
    [501, { code: 'UPSTREAM_ERROR' }],
    [502, { code: 'UPSTREAM_UNAVAILABLE', retryable: true }],
    [503, { code: 'UPSTREAM_UNAVAILABLE', retryable: true }],
    [504, { code: 'UPSTREAM_TIMEOUT', retryable: true }],
    [505, { code: 'UPSTREAM_ERROR' }],
  ])('reports a %i', async (status, expected) => {
    await using gateway = await startScenario(() => errorResponse(status));
    const { result, error } = await gateway.run(READ);
    expect(result).toBeNull();
    expect(error).toMatchObject({ ...expected, requestId: expect.any(String), upstream: { ...READ_ROUTE, status } });
    expect(error).not.toHaveProperty('outcome');
  });
});

describe('a write', () => {
  it.each([
    [401, 'UNAUTHENTICATED', 'NOT_APPLIED'],
    [403, 'FORBIDDEN', 'NOT_APPLIED'],
    [418, 'UPSTREAM_ERROR', 'NOT_APPLIED'],
    [429, 'RATE_LIMITED', 'NOT_APPLIED'],
    [500, 'UPSTREAM_ERROR', 'UNKNOWN'],
    [501, 'UPSTREAM_ERROR', 'UNKNOWN'],
    [502, 'UPSTREAM_UNAVAILABLE', 'UNKNOWN'],
    [503, 'UPSTREAM_UNAVAILABLE', 'UNKNOWN'],
    [504, 'UPSTREAM_TIMEOUT', 'UNKNOWN'],
  ])('reports a %i as %s with the outcome %s', async (status, code, outcome) => {
    await using gateway = await startScenario(() => errorResponse(status));
    const { result, error } = await gateway.run(CREATE);
    expect(result).toBeNull();
    expect(error).toMatchObject({ code, outcome, upstream: { ...CREATE_ROUTE, status } });
    expect(error?.retryable).toBe(status === 429);
    expect(gateway.calls).toHaveLength(status === 429 ? 3 : 1);
  });

  it('says in its message that the outcome is unknown', async () => {
    await using gateway = await startScenario(() => errorResponse(503));
    expect((await gateway.run(CREATE)).error?.message).toMatch(/may have been applied/);
  });
});

describe('a response that violates the contract is UPSTREAM_BAD_RESPONSE', () => {
  const html = { headers: { 'content-type': 'text/html' }, body: `<p>${KEY}</p>` };
  const answers: [string, ServiceResponse][] = [
    ['HTML', html],
    ['half of a JSON body', { body: '{' }],
    ['null', { body: 'null' }],
    ['{"data":null}', { body: { data: null } }],
    ['no content', { status: 204 }],
    ['an empty body', { body: '' }],
    ['text', { body: '"text"' }],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:9/' }, body: '' }],
  ];

  it.each(answers)('if it is %s instead of an object', async (_, answer) => {
    await using gateway = await startScenario(() => answer);
    expect(await gateway.run(READ)).toMatchObject({
      result: null,
      error: { code: 'UPSTREAM_BAD_RESPONSE', retryable: false },
    });
    expect(await gateway.run(CREATE)).toMatchObject({
      result: null,
      error: { code: 'UPSTREAM_BAD_RESPONSE', outcome: 'UNKNOWN' },
    });
    expect(gateway.calls).toHaveLength(2);
  });

  it('if it is an array instead of an object, or an object instead of an array', async () => {
    await using gateway = await startScenario(({ path }) => ({
      body: { data: path === '/v1/notification-groups' ? group() : [] },
    }));
    expect((await gateway.run(READ)).error).toMatchObject({ code: 'UPSTREAM_BAD_RESPONSE' });
    expect((await gateway.run('query { notificationGroups { id } }')).error).toMatchObject({
      code: 'UPSTREAM_BAD_RESPONSE',
    });
  });

  it('if its list contains anything but objects', async () => {
    await using gateway = await startScenario(() => ({ body: [null] }));
    expect((await gateway.run('query { notificationStats { key } }')).error).toMatchObject({
      code: 'UPSTREAM_BAD_RESPONSE',
    });
  });

  it('if it is not UTF-8', async () => {
    const [before = '', after = ''] = JSON.stringify({ data: workflow({ name: 'N?N' }) }).split('?');
    await using gateway = await startScenario(() => ({
      body: Buffer.concat([Buffer.from(before), Buffer.from([0xff]), Buffer.from(after)]),
    }));
    expect((await gateway.run(READ)).error).toMatchObject({ code: 'UPSTREAM_BAD_RESPONSE' });
  });

  it('if it is compressed, although the gateway accepts no compression', async () => {
    await using gateway = await startScenario(() => ({
      headers: { 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify(workflow())),
    }));
    expect((await gateway.run(READ)).error).toMatchObject({ code: 'UPSTREAM_BAD_RESPONSE' });
    await using lying = await startScenario(() => ({
      headers: { 'content-encoding': 'gzip' },
      body: { data: workflow() },
    }));
    expect((await lying.run(READ)).error).toMatchObject({ code: 'UPSTREAM_BAD_RESPONSE' });
  });

  it('if its list is longer than allowed', async () => {
    const list = (length: number) => ({ body: { data: Array.from({ length }, () => group()) } });
    const query = 'query { notificationGroups { name } }';
    const refused = { code: 'UPSTREAM_BAD_RESPONSE', message: 'The notification service sent an invalid response.' };
    await using limited = await startScenario(() => list(4), { maxUpstreamListItems: 3 });
    expect((await limited.run(query)).error).toMatchObject(refused);
    await using within = await startScenario(() => list(3), { maxUpstreamListItems: 3 });
    expect((await within.run(query)).result).toHaveLength(3);
    await using usual = await startScenario(() => list(10_001));
    expect((await usual.run(query)).error).toMatchObject(refused);
  });

  it('if its body exceeds 5 MiB or never ends', async () => {
    let cutOff = 0;
    await using gateway = await startScenario((_, { send, flood, closed }) => {
      void closed.then(() => {
        cutOff += 1;
      });
      send(`${HEAD}transfer-encoding: chunked\r\n\r\n`);
      flood(Buffer.from(`40000\r\n${' '.repeat(0x40000)}\r\n`));
    });
    expect((await gateway.run(READ)).error).toMatchObject({ code: 'UPSTREAM_BAD_RESPONSE' });
    await expect.poll(() => cutOff).toBe(1);
  });

  it.each([
    ['is missing', { name: undefined }],
    ['is null', { name: null }],
    ['is an object', { name: {} }],
  ])('only for the field if a required field %s', async (_, broken) => {
    await using gateway = await startScenario(() => ({ body: { data: { ...workflow(), ...broken } } }));
    const { result, error } = await gateway.run(READ);
    expect(result).toBeNull();
    expect(error).toMatchObject({
      code: 'UPSTREAM_BAD_RESPONSE',
      message: expect.stringContaining('sent an invalid value'),
    });
    expect(await gateway.run('query { workflow(idOrIdentifier: "w1") { id active } }')).toEqual({
      result: { id: 'w1', active: true },
      error: undefined,
    });
  });

  it('only for the field if a list is a number', async () => {
    await using gateway = await startScenario(() => ({ body: { data: { ...workflow(), steps: 7 } } }));
    const { error } = await gateway.run('query { workflow(idOrIdentifier: "w1") { steps { id } } }');
    expect(error).toMatchObject({
      code: 'UPSTREAM_BAD_RESPONSE',
      message: expect.stringContaining('sent an invalid value'),
    });
  });

  it('with the outcome UNKNOWN after a write', async () => {
    await using gateway = await startScenario(() => ({ status: 201, body: { data: { ...feed(), name: null } } }));
    const document =
      'mutation { createFeed(input: { name: "n" }) { ... on CreateFeedSuccess { feed { name } } ...result } }';
    expect(await gateway.run(document)).toMatchObject({
      result: null,
      error: { code: 'UPSTREAM_BAD_RESPONSE', outcome: 'UNKNOWN' },
    });
  });
});

it('a required argument that is null is BAD_USER_INPUT, without an upstream call', async () => {
  await using gateway = await startScriptedGateway(() => ({ body: { data: workflow() } }));
  const document = 'query ($id: ID = "w1") { workflow(idOrIdentifier: $id) { name } }';
  const { body, codes } = await gateway.send(document, { id: null });
  expect([body.data, codes]).toEqual([{ workflow: null }, ['BAD_USER_INPUT']]);
  expect(gateway.service.requests).toEqual([]);
});

describe('the gateway accepts', () => {
  it('a workflow without deletedAt, deletedBy and description', async () => {
    await using gateway = await startScenario(() => ({ body: { data: workflow() } }));
    expect(await gateway.run('query { workflow(idOrIdentifier: "w1") { deletedAt deletedBy description } }')).toEqual({
      result: { deletedAt: null, deletedBy: null, description: null },
      error: undefined,
    });
  });

  it.each([
    ['204', { status: 204 }],
    ['an empty 200', { body: '' }],
    ['a 200 with a body', { body: { data: { anything: true } } }],
    ['a 200 with HTML', { headers: { 'content-type': 'text/html' }, body: '<p>ok</p>' }],
  ])('%s after a deletion of messages', async (_, answer) => {
    await using gateway = await startScenario(() => answer);
    const document = `mutation { deleteMessagesByTransaction(input: { transactionId: "t1", channel: IN_APP }) {
      ... on DeleteMessagesByTransactionSuccess { transactionId channel } ...result } }`;
    expect((await gateway.run(document)).result).toEqual({ transactionId: 't1', channel: 'IN_APP' });
    expect(gateway.calls[0]?.path).toBe('/v1/messages/transaction/t1?channel=in_app');
  });

  it('an unknown channel in the statistics, which is omitted and logged', async () => {
    await using gateway = await startScriptedGateway(() => ({
      body: [{ _id: '2026-01-01', count: 1, templates: [], channels: ['email', 'carrier_pigeon'] }],
    }));
    expect(await gateway.data('{ notificationStats { channels } }')).toEqual({
      notificationStats: [{ channels: ['EMAIL'] }],
    });
    expect(gateway.log).toContainEqual(expect.objectContaining({ kind: 'unknown_value', path: '[].channels[]' }));
  });
});

describe('the service’s message', () => {
  it('is stripped of control characters and truncated to 500 characters', async () => {
    await using gateway = await startScenario(() => errorResponse(400, `line one\r\nline two\u0000${'x'.repeat(600)}`));
    const { message } = (await gateway.run(READ)).error ?? {};
    expect(message).toMatch(/^line one line two x+…$/);
    expect(message).toHaveLength(500);
  });

  it('is dropped if it contains the key', async () => {
    await using gateway = await startScenario(() => errorResponse(401, `The key ${KEY} is not known.`));
    expect((await gateway.run(READ)).error?.message).toBe('The notification service does not accept this API key.');
  });

  it.each([
    ['a list', ['One.', 'Two.'], 'One.; Two.'],
    ['an object', { message: ['Inner.'] }, 'Inner.'],
    ['a number', 5, 'The notification service rejected the input.'],
  ])('may come as %s', async (_, message, expected) => {
    await using gateway = await startScenario(() => errorResponse(422, message));
    expect((await gateway.run(READ)).error?.message).toBe(expected);
  });

  it('is never shown for a 500, but its error id is', async () => {
    await using gateway = await startScenario(() => ({
      status: 500,
      body: { message: 'SELECT * FROM', errorId: 'e-42' },
    }));
    expect((await gateway.run(READ)).error).toMatchObject({
      message: 'The notification service failed on this request.',
      errorId: 'e-42',
    });
  });

  it('of an HTML page is not shown', async () => {
    await using gateway = await startScenario(() => ({
      status: 403,
      headers: { 'content-type': 'text/html' },
      body: '<h1>WAF</h1>',
    }));
    expect((await gateway.run(READ)).error?.message).toBe('This API key is not permitted to do this.');
  });
});

describe('Retry-After', () => {
  it.each([
    ['7', 7],
    ['a date', expect.closeTo(60, -1)],
    ['soon', undefined],
  ])('of %s is passed on in seconds', async (text, expected) => {
    const header = text === 'a date' ? new Date(Date.now() + 60_000).toUTCString() : text;
    await using gateway = await startScenario(() => ({ ...errorResponse(429), headers: { 'retry-after': header } }));
    expect((await gateway.run(CREATE)).error?.retryAfterSeconds).toEqual(expected);
  });
});

describe('a failure of the connection', () => {
  const refusedUrl = async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    await new Promise((resolve) => server.close(resolve));
    return `http://127.0.0.1:${typeof address === 'object' && address?.port}`;
  };
  const codes = async (gateway: TestGateway, document: string) =>
    (await gateway.send(document + RESULT)).body.errors?.[0]?.extensions;

  it('that is refused is UPSTREAM_UNAVAILABLE, and a write is NOT_APPLIED', async () => {
    await using gateway = await startGateway({ upstream: await refusedUrl() });
    expect((await gateway.send(READ)).body.errors?.[0]?.extensions).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      retryable: true,
    });
    expect(await codes(gateway, CREATE)).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      outcome: 'NOT_APPLIED',
      retryable: true,
    });
    expect(JSON.stringify(gateway.log)).toContain('ECONNREFUSED');
  });

  it('to an unknown host is UPSTREAM_UNAVAILABLE, and a write is NOT_APPLIED', async () => {
    await using gateway = await startGateway({ upstream: 'http://no-such-host.invalid' });
    expect(await codes(gateway, CREATE)).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', outcome: 'NOT_APPLIED' });
  });

  it('to a server without TLS is UPSTREAM_UNAVAILABLE, and a write is NOT_APPLIED', async () => {
    await using upstream = await startService(() => ({ body: {} }));
    await using gateway = await startGateway({ upstream: upstream.url.replace('http:', 'https:') });
    expect(await codes(gateway, CREATE)).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', outcome: 'NOT_APPLIED' });
  });

  it('that breaks after the request was sent is UPSTREAM_UNAVAILABLE, and a write is UNKNOWN', async () => {
    await using gateway = await startScenario((_, { reset }) => reset());
    expect((await gateway.run(READ)).error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', retryable: true });
    expect((await gateway.run(CREATE)).error).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      outcome: 'UNKNOWN',
      retryable: false,
    });
    expect(gateway.calls.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it('in the middle of the body never leads to truncated data', async () => {
    await using gateway = await startScenario((_, { send, end }) => {
      send(`${HEAD}content-length: 5000\r\n\r\n${JSON.stringify({ data: workflow() })}`);
      end();
    });
    expect(await gateway.run(READ)).toMatchObject({ result: null, error: { code: 'UPSTREAM_UNAVAILABLE' } });
  });

  it('without a response is UPSTREAM_TIMEOUT after the attempt timeout, and a write is UNKNOWN', async () => {
    await using gateway = await startScenario(() => {}, { attemptTimeoutMs: 150 });
    expect((await gateway.run(READ)).error).toMatchObject({ code: 'UPSTREAM_TIMEOUT', retryable: true });
    expect((await gateway.run(CREATE)).error).toMatchObject({
      code: 'UPSTREAM_TIMEOUT',
      outcome: 'UNKNOWN',
      retryable: false,
    });
    await expect.poll(() => gateway.calls.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'POST']);
  });

  it('with a body that never ends is UPSTREAM_TIMEOUT after the attempt timeout', async () => {
    await using gateway = await startScenario((_, { send }) => send(`${HEAD}content-length: 5000\r\n\r\n{`), {
      attemptTimeoutMs: 100,
    });
    expect((await gateway.run(READ)).error).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  });
});

it('an operation ends at its timeout, and writes not sent by then are NOT_APPLIED', async () => {
  await using gateway = await startScenario(() => {}, { operationTimeoutMs: 50 });
  await using impatient = await startScriptedGateway(() => {}, { operationTimeoutMs: 1_500 }); // Time to send the first.
  const { body } = await impatient.send(`mutation {
    first: createFeed(input: { name: "a" }) { __typename }
    second: createFeed(input: { name: "b" }) { __typename } }`);
  expect(body.data).toEqual({ first: null, second: null });
  expect(body.errors).toMatchObject([
    { path: ['first'], extensions: { code: 'UPSTREAM_TIMEOUT', outcome: 'UNKNOWN' } },
    { path: ['second'], extensions: { code: 'UPSTREAM_TIMEOUT', outcome: 'NOT_APPLIED' } },
  ]);
  expect(impatient.service.requests).toHaveLength(1);
  expect((await gateway.run(READ)).error).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
});

it('a failing field does not affect the data of its siblings', async () => {
  await using gateway = await startScriptedGateway(({ path }) =>
    path.endsWith('/bad') ? { status: 503, body: {} } : { body: { data: workflow() } },
  );
  const fields = Array.from({ length: 19 }, (_, i) => `f${i}: workflow(idOrIdentifier: "w${i}") { name }`);
  const { status, body, codes } = await gateway.send(
    `{ bad: workflow(idOrIdentifier: "bad") { name } ${fields.join(' ')} }`,
  );
  expect(status).toBe(200);
  expect(codes).toEqual(['UPSTREAM_UNAVAILABLE']);
  expect(Object.values(body.data ?? {}).filter((value) => value !== null)).toHaveLength(19);
});

it('an internal error is masked and logged once with its error id, and the process continues', async () => {
  const bug = () => {
    throw new Error(`secret detail ${KEY}`);
  };
  await using gateway = await startScriptedGateway(
    () => ({
      body: [{ _id: '2026-01-01', count: 1, templates: [], channels: [] }],
    }),
    {},
    { now: bug },
  );
  const { status, body } = await gateway.send('{ notificationStats(fillGaps: true) { key } }');
  expect(status).toBe(200);
  expect(body.errors).toMatchObject([
    {
      message: 'Unexpected error.',
      extensions: { code: 'INTERNAL_SERVER_ERROR', retryable: false, errorId: expect.any(String) },
    },
  ]);
  expect(JSON.stringify(body)).not.toMatch(/secret detail|stack/);
  const { errorId } = body.errors?.[0]?.extensions ?? {};
  expect(gateway.log.filter((line) => line.errorId === errorId)).toHaveLength(1);
  expect(await gateway.data('{ notificationStats { key } }')).toEqual({ notificationStats: [{ key: '2026-01-01' }] });
});

describe('a tenant’s key that the service rejects', () => {
  it('is FORBIDDEN for a browser, because signing in again would not help', async () => {
    const signer = createSigner();
    const script = () => ({ status: 401, body: { message: 'API key not found' } });
    await using upstream = await startService(script);
    await using gateway = await startGateway({ upstream: upstream.url, clients: clientsOf(signer) });
    const authorization = await signer.bearer();
    const { status, body } = await gateway.send('{ notificationGroups { id } }', {}, { authorization });
    expect(status).toBe(200);
    expect(body.errors).toMatchObject([
      {
        message: 'API key not found',
        extensions: { code: 'FORBIDDEN', retryable: false, upstream: { status: 401 } },
      },
    ]);
    expect(gateway.log).toContainEqual(
      expect.objectContaining({ level: 40, code: 'UNAUTHENTICATED', httpStatus: 401 }),
    );
    expect(JSON.stringify([body, gateway.log])).not.toContain('key-of-acme');
    const own = await gateway.send('{ notificationGroups { id } }', {}, AUTHORIZATION);
    expect(own.codes).toEqual(['UNAUTHENTICATED']);
  });
});
