import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { scopesOf } from '../../src/graphql/scopes.ts';
import { defineModule } from '../../src/modules/index.ts';
import { createSchema } from '../../src/modules/schema.ts';
import messages from '../../src/modules/shipped/messages.ts';
import { linesOf, sendExplain } from '../support/explain.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { feed, message, workflow } from '../support/records.ts';
import type { Script } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('src/modules/types/pages.ts', 'assertPage');
guards('src/modules/types/pages.ts', 'withHasMore');
guards('src/upstream/transport/to-error.ts', 'isForeign');

const SCOPES = scopesOf(createSchema(undefined, [messages]));
const SECRET = 'canary-4711';

const signer = createSigner();
const missing = (text: string) => ({ status: 404, body: { statusCode: 404, message: text, error: 'Not Found' } });
const pageOf = (...data: unknown[]) => ({ body: { page: 0, pageSize: 10, hasMore: false, data } });

const start = (script: Script, options: Partial<GatewayOptions> = {}) =>
  startGateway({ service: script, modules: [messages], clients: clientsOf(signer, { scopes: SCOPES }), ...options });

/** A message with all that the service can send. */
const FULL = message({
  channel: 'email',
  subject: 'Payment failed',
  content: 'Hello Ada',
  status: 'error',
  errorId: 'provider_error',
  errorText: 'Mailbox full',
  seen: true,
  read: true,
  _templateId: 'w1',
  _feedId: 'f1',
  templateIdentifier: 'payment-failed',
  payload: { amount: '12.00' },
  email: 'ada@example.com',
  subscriber: { _id: 's1', subscriberId: 'user-4711', firstName: 'Ada' },
  deviceTokens: [SECRET],
  overrides: { email: { apiKey: SECRET } },
});

const ALL =
  'id channel subject content contentBlocks status errorId errorText seen read createdAt transactionId subscriberId workflowId workflowIdentifier tags feedId payload extra';

