import { beforeAll, describe, expect, it } from 'vitest';
import { SANDBOX_KEYS, startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import type { TraitName } from '../../packages/sandbox/src/traits.ts';
import inbox from '../../src/modules/shipped/inbox.ts';
import messages from '../../src/modules/shipped/messages.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { findFreePort } from '../support/listen.ts';
import { feed, group, workflow } from '../support/records.ts';
import type { Script, ServiceResponse } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('src/http/pipeline/client-errors.ts', 'createClientErrors.toUpstreamClientError');
guards('src/modules/toolkit/mutation-failures.ts', 'toFailure');
guards('src/upstream/transport/body.ts', 'findHeaderProblem');
guards('src/upstream/transport/body.ts', 'readSuccess');
guards('src/upstream/transport/body.ts', 'readText');
guards('src/graphql/values.ts', 'listOf');
guards('src/upstream/transport/to-error.ts', 'describeOddId');
guards('src/upstream/transport/to-error.ts', 'readErrorId');

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

let gateway: GatewayWithService;
beforeAll(async () => {
  gateway = await startGateway({ service: () => {} }, { breakerMinimumCalls: Number.POSITIVE_INFINITY });
  return () => gateway[Symbol.asyncDispose]();
});

/** Sets how the service responds. */
function prepare(script: Script): void {
  gateway.service.script = script;
  gateway.service.forget();
  gateway.log.length = 0;
  gateway.advance(60); // Retries are limited per second.
}

/** Returns the result and the error of an operation. */
async function run(document: string) {
  const text = document.startsWith('query') ? document : document + RESULT;
  const { status, body } = await gateway.send(text, {}, AUTHORIZATION);
  expect(status).toBe(200);
  expect(JSON.stringify([body, gateway.log])).not.toMatch(new RegExp(`${KEY}|secret`));
  const [error] = body.errors ?? [];
  const described: Record<string, unknown> | undefined = error && { message: error.message, ...error.extensions };
  return { result: Object.values(body.data ?? {})[0], error: described };
}

const errorResponse = (status: number, message: unknown = 'What the service says.'): ServiceResponse => ({
  status,
  body: { statusCode: status, message, path: '/v1/secret-path', error: 'x' },
});

const DELETE_FEED = 'mutation { deleteFeed(input: { id: "f1" }) { ...result } }';

describe('a failure that a client can act on is returned in the result union', () => {
  const INVALID = { __typename: 'InvalidInputError', code: 'INVALID_INPUT' };
  const NOT_FOUND = { __typename: 'NotFoundError', code: 'NOT_FOUND' };
  const FEED = { ...NOT_FOUND, resource: 'Feed', requestedId: 'f1' };

  it.each<[number, unknown, document: string, object]>([
    [400, 'What the service says.', CREATE, { ...INVALID, message: 'What the service says.' }],
    [409, '', CREATE, { __typename: 'ConflictError', code: 'CONFLICT', reason: 'ALREADY_EXISTS' }],
    [404, '', RENAME, { ...NOT_FOUND, resource: 'NotificationGroup', requestedId: 'g1' }],
    [410, '', RENAME, { ...NOT_FOUND, resource: 'NotificationGroup', requestedId: 'g1' }],
    [404, '', DELETE_MESSAGES, { ...NOT_FOUND, resource: 'Transaction', requestedId: 't1' }],
    [400, 'Could not find feed with id f1', DELETE_FEED, { ...FEED, message: 'Could not find feed with id f1' }],
    [400, 'Feed f1 was not found', DELETE_FEED, FEED],
    [400, 'The feed does not exist.', DELETE_FEED, FEED],
    [400, 'The feed f1 is used by a workflow.', DELETE_FEED, INVALID],
    [400, 'This feed cannot be deleted', DELETE_FEED, { ...INVALID, message: 'This feed cannot be deleted' }],
    [
      422,
      ['name must be shorter than 3 characters', 'something else'],
      CREATE,
      {
        ...INVALID,
        message: 'name must be shorter than 3 characters; something else',
        issues: [
          { path: ['input', 'name'], message: 'name must be shorter than 3 characters' },
          { path: ['input'], message: 'something else' },
        ],
      },
    ],
  ])('for a %i with the message %j', async (status, message, document, expected) => {
    prepare(() => errorResponse(status, message));
    expect(await run(document)).toEqual({ result: expect.objectContaining(expected), error: undefined });
    expect(gateway.service.requests).toHaveLength(1);
  });
});

describe('any other failure is an error', () => {
  const REFUSED = { outcome: 'NOT_APPLIED', retryable: false };

  it.each<[number, document: string, object]>([
    [404, CREATE, { ...REFUSED, code: 'UPSTREAM_BAD_RESPONSE' }],
    [409, DELETE_MESSAGES, { ...REFUSED, code: 'UPSTREAM_ERROR' }],
    [401, CREATE, { ...REFUSED, code: 'UNAUTHENTICATED' }],
    [403, CREATE, { ...REFUSED, code: 'FORBIDDEN' }],
    [418, CREATE, { ...REFUSED, code: 'UPSTREAM_ERROR' }],
    [
      503,
      CREATE,
      {
        outcome: 'UNKNOWN',
        code: 'UPSTREAM_UNAVAILABLE',
        message: expect.stringMatching(/may have been applied/),
        upstream: { method: 'POST', route: '/v1/feeds', status: 503 },
      },
    ],
  ])('such as a %i on a write: %s', async (status, document, expected) => {
    prepare(() => errorResponse(status));
    expect(await run(document)).toMatchObject({ result: null, error: expected });
    expect(gateway.service.requests).toHaveLength(1);
  });

  it.each([
    [400, { code: 'BAD_USER_INPUT', message: 'What the service says.' }],
    [401, { code: 'UNAUTHENTICATED', message: 'What the service says.' }],
    [402, { code: 'FORBIDDEN', message: "This API key's plan does not include this action." }],
    [403, { code: 'FORBIDDEN', message: 'What the service says.' }],
    [409, { code: 'UPSTREAM_ERROR', message: 'What the service says.' }],
    [418, { code: 'UPSTREAM_ERROR', message: 'The notification service rejected the request (status 418).' }],
    [422, { code: 'BAD_USER_INPUT' }],
    [429, { code: 'RATE_LIMITED', retryable: true }],
    [500, { code: 'UPSTREAM_ERROR', message: 'The notification service failed on this request.' }],
    [501, { code: 'UPSTREAM_ERROR' }],
    [502, { code: 'UPSTREAM_UNAVAILABLE', retryable: true }],
    [503, { code: 'UPSTREAM_UNAVAILABLE', retryable: true }],
    [504, { code: 'UPSTREAM_TIMEOUT', retryable: true }],
    [505, { code: 'UPSTREAM_ERROR' }],
  ])('such as a %i on a read', async (status, expected) => {
    prepare(() => errorResponse(status));
    const { result, error } = await run(READ);
    expect(result).toBeNull();
    expect(error).toMatchObject({
      retryable: false,
      ...expected,
      requestId: expect.any(String),
      upstream: { method: 'GET', route: '/v1/workflows/{workflowIdOrIdentifier}', status },
    });
    expect(error).not.toHaveProperty('outcome');
    expect(gateway.service.requests).toHaveLength(error?.retryable ? 3 : 1);
  });

  it('but a record that does not exist is null', async () => {
    for (const status of [404, 410]) {
      prepare(() => errorResponse(status));
      for (const query of [READ, 'query { notificationGroup(id: "g1") { id } }']) {
        expect(await run(query)).toEqual({ result: null, error: undefined });
      }
    }
  });
});

describe('a response that violates the contract is UPSTREAM_BAD_RESPONSE', () => {
  const BAD = { code: 'UPSTREAM_BAD_RESPONSE', retryable: false };

  it('if it is not UTF-8', async () => {
    const [before = '', after = ''] = JSON.stringify({ data: workflow({ name: 'N?N' }) }).split('?');
    prepare(() => ({
      body: Buffer.concat([Buffer.from(before), Buffer.from([0xff]), Buffer.from(after)]),
    }));
    expect((await run(READ)).error).toMatchObject(BAD);
  });

  it('if it has a content encoding, although the gateway accepts none', async () => {
    const headers = { 'content-encoding': 'gzip' };
    prepare(() => ({ headers, body: { data: workflow() } }));
    expect((await run(READ)).error).toMatchObject(BAD);
  });

  it('if its list is longer than allowed', async () => {
    let length = 10_001;
    const script = () => ({ body: { data: Array.from({ length }, () => group()) } });
    const query = 'query { notificationGroups { name } }';
    const message = 'The notification service sent an invalid response.';
    prepare(script);
    expect((await run(query)).error).toMatchObject({ ...BAD, message });
    length = 10_000;
    expect((await run(query)).result).toHaveLength(10_000);
  });

  it.each([
    ['a required field is missing', 'name', undefined],
    ['a required field is an object', 'name', {}],
    ['a list is a number', 'steps { id }', 7],
  ])('only for the field if %s', async (_, field, value) => {
    const [name = ''] = field.split(' ');
    prepare(() => ({ body: { data: { ...workflow(), [name]: value } } }));
    const message = expect.stringContaining('sent an invalid value');
    const { error } = await run(`query { workflow(idOrIdentifier: "w1") { ${field} } }`);
    expect(error).toMatchObject({ ...BAD, message });
    expect(await run('query { workflow(idOrIdentifier: "w1") { id active } }')).toEqual({
      result: { id: 'w1', active: true },
      error: undefined,
    });
  });

  it('with the outcome UNKNOWN after a write', async () => {
    prepare(() => ({ status: 201, body: { data: { ...feed(), name: null } } }));
    const document =
      'mutation { createFeed(input: { name: "n" }) { ... on CreateFeedSuccess { feed { name } } ...result } }';
    expect(await run(document)).toMatchObject({ result: null, error: { ...BAD, outcome: 'UNKNOWN' } });
  });
});

it('a required argument that is null is BAD_USER_INPUT, without an upstream call', async () => {
  prepare(() => ({ body: { data: workflow() } }));
  const document = 'query ($id: ID = "w1") { workflow(idOrIdentifier: $id) { name } }';
  const { body, codes } = await gateway.send(document, { id: null });
  expect([body.data, codes]).toEqual([{ workflow: null }, ['BAD_USER_INPUT']]);
  expect(gateway.service.requests).toEqual([]);
});

describe('the gateway accepts', () => {
  it.each<[string, ServiceResponse]>([
    ['204', { status: 204 }],
    ['an empty 200', { body: '' }],
    ['a 200 with a body', { body: { data: { anything: true } } }],
  ])('%s after a deletion of messages', async (_, answer) => {
    prepare(() => answer);
    const document = `mutation { deleteMessagesByTransaction(input: { transactionId: "t1", channel: IN_APP }) {
      ... on DeleteMessagesByTransactionSuccess { transactionId channel } ...result } }`;
    expect((await run(document)).result).toEqual({ transactionId: 't1', channel: 'IN_APP' });
    expect(gateway.service.requests[0]?.path).toBe('/v1/messages/transaction/t1?channel=in_app');
  });

  it('an unknown channel in the statistics, which is omitted and logged', async () => {
    prepare(() => ({
      body: [{ _id: '2026-01-01', count: 1, templates: [], channels: ['email', 'carrier_pigeon'] }],
    }));
    expect((await run('query { notificationStats { channels } }')).result).toEqual([{ channels: ['EMAIL'] }]);
    expect(gateway.log).toContainEqual(expect.objectContaining({ kind: 'unknown_value', path: '[].channels[]' }));
  });
});

it.each<[TraitName[], string]>([
  [[], 'NotFoundError'],
  [['any-channel'], 'DeleteMessagesByTransactionSuccess'], // As in October 2024: nothing is deleted.
])('a transaction with messages of other channels only, with the traits %j, is a %s', async (traits, result) => {
  await using sandbox = await startSandbox({ traits });
  await using other = await startGateway({ upstream: sandbox.url, modules: [messages] });
  const id = 'sample-transaction-0001';
  const remove = `mutation { deleteMessagesByTransaction(input: { transactionId: "${id}", channel: SMS }) { __typename } }`;
  const authorization = `ApiKey ${SANDBOX_KEYS.development}`;
  const { body } = await other.send(remove, {}, { authorization });
  expect(body).toEqual({ data: { deleteMessagesByTransaction: { __typename: result } } });
  const list = `{ messages(transactionIds: ["${id}"]) { messages { channel } } }`;
  const { messages: kept } = await other.data<{ messages: { messages: [] } }>(list, {}, { authorization });
  expect(kept.messages.length).toBeGreaterThan(0);
});

describe('a 500 for an id that can’t be that of a record', () => {
  const FORM = "An id does not have the form of the service's ids (24 hexadecimal digits).";
  const UNKNOWN = 'The change may have been applied. Check before sending it again.';
  const FAILED = 'The notification service failed on this request.';
  const OWN_ID = '65f0000000000000000000aa';
  const status = (id: string) =>
    `mutation { updateWorkflowStatus(input: { workflowId: "${id}", active: true }) { ...result } }`;
  const NAME = '{ ...result }';

  it.each<[hint: string, document: (id: string) => string]>([
    [FORM, (id) => `mutation { updateNotificationGroup(input: { id: "${id}", name: "n" }) ${NAME} }`],
    [FORM, (id) => `mutation { deleteNotificationGroup(input: { id: "${id}" }) ${NAME} }`],
    [FORM, (id) => `mutation { deleteFeed(input: { id: "${id}" }) ${NAME} }`],
    [FORM, (id) => `mutation { deleteMessage(input: { id: "${id}" }) ${NAME} }`],
    [FORM, (id) => `mutation { markMessages(input: { subscriberId: "s", messageIds: ["${id}"], as: READ }) ${NAME} }`],
    [
      FORM,
      (id) =>
        `mutation { completeMessageAction(input: { subscriberId: "s", messageId: "${id}", button: "primary" }) ${NAME} }`,
    ],
    [
      `${FORM} Use the workflow's id, not its identifier.`,
      (id) =>
        `mutation { updateWorkflowPreference(input: { subscriberId: "s", workflowId: "${id}", channel: EMAIL, enabled: true }) ${NAME} }`,
    ],
    [`${FORM} Use the workflow's id, not its identifier.`, status],
  ])('says %s', async (hint, document) => {
    // The preferences of the person are read to find a workflow by its identifier.
    const service: Script = ({ method }) => (method === 'GET' ? { body: { data: [] } } : errorResponse(500));
    await using other = await startGateway({ service, modules: [inbox, messages] });
    const messageOf = async (id: string) =>
      (await other.send(document(id) + RESULT, {}, AUTHORIZATION)).body.errors?.map(({ message }) => message);
    expect(await messageOf('local-1')).toEqual([`${FAILED} ${hint} ${UNKNOWN}`]);
    expect(await messageOf(OWN_ID)).toEqual([`${FAILED} ${UNKNOWN}`]);
    expect(await messageOf(OWN_ID.toUpperCase())).toEqual([`${FAILED} ${UNKNOWN}`]);
    expect(other.service.requests.filter(({ method }) => method !== 'GET')).toHaveLength(3);
  });

  it('says so for reads too', async () => {
    prepare(() => errorResponse(500));
    const { error } = await run('query { notificationGroup(id: "local-1") { id } }');
    expect(error?.message).toBe(`${FAILED} ${FORM}`);
  });

  it('is that of the sandbox, and not of fields whose ids have any form, or of other failures', async () => {
    await using sandbox = await startGateway({ service: 'sandbox' });
    const { body } = await sandbox.send(`mutation { deleteFeed(input: { id: "local-1" }) { ...result } }${RESULT}`);
    expect(body.errors?.[0]).toMatchObject({
      message: `${FAILED} ${FORM} ${UNKNOWN}`,
      extensions: { outcome: 'UNKNOWN' },
    });
    prepare(() => errorResponse(500));
    expect((await run(READ)).error?.message).toBe(FAILED);
    expect((await run(DELETE_MESSAGES)).error?.message).toBe(`${FAILED} ${UNKNOWN}`);
    prepare(() => errorResponse(503));
    expect((await run(RENAME)).error?.message).not.toContain(FORM);
    prepare(() => ({ body: { data: workflow() } }));
    expect((await run(status('payment-failed'))).error).toBeUndefined();
  });
});

describe('the service’s message', () => {
  const REJECTED = 'This API key is not permitted to do this.';
  const BLOCKED = 'A proxy or firewall in front of the notification service rejected the request (status 403).';
  const HTML = '<h1>secret front door</h1>';

  it.each<[string, ServiceResponse, string]>([
    ['a list', { body: { message: ['One.', 'Two.'] } }, 'One.; Two.'],
    ['an object', { body: { message: { message: ['Inner.'] }, more: 'secret' } }, 'Inner.'],
    ['a number', { body: { message: 5 } }, REJECTED],
    ['an HTML page, which is not shown', { headers: { 'content-type': 'text/html' }, body: HTML }, BLOCKED],
    ['HTML with the content type of JSON', { body: HTML }, REJECTED],
    ['nothing', { body: '' }, REJECTED],
  ])('may come as %s', async (_, response, expected) => {
    prepare(() => ({ status: 403, ...response }));
    expect((await run(READ)).error?.message).toBe(expected);
  });

  it('is never shown for a 500, but its error id is', async () => {
    const body = { message: 'SELECT secret', errorId: 'e-42', stack: 'at secret' };
    prepare(() => ({ status: 500, body }));
    expect((await run(READ)).error).toMatchObject({
      message: 'The notification service failed on this request.',
      errorId: 'e-42',
    });
  });
});

it('Retry-After, in seconds or as a date, is passed on in seconds', async () => {
  const date = new Date(Date.now() + 60_000).toUTCString();
  for (const [header, expected] of [
    ['7', 7],
    [date, expect.closeTo(60, -1)],
    ['soon', undefined],
  ]) {
    prepare(() => ({ ...errorResponse(429), headers: { 'retry-after': header } }));
    expect((await run(CREATE)).error?.retryAfterSeconds).toEqual(expected);
  }
});

it('no connection to the service is UPSTREAM_UNAVAILABLE, and a write is NOT_APPLIED', async () => {
  const port = await findFreePort();
  // The error of localhost, which has several addresses, is an AggregateError.
  for (const [url, cause] of [
    [`http://127.0.0.1:${port}`, 'ECONNREFUSED'],
    [`http://localhost:${port}`, 'ECONNREFUSED'],
    ['http://no-such-host.invalid', /ENOTFOUND|EAI_AGAIN/],
  ] as const) {
    await using gateway = await startGateway({ upstream: url });
    const [read, write] = [await gateway.send(READ), await gateway.send(CREATE + RESULT)];
    const expected = { code: 'UPSTREAM_UNAVAILABLE', retryable: true };
    expect(read.body.errors?.[0]?.extensions).toMatchObject(expected);
    expect(write.body.errors?.[0]?.extensions).toMatchObject({ ...expected, outcome: 'NOT_APPLIED' });
    expect(JSON.stringify(gateway.log)).toMatch(cause);
  }
});

it('a failing field affects neither its siblings nor the HTTP status', async () => {
  const body = { extensions: { http: { status: 503 } }, message: 'x' };
  await using gateway = await startGateway({
    service: ({ path }) => (path.endsWith('/bad') ? { status: 503, body } : { body: { data: workflow() } }),
  });
  for (const accept of ['application/json', 'application/graphql-response+json', '*/*']) {
    const { status, body, codes } = await gateway.send(
      '{ good: workflow(idOrIdentifier: "w1") { name } bad: workflow(idOrIdentifier: "bad") { name } }',
      {},
      { headers: { accept } },
    );
    expect([status, codes]).toEqual([200, ['UPSTREAM_UNAVAILABLE']]);
    expect(body.data).toEqual({ good: { name: 'Workflow' }, bad: null });
  }
});

it('an internal error is masked and logged once with its error id, and the process continues', async () => {
  const bug = () => {
    throw new Error(`secret detail ${KEY}`);
  };
  const body = [{ _id: '2026-01-01', count: 1, templates: [], channels: [] }];
  await using gateway = await startGateway({ service: () => ({ body }) }, { now: bug });
  const { status, body: failed } = await gateway.send('{ notificationStats(fillGaps: true) { key } }');
  expect(status).toBe(200);
  expect(failed.errors).toMatchObject([
    {
      message: 'Unexpected error.',
      extensions: { code: 'INTERNAL_SERVER_ERROR', retryable: false, errorId: expect.any(String) },
    },
  ]);
  expect(JSON.stringify(failed)).not.toMatch(/secret detail|stack/);
  const { errorId } = failed.errors?.[0]?.extensions ?? {};
  expect(gateway.log.filter((line) => line.errorId === errorId)).toHaveLength(1);
  expect(await gateway.data('{ notificationStats { key } }')).toEqual({ notificationStats: [{ key: '2026-01-01' }] });
});

it('a tenant’s key that the service rejects is FORBIDDEN for a browser, because signing in again would not help', async () => {
  const signer = createSigner();
  await using gateway = await startGateway({
    service: () => ({ status: 401, body: { message: 'API key not found' } }),
    clients: clientsOf(signer),
  });
  const authorization = await signer.bearer();
  const { status, body } = await gateway.send('{ notificationGroups { id } }', {}, { authorization });
  expect(status).toBe(200);
  expect(body.errors).toMatchObject([
    { message: 'API key not found', extensions: { code: 'FORBIDDEN', retryable: false, upstream: { status: 401 } } },
  ]);
  const tenant = 'acme'; // Its name, as the configuration has it.
  expect(gateway.log).toContainEqual(
    expect.objectContaining({ level: 40, code: 'UNAUTHENTICATED', httpStatus: 401, tenant }),
  );
  expect(gateway.log).toContainEqual(expect.objectContaining({ msg: 'operation', code: 'FORBIDDEN', tenant }));
  expect(JSON.stringify([body, gateway.log])).not.toContain('key-of-acme');
  const own = await gateway.send('{ notificationGroups { id } }', {}, AUTHORIZATION);
  expect(own.codes).toEqual(['UNAUTHENTICATED']);
});
