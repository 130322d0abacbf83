import { once } from 'node:events';
import { rename, writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeEach, describe, expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { sha256Of } from '../../src/documents/manifest.ts';
import { loadOperations } from '../../src/documents/shipped-operations.ts';
import { createGateway, type GatewayOptions } from '../../src/gateway.ts';
import { connectAgent, EMPTY_LISTS, ERAS, MCP, postToTools, TOOLS } from '../support/agent.ts';
import { createBrowserFetch } from '../support/browser-fetch.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { healthyService } from '../support/healthy-service.ts';
import { ofFile } from '../support/lifetime.ts';
import { feed, workflow } from '../support/records.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { type ServiceResponse, startService } from '../support/service.ts';
import { shippedModules, shippedOperations } from '../support/shipped-documents.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('src/mcp/mcp.ts', 'createMcp.checkHead');
guards('src/mcp/mcp.ts', 'createMcp.route');
guards('src/mcp/protocol/messages.ts', 'findMessageProblem');
guards('src/mcp/protocol/messages.ts', 'isId');
guards('src/mcp/protocol/tool-server.ts', 'toRequest.body');
guards('src/mcp/protocol/tool-server.ts', 'createToolServers.isVisible');
guards('src/mcp/protocol/tool-server.ts', 'withoutData');
guards('src/http/adapters/node-adapter.ts', 'NodeRequest.toFetchRequest');

const KEY = 'ApiKey key-of-a-server';
const ALL = ['Groups', 'Flow', 'AddFeed', 'DropGroup'];

const signer = createSigner();

/** Options of a gateway that accepts tokens too, with a rule that an API key must not break. */
const OPTIONS: Partial<GatewayOptions> = {
  mcp: MCP,
  maxRetries: 0,
  clients: clientsOf(signer, { trustedDocuments: 'enforce', corsOrigins: ['https://app.example.com'] }),
  trustedDocuments: { manifests: [{ other: '{ __typename }' }] },
};

/** Answers to ids that say what goes wrong. */
const PROBLEMS: Readonly<Record<string, ServiceResponse>> = {
  missing: { status: 404, body: { statusCode: 404, message: 'not found' } },
  broken: { status: 503, headers: { 'retry-after': '7' }, body: {} },
  conflict: { status: 409, body: { message: 'in use' } },
};

const gateway = ofFile(
  await startGateway({
    service: (request, raw) => PROBLEMS[request.path.split('/').at(-1) ?? ''] ?? healthyService(request, raw),
    ...OPTIONS,
  }),
);
beforeEach(() => gateway.service.forget());

/** First message of a client with icons. */
const initialize = (icons: unknown[]) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1', icons } },
});

/** Returns the last message of a response, which is JSON or a stream of events. */
const resultOf = async (response: Response): Promise<unknown> => {
  const lines = (await response.text()).trim().split('\n');
  return JSON.parse((lines.at(-1) ?? '').replace(/^data: /, ''));
};

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

