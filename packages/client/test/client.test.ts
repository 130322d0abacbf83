import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import events from '../../../src/modules/shipped/events.ts';
import { startGateway } from '../../../test/support/gateway.ts';
import { guards } from '../../../test/support/guards.ts';
import { listen } from '../../../test/support/listen.ts';
import { SANDBOX_KEYS } from '../../sandbox/src/sandbox.ts';
import {
  type ClientOptions,
  CreateNotificationGroupDocument,
  createClient,
  type Explanation,
  hashOf,
  NotificationGroupsDocument,
  NotificationStatsDocument,
  type RequestDocument,
  type RequestOptions,
  type RetryEvent,
  TriggerEventDocument,
  UnexpectedResponseError,
  UpdateWorkflowStatusDocument,
  WorkflowDocument,
} from '../src/index.ts';

guards('packages/client/src/result.ts', 'findRedirect');
guards('packages/client/src/result.ts', 'readResult');
guards('packages/client/src/result.ts', 'withoutSecrets');
guards('packages/client/src/retry.ts', 'finish');
guards('src/http/params.ts', 'readFlags');

const authorization = `ApiKey ${SANDBOX_KEYS.development}`;

it('calls the credential function before every request', async () => {
  await using gateway = await startGateway({ service: 'sandbox' });
  const credentials = [authorization, undefined, `ApiKey ${SANDBOX_KEYS.production}`];
  const notigraph = createClient({ url: new URL(gateway.url), authorization: async () => credentials.shift() });

  const first = await notigraph.request(NotificationGroupsDocument);
  const second = await notigraph.request(NotificationGroupsDocument);
  const third = await notigraph.request(NotificationGroupsDocument);

  expect(first).toMatchObject({ status: 200, data: { notificationGroups: { length: 4 } } });
  expect(second.errors?.map(({ extensions: { code } }) => code)).toEqual(['UNAUTHENTICATED']);
  expect(third.errors).toBeUndefined();
  expect(third.data).not.toEqual(first.data);
  const keys = gateway.upstream().map(({ headers: { authorization } }) => authorization);
  expect(keys).toEqual([authorization, `ApiKey ${SANDBOX_KEYS.production}`]);
});

it('sends the headers of a request', async () => {
  await using gateway = await startGateway({ service: 'sandbox' });
  const notigraph = createClient({ url: gateway.url, authorization });
  const create = () =>
    notigraph.request(
      CreateNotificationGroupDocument,
      { input: { name: 'Marketing' } },
      { headers: { 'idempotency-key': 'create-marketing' } },
    );

  const [first, second] = [await create(), await create()];

  expect(first.data?.createNotificationGroup).toMatchObject({ replayed: false });
  expect(second.data?.createNotificationGroup).toMatchObject({ replayed: true });
  expect(gateway.upstream('POST')).toHaveLength(2);
});

it('gives each mutation an idempotency key, also without `crypto`, as in React Native', async () => {
  await using gateway = await startGateway({ service: 'sandbox' });
  const notigraph = createClient({ url: gateway.url, authorization });
  const create = async (name: string) => {
    const { errors } = await notigraph.request(CreateNotificationGroupDocument, { input: { name } });
    expect(errors).toBeUndefined();
  };
  await create('Marketing');
  onTestFinished(() => void vi.unstubAllGlobals());
  vi.stubGlobal('crypto', undefined);
  await create('Sales');
  await create('Support');

  const keys = gateway.upstream('POST').map(({ headers }) => headers['idempotency-key']);
  expect(new Set(keys).size).toBe(3);
  expect(keys.every((key) => typeof key === 'string' && key.length >= 32)).toBe(true);
});