describe('the list of messages', () => {
  it('says whether each arrived, with all that the service knows but device tokens and overrides', async () => {
    await using gateway = await start(() => pageOf(FULL));
    expect(await gateway.data(`{ messages { page hasMore messages { ${ALL} } } }`)).toEqual({
      messages: {
        page: 0,
        hasMore: false,
        messages: [
          {
            id: 'm1',
            channel: 'EMAIL',
            subject: 'Payment failed',
            content: 'Hello Ada',
            contentBlocks: null,
            status: 'error',
            errorId: 'provider_error',
            errorText: 'Mailbox full',
            seen: true,
            read: true,
            createdAt: '2026-01-02T00:00:00.000Z',
            transactionId: 't1',
            subscriberId: 'user-4711',
            workflowId: 'w1',
            workflowIdentifier: 'payment-failed',
            tags: [],
            feedId: 'f1',
            payload: { amount: '12.00' },
            extra: {
              _environmentId: 'env',
              _organizationId: 'org',
              _subscriberId: 's1',
              email: 'ada@example.com',
            },
          },
        ],
      },
    });
    expect(gateway.service.calls()).toEqual(['GET /v1/messages?page=0&limit=10']);
  });

  it('has blocks as such, and null for what the service left out', async () => {
    const blocks = [{ type: 'text', content: 'Hello' }];
    await using gateway = await start(() => pageOf(message({ content: blocks }), { _id: 'm2' }));
    const { messages: page } = await gateway.data<{ messages: { messages: Record<string, unknown>[] } }>(
      `{ messages { messages { ${ALL} workflow { id } } } }`,
    );
    expect(page.messages[0]).toMatchObject({ content: null, contentBlocks: blocks });
    const fields = `${ALL} workflow`.split(' ').filter((name) => name !== 'id' && name !== 'tags');
    expect(page.messages[1]).toEqual({ id: 'm2', tags: [], ...Object.fromEntries(fields.map((name) => [name, null])) });
  });

  it('is selected by channel, recipient and several transactions', async () => {
    await using gateway = await start(() => pageOf());
    await gateway.data(
      '{ messages(page: 2, limit: 100, channel: IN_APP, subscriberId: "user/1", transactionIds: ["t1", "t&2"]) { page } }',
    );
    await gateway.data('{ messages(channel: null, subscriberId: null, transactionIds: null) { page } }');
    expect(gateway.service.calls()).toEqual([
      'GET /v1/messages?page=2&limit=100&channel=in_app&subscriberId=user%2F1&transactionId=t1&transactionId=t%262',
      'GET /v1/messages?page=0&limit=10',
    ]);
  });

  it.each([
    ['page: -1', 'page must be between 0 and'],
    ['limit: 0', 'limit must be between 1 and 100, but is 0.'],
    ['limit: 101', 'limit must be between 1 and 100, but is 101.'],
    ['transactionIds: []', 'the number of transactionIds must be between 1 and 100, but is 0.'],
    ['transactionIds: ["t1", ""]', 'transactionId must not be empty.'],
    ['subscriberId: ""', 'subscriberId must not be empty.'],
  ])('sends nothing with %s, for which the service would return other messages', async (args, text) => {
    await using gateway = await start(() => pageOf());
    const { body, codes } = await gateway.send(`{ messages(${args}) { page } }`);
    expect([codes, body.errors?.[0]?.message]).toEqual([['BAD_USER_INPUT'], expect.stringContaining(text)]);
    const many = { ids: Array.from({ length: 101 }, (_, i) => `t${i}`) };
    const query = 'query ($ids: [ID!]) { messages(transactionIds: $ids) { page } }';
    expect((await gateway.send(query, many)).codes).toEqual(['BAD_USER_INPUT']);
    expect(gateway.service.requests).toEqual([]);
  });

  it('is null for an unknown subscriber, and an error if the service has no such list', async () => {
    await using gateway = await start(() => missing('Subscriber not found for id nobody'));
    expect(await gateway.data('{ messages(subscriberId: "nobody") { page } }')).toEqual({ messages: null });
    for (const all of ['{ messages { page } }', '{ messages(subscriberId: null) { page } }']) {
      expect((await gateway.send(all)).codes).toEqual(['UPSTREAM_BAD_RESPONSE']);
    }
    await using other = await start(({ path }) => missing(`Cannot GET ${path}`));
    const { codes } = await other.send('{ messages(subscriberId: "nobody") { page } }');
    expect(codes).toEqual(['UPSTREAM_BAD_RESPONSE']);
  });

  it('is an error in a module of a user also with an id, because any JSON could be that of a router', async () => {
    const books = defineModule('books', ({ builder, declareCalls, endpoint, requireScopes }) => {
      const list = endpoint('GET /v1/books', { expect: 'value' }).takes<{ query: { authorId: string } }>();
      builder.queryField('books', (t) =>
        t.field({
          type: 'JSON',
          nullable: true,
          description: 'All books.',
          extensions: { ...requireScopes('books:read'), ...declareCalls('1') },
          resolve: (_root, _args, ctx) => ctx.upstream.read(list, { query: { authorId: 'a1' } }),
        }),
      );
    });
    await using gateway = await start(() => missing('No such author'), { modules: [books], clients: {} });
    expect((await gateway.send('{ books }')).codes).toEqual(['UPSTREAM_BAD_RESPONSE']);
  });

  it.each([
    [{ page: 1, totalCount: 25 }, true],
    [{ totalCount: 20 }, false],
    [{ page: 1, totalCount: 25, hasMore: false }, false],
    [{ page: 1, hasMore: true }, true],
  ])('tells whether there may be more, also of versions with only a count: %j', async (sent, hasMore) => {
    const data = Array.from({ length: 10 }, (_, i) => message({ _id: `m${i}` }));
    await using gateway = await start(() => ({ body: { pageSize: 10, data, ...sent } }));
    expect(await gateway.data('{ messages(page: 1) { page hasMore } }')).toEqual({ messages: { page: 1, hasMore } });
  });

  it('loses only what is invalid', async () => {
    const odd: Record<string, unknown>[] = [{ ...message(), channel: 'pigeon', createdAt: 'yesterday' }];
    await using gateway = await start(() => pageOf(message(), 'text', {}, ...odd));
    const { body } = await gateway.send('{ messages { messages { id channel createdAt } } }');
    expect(body.data?.messages).toEqual({
      messages: [
        { id: 'm1', channel: 'IN_APP', createdAt: '2026-01-02T00:00:00.000Z' },
        null,
        null,
        { id: 'm1', channel: null, createdAt: null },
      ],
    });
    expect(body.errors?.map(({ path, extensions }) => [path?.join('.'), extensions?.code])).toEqual([
      ['messages.messages.1', 'UPSTREAM_BAD_RESPONSE'],
      ['messages.messages.2', 'UPSTREAM_BAD_RESPONSE'],
      ['messages.messages.3.channel', 'UPSTREAM_BAD_RESPONSE'],
      ['messages.messages.3.createdAt', 'UPSTREAM_BAD_RESPONSE'],
    ]);
  });

  it('loads each workflow once, and explains the calls', async () => {
    const sent = ['w1', 'w2', 'w1'].map((_templateId, i) => message({ _id: `m${i}`, _templateId }));
    await using gateway = await start(({ path }) => {
      const isUnknown = path.endsWith('w2');
      return path.startsWith('/v1/messages?')
        ? pageOf(...sent)
        : isUnknown
          ? missing('No such workflow.')
          : { body: { data: workflow() } };
    });
    const query = '{ messages { messages { workflow { name } } } }';
    const loaded = { workflow: { name: 'Workflow' } };
    expect(await gateway.data(query)).toEqual({ messages: { messages: [loaded, { workflow: null }, loaded] } });
    expect(gateway.service.calls()).toEqual([
      'GET /v1/messages?page=0&limit=10',
      'GET /v1/workflows/w1',
      'GET /v1/workflows/w2',
    ]);
    const { body } = await sendExplain(gateway, { query }, { authorization: 'ApiKey a' });
    expect(linesOf(body.extensions?.explain ?? expect.unreachable())).toEqual([
      '1 [] GET messages 1..1 Query.messages',
      '2 [1] GET workflows/{workflowIdOrIdentifier} 0..49 Message.workflow',
    ]);
  });

  it('is read anew each time, and no entity', async () => {
    await using gateway = await start(() => pageOf(message()), { cache: true, federation: true });
    await gateway.data('{ messages { page } }');
    await gateway.data('{ messages { page } }');
    const entity = '{ _entities(representations: [{ __typename: "Message", id: "m1" }]) { __typename } }';
    expect((await gateway.send(entity)).codes).toEqual(['BAD_USER_INPUT']);
    expect(gateway.service.calls()).toEqual(Array(2).fill('GET /v1/messages?page=0&limit=10'));
  });
});