describe.each(ERAS)('the official client in the era "%s"', (era) => {
  it('sees queries and listed mutations, with what an agent needs to know', async () => {
    await using agent = await connectAgent(gateway, KEY, { era });
    const { tools } = await agent.client.listTools();
    expect(tools).toMatchObject([
      { name: 'Groups', inputSchema: { properties: {}, required: [] }, annotations: { readOnlyHint: true } },
      {
        name: 'Flow',
        description: "Finds a workflow.\nIts id and its trigger's identifier work alike.",
        inputSchema: {
          type: 'object',
          properties: { id: { type: 'string', description: "The workflow's id or its trigger identifier." } },
          required: ['id'],
          additionalProperties: false,
        },
      },
      {
        name: 'AddFeed',
        description: 'Creates a feed. A name that already exists is a `ConflictError`.',
        annotations: { readOnlyHint: false, destructiveHint: false },
      },
      { name: 'DropGroup', annotations: { readOnlyHint: false, destructiveHint: true } },
    ]);
  });

  it('sees no prompts and no resources, also if it asks for them without being told that there are any (R49)', async () => {
    await using agent = await connectAgent(gateway, KEY, { era });
    expect(Object.keys(agent.client.getServerCapabilities() ?? {})).toEqual(['tools']);
    for (const [method, member] of EMPTY_LISTS) {
      expect(await agent.client.request({ method })).toMatchObject({ [member]: [] });
    }
    await expect(agent.client.request({ method: 'prompts/get', params: { name: 'a' } })).rejects.toThrow(
      'Method not found',
    );
  });

  it('gets the data of a GraphQL response, through the fetch API too', async () => {
    const { body } = await gateway.send(TOOLS.Groups, {}, { authorization: KEY });
    await using other = await startGateway({ upstream: gateway.service.url, ...OPTIONS }, { entry: 'fetch' });
    for (const entry of [gateway, other]) {
      await using agent = await connectAgent(entry, KEY, { era });
      expect(await agent.call('Groups')).toEqual({
        text: JSON.stringify({ data: body.data }), // The same as the structured result, so that clients can pass on only one of them.
        structured: { data: body.data },
        isError: false,
      });
    }
  });

  it('learns from an error what to do, and an invalid call reaches no service', async () => {
    await using agent = await connectAgent(gateway, KEY, { era });
    const invalid = [
      await agent.call('Flow', { id: 'w', Id: 'w' }),
      await agent.call('Groups', { id: 'w' }),
      await agent.call('Flow', { id: ['w'] }),
      await agent.call('AddFeed', { input: { name: 'News', colour: 'red' } }),
    ];
    await expect(agent.call('DropFeed', { id: 'f' })).rejects.toThrow(
      'Unknown tool "DropFeed". Use one of those that tools/list returns.',
    );
    expect(gateway.service.requests).toEqual([]);
    const failed = [
      await agent.call('Flow', { id: 'broken' }),
      await agent.call('DropGroup', { id: 'broken' }),
      await agent.call('DropGroup', { id: 'conflict' }),
      await agent.call('Flow', { id: 'missing' }),
    ];
    expect([...invalid, ...failed].map(({ isError, text }) => `${isError ? 'error' : 'result'}: ${text}`)).toEqual([
      'error: Unknown argument "Id". Use only id. Correct the value.',
      'error: Unknown argument "id". This tool takes none. Correct the value.',
      'error: Variable "$id" got invalid value ["w"]; ID cannot represent value: ["w"]. Correct the value.',
      'error: Variable "$input" got invalid value { name: "News", colour: "red" }; Field "colour" is not defined by type "CreateFeedInput". The change was not applied. Correct the value.',
      'error: The notification service is unavailable. Call the tool again in 7 s.',
      'error: The notification service is unavailable. The change may have been applied. Check before sending it again. Read the record before you call the tool again.',
      'error: {"data":{"deleteNotificationGroup":{"__typename":"ConflictError"}}}',
      'result: {"data":{"workflow":null}}',
    ]);
  });
});