it('gets exactly the days that it asks for, of which today is one', async () => {
  await using gateway = await startGateway({ service: 'sandbox' }, { now: () => new Date('2026-03-10T12:00:00Z') });
  const notigraph = createClient({ url: gateway.url, authorization });
  const { data } = await notigraph.request(NotificationStatsDocument, { days: 7 });
  const days = data?.notificationStats?.map((entry) => entry?.date);
  expect(days).toEqual(Array.from({ length: 7 }, (_, i) => `2026-03-${String(i + 4).padStart(2, '0')}`));
  const [sent] = gateway.upstream('GET /v1/notifications/graph/stats?days=7');
  expect(sent?.responseBody?.match(/(?<="_id":")[\d-]+/g)).toHaveLength(8); // The first is a part of a day.
});

it('returns partial data together with errors that a client can act on', async () => {
  await using upstream = await startFixedServer(503, 'application/json', '{}');
  await using gateway = await startGateway({ upstream: upstream.url });
  const notigraph = createClient({ url: gateway.url, authorization });

  const answer = await notigraph.request(UpdateWorkflowStatusDocument, { input: { workflowId: 'a', active: true } });

  expect(answer).toMatchObject({ status: 200, data: { updateWorkflowStatus: null } });
  expect(answer.headers.get('content-type')).toMatch(/^application\/graphql-response\+json/);
  expect(answer.errors).toEqual([
    {
      message: expect.stringContaining('The notification service is unavailable.'),
      path: ['updateWorkflowStatus'],
      locations: expect.any(Array),
      extensions: {
        code: 'UPSTREAM_UNAVAILABLE',
        retryable: expect.any(Boolean),
        outcome: expect.stringMatching(/^(NOT_APPLIED|UNKNOWN)$/),
        requestId: answer.headers.get('x-request-id'),
        upstream: { status: 503, method: 'PUT', route: '/v1/workflows/{workflowId}/status' },
      },
    },
  ]);
});

it('sends a document given as text', async () => {
  await using gateway = await startGateway({ service: 'sandbox' });
  const notigraph = createClient({ url: gateway.url, authorization });

  const valid = await notigraph.request<{ workflow: { name: string } }, { id: string }>(
    'query ($id: ID!) { workflow(idOrIdentifier: $id) { name } }',
    { id: 'payment-failed' },
  );
  const invalid = await notigraph.request('{ nothing }');

  expect(valid).toMatchObject({ status: 200, data: { workflow: { name: 'Payment failed' } } });
  expect(invalid).toMatchObject({
    status: 400,
    data: null,
    errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED', retryable: false } }],
  });
});

it('triggers an event without a payload, alone and among several, and reads why it was not processed', async () => {
  await using gateway = await startGateway({
    service: ({ path, body }) => {
      const results = [JSON.parse(body).events ?? 'one'].flat().map(() => ({ acknowledged: true, status: 'on_hold' }));
      return { status: 201, body: { data: path.endsWith('/bulk') ? results : results[0] } };
    },
    modules: [events],
  });
  const notigraph = createClient({ url: gateway.url, authorization });
  const event = { workflow: 'payment-failed', topicKeys: ['makers'], transactionId: 'makers-1' };

  const one = await notigraph.request(TriggerEventDocument, { input: { event } });
  const several = await notigraph.request(
    'mutation ($input: TriggerEventsInput!) { triggerEvents(input: $input) { ... on TriggerEventsSuccess { events { status } } } }',
    { input: { events: [event, event] } },
  );

  expect(one.data?.triggerEvent).toMatchObject({ event: { isProcessed: false, status: null, problems: ['on_hold'] } });
  expect(several.data).toEqual({ triggerEvents: { events: [{ status: null }, { status: null }] } });
  const sent = {
    name: event.workflow,
    to: [{ type: 'Topic', topicKey: 'makers' }],
    payload: {},
    transactionId: 'makers-1',
  };
  expect(gateway.service.requests.map(({ body }) => JSON.parse(body))).toEqual([sent, { events: [sent, sent] }]);
});

it('sends the id instead of the text if configured to', async () => {
  const bodies: unknown[] = [];
  const fetch: ClientOptions['fetch'] = async (_url, { body }) => {
    bodies.push(JSON.parse(String(body)));
    return Response.json({ data: { workflow: null } });
  };
  const notigraph = createClient({ url: 'https://example.com/graphql', send: 'id', fetch });

  await notigraph.request(WorkflowDocument, { idOrIdentifier: 'welcome' });

  const { hash, text } = WorkflowDocument.__meta__;
  expect(bodies).toEqual([{ documentId: `sha256:${hash}`, variables: { idOrIdentifier: 'welcome' } }]);
  expect(hash).toBe(createHash('sha256').update(text).digest('hex'));

  // The client preset of graphql-codegen writes ids with the name of the algorithm.
  const ownDocument: RequestDocument<unknown, object> = { __meta__: { hash: `sha256:${hash}` } };
  await notigraph.request(ownDocument, {});
  expect(bodies[1]).toMatchObject({ documentId: `sha256:${hash}` });
  expect(hashOf(ownDocument)).toBe(hash);
});

it('reports the cost of an operation, and asks for current data, on request', async () => {
  await using gateway = await startGateway({ service: 'sandbox', cache: true });
  const notigraph = createClient({ url: gateway.url, authorization });
  const read = async (options?: RequestOptions) =>
    (await notigraph.request(NotificationGroupsDocument, {}, options)).extensions?.upstream;

  expect(await read()).toBeUndefined();
  const cached = await read({ cost: true });
  expect(cached).toMatchObject({ calls: 1, cached: 1, retries: 0, fields: { 'Query.notificationGroups': 1 } });
  expect(gateway.upstream()).toHaveLength(1);
  expect(await read({ cost: true, cache: 'no-cache' })).toMatchObject({ calls: 1, cached: 0 });
  expect(gateway.upstream()).toHaveLength(2);
});

it('explains an operation, for which nothing is sent, and passes on why the gateway does not', async () => {
  await using gateway = await startGateway({ service: 'sandbox' });
  const sandboxed = createClient({ url: gateway.url, authorization });
  const explained = await sandboxed.explain(WorkflowDocument, { idOrIdentifier: 'welcome' });
  expect(explained).toMatchObject({ attempts: 1, explanation: { budget: { min: 1, max: 2, limit: 50 } } });
  expect(explained.errors).toBeUndefined();
  expect(gateway.upstream()).toEqual([]);

  const explain = { calls: [], budget: { min: 0, max: 0, limit: 50 }, scopes: [] } satisfies Explanation;
  const errors = [{ message: 'Not allowed.', extensions: { code: 'FORBIDDEN', retryable: false } }];
  const answers = [{ data: { workflow: null }, extensions: { explain } }, { errors }, { data: { workflow: null } }];
  const bodies: unknown[] = [];
  const fetch: ClientOptions['fetch'] = async (_url, { body }) => {
    bodies.push(JSON.parse(String(body)).extensions);
    return Response.json(answers.shift());
  };
  const notigraph = createClient({ url: 'https://example.com/graphql', fetch });
  const run = () => notigraph.explain(WorkflowDocument, { idOrIdentifier: 'welcome' });

  expect(await run()).toMatchObject({ explanation: explain, status: 200, attempts: 1 });
  expect(await run()).toMatchObject({ errors });
  await expect(run()).rejects.toThrow('The gateway has executed the operation');
  expect(bodies).toEqual(Array(3).fill({ explain: true }));
});

it('cancels the request when its signal is aborted', async () => {
  await using gateway = await startGateway({ service: 'sandbox' });
  const notigraph = createClient({ url: gateway.url, authorization });
  const leaving = new AbortController();

  const request = notigraph.request(NotificationGroupsDocument, {}, { signal: leaving.signal });
  leaving.abort(new Error('The page is gone.'));

  await expect(request).rejects.toThrow('The page is gone.');
});

it.each([
  [502, 'text/html', '<h1>Bad gateway</h1>'],
  [200, 'text/html', '<!doctype html>'],
  [200, 'application/json', '{ "data": null }'],
  [400, 'application/json', '{ "errors": [{ "message": "Of another server." }] }'],
])('rejects a response that is not from a gateway: %i %s %s', async (status, type, body) => {
  await using server = await startFixedServer(status, type, body);
  const notigraph = createClient({ url: server.url, retries: false });

  const failure = await notigraph.request(NotificationGroupsDocument).catch((error: unknown) => error);

  expect(failure).toBeInstanceOf(UnexpectedResponseError);
  expect(failure).toMatchObject({
    name: 'UnexpectedResponseError',
    message: `This is not a response of a Notigraph gateway: HTTP ${status}, ${type}. Is the URL its GraphQL endpoint?`,
    code: 'UNEXPECTED_RESPONSE',
    status,
    body,
  });
});

/** Starts a server that redirects to an address, and returns what a request to it fails with or resolves to. */
async function requestRedirected(status: number, location: string | undefined, client: Partial<ClientOptions> = {}) {
  const requests: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url);
    response.writeHead(status, location === undefined ? {} : { location }).end();
  });
  const { url, close } = await listen(server);
  const notigraph = createClient({
    url: `${url}/graphql`,
    authorization,
    retries: { maxAttempts: 2, maxSeconds: 5 },
    ...client,
  });
  const result = await notigraph
    .request(
      CreateNotificationGroupDocument,
      { input: { name: 'Marketing' } },
      { headers: { 'idempotency-key': 'own' } },
    )
    .catch((error: unknown) => error);
  await close();
  return { result, requests, url };
}