describe('a browser', () => {
  it('sees no credential of a message, wherever it is', async () => {
    const link = `https://example.com/reset?token=${SECRET}`;
    const hostile = message({
      subject: `Sign in: ${link}`,
      content: `Sign in: ${link}`,
      errorText: `No response from ${link}`,
      payload: { link, apiKey: SECRET },
      directWebhookUrl: SECRET,
      deviceTokens: [SECRET],
      overrides: { email: SECRET },
    });
    await using gateway = await start(() => pageOf(hostile, message({ content: [{ url: link }] })));
    const query = `{ messages { messages { ${ALL} } } }`;
    const seen = JSON.stringify(
      await gateway.data(query, {}, { authorization: await signer.bearer({ scope: SCOPES.join(' ') }) }),
    );
    expect(seen).not.toContain(SECRET);
    expect(seen.match(/\[masked\]/g)).toHaveLength(7);
    const sent = JSON.stringify(await gateway.data(query));
    expect(sent.match(new RegExp(SECRET, 'g'))).toHaveLength(7);
    expect(sent).not.toMatch(/deviceTokens|overrides/);
  });

  it.each([
    ['{ messages { page } }', 'messages:read'],
    ['{ messages { messages { extra } } }', 'messages:extra'],
    ['{ messages { messages { workflow { name } } } }', 'workflows:read'],
    ['{ feeds { name } }', 'feeds:read'],
    ['mutation { deleteMessage(input: { id: "m1" }) { __typename } }', 'messages:write'],
  ])('is refused %s without %s, before any call', async (query, scope) => {
    await using gateway = await start(() => pageOf());
    const authorization = await signer.bearer({ scope: SCOPES.filter((each) => each !== scope).join(' ') });
    const { status, codes } = await gateway.send(query, {}, { authorization });
    expect([status, codes]).toEqual([403, ['FORBIDDEN']]);
    expect(gateway.service.requests).toEqual([]);
  });
});