describe('access', () => {
  it('a token sees and calls only what its scopes permit', async () => {
    const token = await signer.bearer({ scope: 'groups:read feeds:read feeds:write' });
    await using agent = await connectAgent(gateway, token);
    expect(await agent.names()).toEqual(['Groups', 'AddFeed']);
    const { isError, text: message } = await agent.call('Flow', { id: 'w' });
    expect([isError, message]).toEqual([
      true,
      'The token lacks the scope workflows:read, which this operation requires. Use a credential that permits it, or ask the operator to permit it.',
    ]);
    expect(gateway.service.requests).toEqual([]);
    await using everything = await connectAgent(gateway, await signer.bearer());
    expect(await everything.names()).toEqual(ALL);
  });

  it('tools are trusted documents, and mutations that are no tools are not', async () => {
    const request = { authorization: await signer.bearer() };
    expect((await gateway.send(TOOLS.Groups, {}, request)).status).toBe(200);
    expect((await gateway.send(TOOLS.DropFeed, { id: 'f' }, request)).codes).toEqual(['DOCUMENT_NOT_TRUSTED']);
  });

  it('a client token sees and calls only its documents', async () => {
    await using issuing = await startGateway({
      ...OPTIONS,
      upstream: gateway.service.url,
      clientTokens: { secrets: ['a-fake-secret-of-client-tokens-0001'] },
    });
    const response = await fetch(new URL('/client-tokens', issuing.url), {
      method: 'POST',
      headers: { authorization: 'ApiKey key-of-acme', 'content-type': 'application/json' },
      body: JSON.stringify({
        subject: 'agent',
        scopes: ['groups:read', 'workflows:read'],
        documents: [sha256Of(TOOLS.Groups)],
      }),
    });
    const { token } = await response.json();
    await using agent = await connectAgent(issuing, `Bearer ${token}`);
    expect(await agent.names()).toEqual(['Groups']);
    expect((await agent.call('Groups')).isError).toBe(false);
    expect((await agent.call('Flow', { id: 'w' })).text).toContain('This token does not permit this document.');
  });

  it.each<[string, number, Record<string, string>, RequestInit, string]>([
    ['no credential', 401, { authorization: '' }, {}, 'UNAUTHENTICATED'],
    ['a forged token', 401, { authorization: 'Bearer a.b.c' }, {}, 'UNAUTHENTICATED'],
    ['a page of another origin', 403, { origin: 'https://evil.example' }, {}, 'FORBIDDEN'],
    ['a stream', 405, {}, { method: 'GET', body: null }, 'METHOD_NOT_ALLOWED'],
    ['a text', 415, { 'content-type': 'text/plain' }, {}, 'UNSUPPORTED_MEDIA_TYPE'],
    ['no JSON', 400, {}, { body: '{' }, 'BAD_REQUEST'],
    ['a batch', 400, {}, { body: JSON.stringify([LIST, { ...LIST, id: 2 }]) }, 'BAD_REQUEST'],
    ['many values', 400, {}, { body: JSON.stringify(initialize(Array(60_000).fill({}))) }, 'BAD_REQUEST'],
    ['too much', 413, {}, { body: JSON.stringify('x'.repeat(300_000)) }, 'PAYLOAD_TOO_LARGE'],
  ])(
    'rejects %s with status %i and a log line, as the GraphQL endpoint does',
    async (_, status, headers, init, code) => {
      const before = gateway.log.length;
      const response = await postToTools(gateway, LIST, headers, init);
      const { errors } = await response.json();
      expect([response.status, errors[0].extensions.code]).toEqual([status, code]);
      const lines = gateway.log.slice(before).filter(({ level }) => level === 30);
      expect(lines).toMatchObject([{ msg: 'operation', httpStatus: status, code }]);
      expect(response.headers.get('www-authenticate')?.split(' ')[0]).toBe(status === 401 ? 'ApiKey' : undefined);
      expect(response.headers.get('allow')).toBe(status === 405 ? 'POST' : null);
    },
  );

  it.each([
    [200, 'the origin of the endpoint itself', (own: string) => own],
    [403, 'the origin of a host name that was given its address', () => 'rebound.example'],
  ])('answers %i to a page of %s', async (status, _, hostOf) => {
    const host = hostOf(new URL(gateway.url).host);
    const headers = {
      host,
      origin: `http://${host}`,
      authorization: KEY,
      accept: 'application/json, text/event-stream',
    };
    const request = httpRequest(new URL('/mcp', gateway.url), {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
    });
    request.end(JSON.stringify(LIST));
    const [response]: IncomingMessage[] = await once(request, 'response');
    response?.resume();
    expect(response?.statusCode).toBe(status);
  });

  it.each([['x'.repeat(257)], [1.5], [null], [{}]])('rejects a message with the id %j', async (id) => {
    const response = await postToTools(gateway, { jsonrpc: '2.0', id, method: 'nope' });
    const body = await response.text();
    expect([response.status, JSON.parse(body).errors[0].message]).toEqual([
      400,
      'The request has an id that is neither an integer nor a string of at most 256 characters.',
    ]);
    expect(body.length).toBeLessThan(400);
  });

  it.each([['x'.repeat(256)], [''], [-1]])('answers a message with the id %j', async (id) => {
    const response = await postToTools(gateway, { jsonrpc: '2.0', id, method: 'tools/list' });
    expect(await response.text()).toContain(`"id":${JSON.stringify(id)}`);
  });

  it.each(EMPTY_LISTS)('answers %s with an empty list (R49)', async (method, member) => {
    const response = await postToTools(gateway, { ...LIST, method });
    expect(await resultOf(response)).toEqual({ jsonrpc: '2.0', id: 1, result: { [member]: [] } });
    const next = await postToTools(gateway, { ...LIST, method, params: { cursor: 'x' } });
    expect(await resultOf(next)).toMatchObject({ result: { [member]: [] } });
  });

  it.each(['completion/complete', 'logging/setLevel', 'resources/read', 'nope'])('has no method %s', async (method) => {
    const response = await postToTools(gateway, { ...LIST, method });
    expect(await resultOf(response)).toMatchObject({ id: 1, error: { code: -32601, message: 'Method not found' } });
  });

  it('limits the values of a message, but not those of the arguments of a call', async () => {
    const most = await postToTools(gateway, initialize(Array(189).fill(1)));
    expect((await most.text()).length).toBeLessThan(64 * 1024); // A problem for each of them.
    const tooMany = await postToTools(gateway, initialize(Array(190).fill(1)));
    expect([tooMany.status, await tooMany.json()]).toMatchObject([
      400,
      { errors: [{ message: 'The request has more than 200 values besides the arguments of a call.' }] },
    ]);
    const params = { name: 'Flow', arguments: { id: Array(300).fill('w') } };
    const call = await postToTools(gateway, { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    expect(await call.text()).toContain('BAD_USER_INPUT');
  });

  it.each(ERAS)('the official client works in a page of an allowed origin, in the era "%s"', async (era) => {
    const fetch = createBrowserFetch('https://app.example.com');
    await using agent = await connectAgent(gateway, await signer.bearer(), { era, fetch });
    expect(await agent.names()).toEqual(ALL);
    expect((await agent.call('Groups')).isError).toBe(false);
    const other = connectAgent(gateway, KEY, { era, fetch: createBrowserFetch('https://evil.example') });
    await expect(other).rejects.toThrow('is not readable for https://evil.example');
  });
});

describe('a result', () => {
  it('of every shipped operation matches its output schema, and is the same JSON in both forms', async () => {
    const mutations = shippedOperations.filter(({ query }) => /^mutation/m.test(query)).map(({ name }) => name);
    await using sandboxed = await startGateway({ service: 'sandbox', modules: shippedModules, mcp: { mutations } });
    await using agent = await connectAgent(sandboxed, `ApiKey ${SANDBOX_KEYS.development}`);
    const { tools } = await agent.client.listTools();
    expect(tools.length).toBe(shippedOperations.length);
    const ajv = new Ajv2020({ allowUnionTypes: true, formats: { date: true } });
    for (const { name, variables = '{}' } of shippedOperations) {
      const { text, structured, isError } = await agent.call(name, JSON.parse(variables));
      expect([name, isError, text]).toEqual([name, false, JSON.stringify(structured)]);
      const outputSchema = JSON.parse(JSON.stringify(tools.find((tool) => tool.name === name)?.outputSchema));
      expect([name, ajv.validate(outputSchema, structured), ajv.errorsText()]).toEqual([name, true, 'No errors']);
      const unknown = { data: { [String(Object.keys(Object(structured).data)[0])]: 1 } };
      expect([name, ajv.validate(outputSchema, unknown)]).toEqual([name, false]);
    }
  });

  it('has a schema of fragments, aliases, unions and conditions', async () => {
    const manifest = {
      All: `query All($on: Boolean!) {
        flow: workflow(idOrIdentifier: "w") { ...F ... @include(if: $on) { steps { id } } } __schema { types { name } }
      } fragment F on Workflow { __typename name }`,
      Add: `mutation Add {
        createFeed(input: { name: "a" }) { ... on CreateFeedSuccess { feed { id } } ... on MutationError { code } } }`,
    };
    const options = { upstream: gateway.service.url, mcp: { manifest, mutations: ['Add'] } };
    await using described = await startGateway(options);
    await using agent = await connectAgent(described, KEY);
    const { tools } = await agent.client.listTools();
    const [all, add] = tools.map(({ outputSchema }) => JSON.parse(JSON.stringify(outputSchema)).properties.data);
    const text = { type: ['string', 'null'] };
    const steps = { type: 'array', items: { type: 'object', properties: { id: text }, required: [] } };
    const flow = { __typename: {}, name: { type: 'string' }, steps };
    expect(all).toEqual({
      type: ['object', 'null'],
      properties: { flow: { type: ['object', 'null'], properties: flow, required: [] }, __schema: {} },
      required: [],
    });
    const code = { type: 'string', enum: expect.arrayContaining(['CONFLICT', 'INVALID_INPUT']) };
    const newFeed = { type: 'object', properties: { id: text }, required: ['id'] };
    const results = [
      { type: 'object', properties: { code }, required: ['code'] }, // All failures have the same.
      { type: 'object', properties: { feed: newFeed }, required: ['feed'] },
      { type: 'null' },
    ];
    const properties = { createFeed: { anyOf: results } };
    expect(add).toEqual({ type: ['object', 'null'], properties, required: ['createFeed'] });
    expect(await agent.call('All', { on: false })).toMatchObject({ isError: false });
  });

  it('that is too large is replaced by what to do, and keeps the outcomes of a mutation', async () => {
    const name = 'x'.repeat(2_000);
    const manifest = {
      Some: `query Some($ids: [ID!]!, $days: Int, $id: ID = "w") {
        workflows(idsOrIdentifiers: $ids) { name } notificationStats(days: $days) { count }
        workflow(idOrIdentifier: $id) { id } }`,
      One: 'query One { workflow(idOrIdentifier: "w") { name } }',
      Two: `mutation Two { a: createFeed(input: { name: "a" }) { ... on CreateFeedSuccess { feed { name } } }
        b: deleteFeed(input: { id: "broken" }) { __typename } }`,
    };
    await using large = await startGateway({
      service: (request, raw) =>
        request.path === '/v1/feeds'
          ? { status: 201, body: { data: feed({ name }) } }
          : request.path.startsWith('/v1/workflows')
            ? { body: { data: workflow({ name }) } }
            : (PROBLEMS[request.path.split('/').at(-1) ?? ''] ?? healthyService(request, raw)),
      mcp: { manifest, mutations: ['Two'], maxResultBytes: 1_024 },
      maxRetries: 0,
    });
    await using agent = await connectAgent(large, KEY);
    const some = await agent.call('Some', { ids: ['w'], days: 1 });
    expect(some.text).toMatch(
      /^The result has 2\d{3} bytes; at most 1024 are sent\. It depends on ids, days\. Request less data, /,
    );
    expect(some).toMatchObject({
      isError: true,
      structured: { data: null, errors: [{ extensions: { code: 'RESULT_LIMIT_EXCEEDED', retryable: false } }] },
    });
    expect((await agent.call('One')).text).toMatch(/ It depends on no argument\. Request less data, /);
    const two = await agent.call('Two');
    expect(two.text.replace(/\d{4} bytes/, '2432 bytes').split('\n')).toEqual([
      'The notification service is unavailable. The change may have been applied. Check before sending it again. Read the record before you call the tool again.',
      'The result has 2432 bytes; at most 1024 are sent. The mutation was executed. Read the record before you call the tool again.',
    ]);
    expect(large.service.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    const { text } = await agent.call('Some', { ids: Array.from({ length: 90 }, () => ({})), days: 'many' });
    expect(text).not.toContain('at most 1024 are sent'); // It has no data.
  });
});

describe('a call is a GraphQL request', () => {
  it('with the same log line', async () => {
    const before = gateway.log.length;
    await gateway.send(TOOLS.Flow, { id: 'w1' }, { authorization: KEY });
    const headers = { 'x-request-id': 'call-1', 'x-graphql-client-name': 'agent' };
    await using agent = await connectAgent(gateway, KEY, { headers });
    await agent.call('Flow', { id: 'w1' });
    const [first, second] = gateway.log.slice(before).filter(({ operation }) => operation === 'Flow');
    const { time: _, ms: __, requestId: ___, ...same } = first ?? {};
    expect(second).toMatchObject({ ...same, requestId: 'call-1', client: 'agent', upstreamCalls: 1 });
    const others = gateway.log.slice(before).filter(({ level, msg }) => level === 30 && msg === 'mcp');
    expect(others.map(({ method }) => method)).not.toContain('tools/call');
  });

  it('unless it names no tool, which has a log line too', async () => {
    const before = gateway.log.length;
    await postToTools(gateway, { ...LIST, method: 'tools/call', params: { name: 'DropFeed' } });
    expect(gateway.log.slice(before)).toMatchObject([{ level: 30, msg: 'mcp', method: 'tools/call' }]);
  });

  it('that counts toward the same rate limit', async () => {
    await using limited = await startGateway({
      ...OPTIONS,
      upstream: gateway.service.url,
      clients: { server: { rateLimit: { calls: 4, perSeconds: 60 } } },
    });
    await using agent = await connectAgent(limited, KEY); // Two messages.
    await limited.data(TOOLS.Groups, {}, { authorization: KEY });
    expect((await agent.call('Groups')).isError).toBe(false);
    const { isError, text: message } = await agent.call('Groups');
    expect(isError).toBe(true);
    expect(message).toMatch(/^The rate limit of this gateway is exceeded\. .* Call the tool again in \d+ s\.$/);
    expect((await limited.send(TOOLS.Groups, {}, { authorization: KEY })).codes).toEqual(['RATE_LIMITED']);
    expect(gateway.service.requests).toHaveLength(2);
  });

  it.each<[string, object]>([
    ['tools/list', LIST],
    ['ping', { ...LIST, method: 'ping' }],
    ['a handshake', initialize([])],
    ['a notification', { jsonrpc: '2.0', method: 'notifications/initialized' }],
    ['an unknown method', { ...LIST, method: 'resources/read', params: {} }],
    ['a call of an unknown tool', { ...LIST, method: 'tools/call', params: { name: 'DropFeed' } }],
  ])('and so does %s', async (_, message) => {
    await using limited = await startGateway({
      ...OPTIONS,
      upstream: gateway.service.url,
      clients: { server: { rateLimit: { calls: 2, perSeconds: 60 } } },
    });
    const statuses = [];
    for (let i = 0; i < 3; i += 1) {
      const response = await postToTools(limited, message);
      statuses.push(response.status);
      await response.text();
    }
    expect(statuses).toEqual([statuses[0], statuses[0], 429]);
    expect(statuses[0]).toBeLessThan(400);
    const refused = await postToTools(limited, message);
    expect([refused.headers.get('retry-after'), refused.headers.get('ratelimit-limit')]).toEqual(['30', '2']);
    expect((await refused.json()).errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }]);
    const authorization = 'ApiKey key-of-a-server';
    expect((await limited.send(TOOLS.Groups, {}, { authorization })).codes).toEqual(['RATE_LIMITED']);
    expect((await postToTools(limited, message, { authorization: 'ApiKey of-another' })).status).toBe(statuses[0]);
    expect(gateway.service.requests).toEqual([]);
  });

  it('that ends when the agent disconnects', async () => {
    await using waiting = await startGateway({ service: () => {}, ...OPTIONS });
    const client = new AbortController();
    const call = { ...LIST, method: 'tools/call', params: { name: 'Groups' } };
    const answer = postToTools(waiting, call, {}, { signal: client.signal });
    await waiting.service.arrived(1);
    client.abort();
    await expect(answer).rejects.toThrow();
    await waiting.service.allClosed();
    await expect
      .poll(() => waiting.log.filter(({ msg }) => msg === 'operation'))
      .toMatchObject([{ code: 'CLIENT_CLOSED' }]);
  });

  it('that a gateway finishes before it is disposed, over streams too', async () => {
    const answered = Promise.withResolvers<void>();
    await using service = await startService((request, raw) =>
      answered.promise.then(() => healthyService(request, raw)),
    );
    const addFeed = (name: string) => `createFeed(input: { name: "${name}" }) { __typename }`;
    const manifest = { Two: `mutation Two { one: ${addFeed('1')} two: ${addFeed('2')} }` };
    const disposed = createGateway({ upstream: service.url, mcp: { manifest, mutations: ['Two'] } });
    const [input, output] = [new PassThrough(), new PassThrough()];
    const served = disposed.serveMcp({ input, output, authorization: KEY });
    for (const message of [initialize([]), { ...LIST, id: 2, method: 'tools/call', params: { name: 'Two' } }]) {
      input.write(`${JSON.stringify(message)}\n`);
    }
    await service.arrived(1);
    const disposal = disposed.dispose();
    answered.resolve();
    await disposal;
    input.end();
    await served;
    const data = { one: { __typename: 'CreateFeedSuccess' }, two: { __typename: 'CreateFeedSuccess' } };
    expect(String(output.read())).toContain(`"structuredContent":{"data":${JSON.stringify(data)}}`);
  });

  it('to the upstream that the path selects', async () => {
    await using eu = await startService(healthyService);
    await using several = await startGateway({
      upstreams: { us: { url: gateway.service.url, default: true }, eu: { url: eu.url, pathPrefix: '/eu' } },
      mcp: MCP,
    });
    await using agent = await connectAgent(several, KEY, { path: '/eu/mcp' });
    expect((await agent.call('Groups')).isError).toBe(false);
    expect([eu.requests.length, gateway.service.requests.length]).toEqual([1, 0]);
  });
});

describe('the manifest', () => {
  it.each<[string, NonNullable<GatewayOptions['mcp']>, string]>([
    [
      'an operation that does not match the schema',
      { manifest: { a: 'query A { feeds }' } },
      'mcp.manifest: the document a is rejected: Cannot query field "feeds" on type "Query"',
    ],
    [
      'an operation without a name',
      { manifest: { a: '{ __typename }' } },
      'mcp.manifest: the operation in the document a needs a name, which becomes the name of the tool',
    ],
    [
      'two operations with one name',
      { manifest: { a: 'query A { __typename }', b: 'query A { x: __typename }' } },
      'mcp.manifest: two operations have the name A; rename one',
    ],
    [
      'a listed mutation that is not in it',
      { ...MCP, mutations: ['AddFed'] },
      'mcp.mutations[0] names "AddFed", which is not in the manifest (did you mean "AddFeed"?)',
    ],
  ])('with %s is rejected', (_, mcp, message) => {
    expect(() => createGateway({ upstream: gateway.service.url, mcp })).toThrow(
      expect.objectContaining({ name: 'ManifestError', message }),
    );
  });

  it('gets input schemas that accept the examples of all shipped operations', async () => {
    const operations = loadOperations();
    const mutations = operations.filter(({ query }) => /^mutation/m.test(query)).map(({ name }) => name);
    const manifest = Object.fromEntries(operations.map(({ name, query }) => [name, query]));
    await using shipped = await startGateway({ upstream: gateway.service.url, mcp: { manifest, mutations } });
    await using agent = await connectAgent(shipped, KEY);
    const { tools } = await agent.client.listTools();
    const ajv = new Ajv2020({ allowUnionTypes: true, formats: { date: true } });
    const rejected = operations.filter(({ name, variables = '{}' }) => {
      const validate = ajv.compile(tools.find((tool) => tool.name === name)?.inputSchema ?? false);
      return !validate(JSON.parse(variables));
    });
    expect(rejected.map(({ name }) => name)).toEqual([]);
    const { inputSchema } = tools.find(({ name }) => name === 'DeleteMessagesByTransaction') ?? {};
    expect(JSON.stringify(tools)).not.toMatch(/\bheader\b/); // Agents set none.
    expect(inputSchema?.properties?.input).toMatchObject({
      type: 'object',
      properties: {
        channel: { type: ['string', 'null'], enum: expect.arrayContaining(['EMAIL', null]) },
        transactionId: { type: 'string' },
      },
      required: ['transactionId'],
      additionalProperties: false,
    });
  });

  it('gets the descriptions of fields and arguments for which variables are used', async () => {
    const manifest = {
      Add: `mutation Add($name: String!, $key: String, $feed: ID!, $channel: Channel) {
        createFeed(input: { name: $name, idempotencyKey: $key }) { __typename }
        deleteFeed(input: { id: $feed }) { __typename }
        deleteMessagesByTransaction(input: { transactionId: "t", channel: $channel }) { __typename } }`,
    };
    await using described = await startGateway({
      upstream: gateway.service.url,
      mcp: { manifest, mutations: ['Add'] },
    });
    await using agent = await connectAgent(described, KEY);
    const [tool] = (await agent.client.listTools()).tools;
    expect(tool?.inputSchema.properties).toMatchObject({
      name: { description: 'The name, which must be unique within the environment. It must not be blank.' },
      key: { description: expect.stringMatching(/^A key that is unique per change, .* only once\. Default: none\.$/) },
      channel: { description: 'The channel to delete messages of. Default: all channels.' },
      feed: { description: "The feed's id." },
    });
  });

  it('is that of the shipped operations if none is set, of which only the queries are tools', async () => {
    const shipped = loadOperations();
    const queries = shipped.filter(({ query }) => !/^mutation\b/m.test(query)).map(({ name }) => name);
    await using readOnly = await startGateway({ upstream: gateway.service.url, mcp: {} });
    await using agent = await connectAgent(readOnly, KEY);
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(queries);
    expect(tools.map(({ description }) => description)).toEqual(
      shipped.filter(({ name }) => queries.includes(name)).map(({ description }) => description),
    );
    await using writing = await startGateway({ upstream: gateway.service.url, mcp: { mutations: ['CreateFeed'] } });
    await using writer = await connectAgent(writing, KEY);
    expect(await writer.names()).toEqual([...queries, 'CreateFeed']);
  });

  it('is read again when it changes, unless an operation is invalid', async () => {
    await using folder = await createTemporaryFolder();
    const manifest = folder.path('tools.json');
    const write = async (texts: object) => {
      await writeFile(folder.path('new.tmp'), JSON.stringify(texts));
      await rename(folder.path('new.tmp'), manifest);
    };
    await write({ Groups: TOOLS.Groups });
    await using reloading = await startGateway({
      upstream: gateway.service.url,
      mcp: { manifest },
      reloadSeconds: 0.01,
    });
    await using agent = await connectAgent(reloading, KEY);
    expect(await agent.names()).toEqual(['Groups']);
    await write({ Groups: TOOLS.Groups, Flow: TOOLS.Flow });
    await expect.poll(() => agent.names()).toEqual(['Groups', 'Flow']);
    await write({ Flow: 'query Flow { flows }' });
    await expect
      .poll(() => reloading.log.map(({ problem }) => problem))
      .toContain('mcp.manifest: the document Flow is rejected: Cannot query field "flows" on type "Query"');
    expect(await agent.names()).toEqual(['Groups', 'Flow']);
  });
});