describe('a redirect (R53)', () => {
  it.each([301, 302, 303, 307, 308])('%i is not followed, and says which URL to use', async (status) => {
    await using gateway = await startGateway({ service: 'sandbox' });
    const { host } = new URL(gateway.url);
    const location = `http://ann:secret@${host}/graphql?state=secret#secret`;
    const { result, requests } = await requestRedirected(status, location);

    expect(result).toBeInstanceOf(UnexpectedResponseError);
    expect(result).toMatchObject({
      code: 'REDIRECTED',
      outcome: 'NOT_APPLIED',
      status,
      message: `The request was redirected to http://${host}/graphql; use this as url if it is the gateway's GraphQL endpoint.`,
    });
    expect(requests).toEqual(['/graphql']); // It was not repeated.
    expect([gateway.upstream(), gateway.log.filter(({ msg }) => msg === 'operation')]).toEqual([[], []]);
  });

  it('of a path is that of the same server, and one without an address says so', async () => {
    const { result, url } = await requestRedirected(308, '/graphql/?v=1');
    expect(String(result)).toContain(`was redirected to ${url}/graphql/; use this as url`);
    const { result: hidden } = await requestRedirected(302, undefined);
    expect(String(hidden)).toContain("to an address that isn't known here; use the GraphQL endpoint's own address");
    const fetchResult = async () => Response.json({ data: {} }, { status: 307, headers: { location: '/graphql' } });
    const { result: ignored } = await requestRedirected(307, '', { fetch: fetchResult });
    expect(ignored).toMatchObject({ code: 'REDIRECTED', outcome: 'NOT_APPLIED' });
    const relative = async () => new Response(null, { status: 307, headers: { location: '/v2/graphql?key=1' } });
    const { result: shown } = await requestRedirected(307, '', { url: '/graphql', fetch: relative });
    expect(String(shown)).toContain('was redirected to /v2/graphql; use this as url');
    const elsewhere = async () =>
      Object.defineProperty(await relative(), 'url', { value: 'https://api.example/graphql' });
    const { result: resolved } = await requestRedirected(307, '', { url: '/graphql', fetch: elsewhere });
    expect(String(resolved)).toContain('was redirected to https://api.example/v2/graphql; use this as url');
  });

  /** Follows redirects in any case, and doesn't say so, as React Native. */
  const following: NonNullable<ClientOptions['fetch']> = async (url, init) => {
    const response = await fetch(url, { ...init, redirect: 'follow' });
    return Object.defineProperty(response, 'redirected', { value: undefined });
  };

  it('that React Native follows is the error, not what the target says about the lost credential', async () => {
    await using gateway = await startGateway({ service: 'sandbox' });
    const lost = await requestRedirected(307, gateway.url, { fetch: following }); // Another origin gets no credential.
    expect(lost.result).toMatchObject({
      code: 'REDIRECTED',
      status: 401,
      message: expect.stringContaining(`was redirected to ${gateway.url}; use this as url`),
    });
    const turned = await requestRedirected(302, gateway.url, { fetch: following }); // The request becomes GET.
    expect(turned.result).toMatchObject({ code: 'REDIRECTED', status: expect.any(Number) });
    expect([...lost.requests, ...turned.requests]).toHaveLength(2);
    const direct = createClient({ url: gateway.url, fetch: following });
    const { errors } = await direct.request(NotificationGroupsDocument);
    expect(errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
    expect(gateway.upstream()).toEqual([]);
  });

  it('that React Native follows has its result, if the target has one', async () => {
    const data = { createNotificationGroup: null };
    const error = {
      message: 'It failed.',
      path: ['createNotificationGroup'],
      extensions: { code: 'A', retryable: false },
    };
    for (const body of [{ data }, { data, errors: [error] }]) {
      await using target = await startFixedServer(200, 'application/json', JSON.stringify(body));
      expect((await requestRedirected(307, target.url, { fetch: following })).result).toMatchObject(body);
    }
    await using broken = await startFixedServer(503, 'text/html', '');
    const { result, requests } = await requestRedirected(307, broken.url, { fetch: following });
    expect(result).toMatchObject({ code: 'REDIRECTED', status: 503, outcome: undefined });
    expect(requests).toHaveLength(1);
  });

  it('after an attempt without a response leaves the outcome of a mutation unknown', async () => {
    const answers = [
      new Response('', { status: 502 }),
      new Response(null, { status: 307, headers: { location: '/other' } }),
    ];
    const { result } = await requestRedirected(307, '', { fetch: async () => answers.shift() ?? Response.error() });
    expect(result).toMatchObject({ code: 'REDIRECTED', outcome: 'UNKNOWN' });
  });
});

it('reports a document that has neither text nor id', async () => {
  const url = 'http://127.0.0.1:1';
  const withoutText = createClient({ url }).request({ __meta__: { hash: 'abc' } });
  await expect(withoutText).rejects.toThrow(/^The document has no text/);
  await expect(withoutText).rejects.toThrow(TypeError);
  const withoutId = createClient({ url, send: 'id' }).request('{ notificationGroups { name } }');
  await expect(withoutId).rejects.toThrow(/^The document has no id/);
});

it.each([
  ['/graphql', ' It is "/graphql".'],
  ['http://ann:secret@127.0.0.1:4000/graphql', ''],
])('fails at once if the URL can’t be that of a gateway (%s)', async (url, shown) => {
  const retries: RetryEvent[] = [];
  const notigraph = createClient({ url, onRetry: (event) => retries.push(event) });
  const request = notigraph.request(NotificationGroupsDocument);
  await expect(request).rejects.toThrow(TypeError);
  await expect(request).rejects.toMatchObject({
    message: `The option url must be the full address of the gateway's GraphQL endpoint, such as https://graphql.example.com/graphql, without a user name or password.${shown}`,
  });
  expect(retries).toEqual([]);
});

/** Starts a server that always sends the same response. */
async function startFixedServer(status: number, type: string, body: string) {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': type }).end(body);
  });
  const { url, close } = await listen(server);
  return { url, [Symbol.asyncDispose]: close };
}