describe('the list of feeds', () => {
  it.each([
    ['in an envelope', (feeds: unknown) => ({ data: feeds })],
    ['without one', (feeds: unknown) => feeds],
  ])('has all of them, %s', async (_, wrap) => {
    const sent = [feed(), feed({ _id: 'f2', name: 'News' }), {}];
    await using gateway = await start(() => ({ body: wrap(sent) }));
    const { body, codes } = await gateway.send('{ feeds { id name } }');
    expect(body.data).toEqual({ feeds: [{ id: 'f1', name: 'Feed' }, { id: 'f2', name: 'News' }, null] });
    expect(codes).toEqual(['UPSTREAM_BAD_RESPONSE']);
    expect(gateway.service.calls()).toEqual(['GET /v1/feeds']);
  });
});

describe('the deletion of a message', () => {
  const remove =
    'mutation { deleteMessage(input: { id: "m1" }) { __typename ... on DeleteMessageSuccess { deletedId } ... on NotFoundError { resource requestedId message } ... on InvalidInputError { issues { path message } } } }';

  it.each([
    [
      'was done',
      { body: { data: { acknowledged: true, status: 'deleted' } } },
      { __typename: 'DeleteMessageSuccess', deletedId: 'm1' },
    ],
    ['was done by a service without a body', { status: 204 }, { __typename: 'DeleteMessageSuccess', deletedId: 'm1' }],
    [
      'finds no message',
      missing('Message with id m1 not found'),
      { __typename: 'NotFoundError', resource: 'Message', requestedId: 'm1', message: 'Message with id m1 not found' },
    ],
    [
      'has an id that the service never gives',
      { status: 400, body: { statusCode: 400, message: ['messageId must be a mongodb id'], error: 'Bad Request' } },
      {
        __typename: 'InvalidInputError',
        issues: [{ path: ['input'], message: 'messageId must be a mongodb id' }],
      },
    ],
  ])('%s', async (_, response, result) => {
    await using gateway = await start(() => response);
    expect(await gateway.data(remove)).toEqual({ deleteMessage: result });
    expect(gateway.service.calls()).toEqual(['DELETE /v1/messages/m1']);
  });

  it('empties the stored statistics, which count messages', async () => {
    const read = '{ notificationStats(days: 1) { count } }';
    await using gateway = await start(
      ({ method }) => (method === 'DELETE' ? { status: 204 } : { body: { data: [] } }),
      {
        cache: true,
      },
    );
    for (const document of [read, read, remove, read]) {
      await gateway.data(document);
    }
    expect(gateway.service.calls()).toEqual([
      'GET /v1/notifications/graph/stats?days=1',
      'DELETE /v1/messages/m1',
      'GET /v1/notifications/graph/stats?days=1',
    ]);
  });
});
