// Reads and deletes messages of inboxes that change meanwhile, behind a service that keeps them in a list.

import { describe, expect, it } from 'vitest';
import inbox from '../../src/modules/shipped/inbox.ts';
import messages from '../../src/modules/shipped/messages.ts';
import { startGateway } from '../support/gateway.ts';
import { inboxMessage } from '../support/inbox.ts';
import type { Script } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

const signer = createSigner();
const SCOPES = ['inbox:read', 'inbox:write', 'messages:read', 'workflows:read'] as const;

interface Stored {
  _id: string;
  read: boolean;
  createdAt: string;
  owner: string;
  feed: string;
  transactionId: string;
}

/** Id as the service makes them: the second of creation, the process, and its counter. */
const idAt = (second: number, count: number, process = 'aaaaaaaaaa') =>
  `${(1_700_000_000 + second).toString(16)}${process}${count.toString(16).padStart(6, '0')}`;

const store = (second: number, members: Partial<Stored> = {}): Stored => ({
  _id: idAt(second, second),
  read: false,
  createdAt: new Date((1_700_000_000 + second) * 1000).toISOString(),
  owner: 'user-1',
  feed: `feed-${second % 30}`,
  transactionId: `t-${second % 30}`,
  ...members,
});

/** Starts a gateway in front of a service whose messages the test changes. */
async function start(stored: Stored[]) {
  const shown = ({ owner, feed, ...row }: Stored) =>
    inboxMessage({ ...row, feed, subscriber: { subscriberId: owner }, _subscriberId: `internal-${owner}` });
  const script: Script = ({ method, path, body }) => {
    const url = new URL(path, 'http://service');
    const query = url.searchParams;
    const [, , , person = ''] = url.pathname.split('/');
    if (method === 'DELETE') {
      const at = stored.findIndex(({ _id }) => url.pathname === `/v1/messages/${_id}`);
      stored.splice(at, at < 0 ? 0 : 1);
      return at < 0
        ? { status: 404, body: { statusCode: 404, message: 'Message not found' } }
        : { body: { data: { acknowledged: true, status: 'deleted' } } };
    }
    if (url.pathname.endsWith('/mark-as')) {
      const { messageId } = JSON.parse(body);
      const marked = stored.filter(({ _id }) => messageId.includes(_id));
      marked.filter(({ owner }) => owner === person).forEach((row) => void Object.assign(row, { read: true }));
      return { status: 201, body: { data: marked.map(shown) } };
    }
    if (url.pathname === `/v1/subscribers/${person}`) {
      return {
        body: {
          data: { subscriberId: person, _id: `internal-${person}`, _environmentId: 'env', _organizationId: 'org' },
        },
      };
    }
    const lists = ['feedIdentifier', 'transactionId'].map((name) => query.getAll(name));
    if (lists.some(({ length }) => length > 20)) {
      return { status: 500, body: { statusCode: 500, message: 'Internal server error' } };
    }
    const [feeds = [], transactions = []] = lists;
    const rows = stored
      .filter(
        ({ owner }) =>
          owner === (query.get('subscriberId') ?? person) ||
          (url.pathname === '/v1/messages' && !query.has('subscriberId')),
      )
      .filter(({ feed }) => feeds.length === 0 || feeds.includes(feed))
      .filter(({ transactionId }) => transactions.length === 0 || transactions.includes(transactionId))
      .filter(({ read }) => query.get('read') === null || String(read) === query.get('read'))
      .toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
    if (url.pathname.endsWith('/unseen')) {
      return { body: { data: { count: Math.min(rows.length, 100) } } };
    }
    const [page, limit] = [Number(query.get('page')), Number(query.get('limit'))];
    const data = rows.slice(page * limit, (page + 1) * limit).map(shown);
    const hasMore = rows.length > (page + 1) * limit;
    return { body: { page, pageSize: limit, hasMore, totalCount: data.length, data } };
  };
  const clients = clientsOf(signer, { scopes: SCOPES });
  const gateway = await startGateway({ service: script, modules: [inbox, messages], clients });
  const authorization = await signer.bearer({ scope: SCOPES.join(' ') });
  const read = async (args: string) => {
    gateway.service.forget();
    const { body } = await gateway.send(
      `{ inbox { messages(${args}) { hasMore messages { id } } } }`,
      {},
      { authorization },
    );
    expect(body.errors).toBeUndefined();
    const page = body.data?.inbox as { messages: { hasMore: boolean; messages: { id: string }[] } };
    return { hasMore: page.messages.hasMore, ids: page.messages.messages.map(({ id }) => id) };
  };
  return { gateway, authorization, read, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}

const many = (length: number) => Array.from({ length }, (_, i) => store(i));
const newestFirst = (stored: Stored[]) => stored.map(({ _id }) => _id).toReversed();

describe('the messages that follow one', () => {
  it('are the next page, with one call for each if nothing changed', async () => {
    const stored = many(250);
    await using service = await start(stored);
    const ids: string[] = [];
    for (let page = 0, hasMore = true; hasMore; page += 1) {
      const next = await service.read(page === 0 ? 'limit: 20' : `page: ${page}, limit: 20, after: "${ids.at(-1)}"`);
      ids.push(...next.ids);
      hasMore = next.hasMore;
      expect(service.gateway.service.requests).toHaveLength(1);
    }
    expect(ids).toEqual(newestFirst(stored));
  });

  it('are all unread ones while those shown are marked, with one call for each page', async () => {
    const stored = many(259);
    await using service = await start(stored);
    const ids: string[] = [];
    for (let hasMore = true; hasMore; ) {
      const next = await service.read(`read: false, limit: 50${ids.length > 0 ? `, after: "${ids.at(-1)}"` : ''}`);
      expect(service.gateway.service.requests).toHaveLength(1);
      ids.push(...next.ids);
      hasMore = next.hasMore;
      const mark = `mutation ($ids: [ID!]!) { markMessages(input: { messageIds: $ids, as: READ }) { __typename } }`;
      await service.gateway.send(mark, { ids: next.ids }, { authorization: service.authorization });
    }
    expect(ids).toEqual(newestFirst(stored));
  });

  it('are none twice if others arrive, and none are missing if some are deleted', async () => {
    const stored = many(250);
    const all = newestFirst(stored);
    await using service = await start(stored);
    const ids: string[] = [];
    for (let page = 0, hasMore = true; hasMore; page += 1) {
      const next = await service.read(page === 0 ? 'limit: 30' : `page: ${page}, limit: 30, after: "${ids.at(-1)}"`);
      ids.push(...next.ids);
      hasMore = next.hasMore;
      stored.push(...Array.from({ length: page * 7 }, (_, i) => store(1000 + page * 100 + i)));
      if (page > 2) {
        stored.splice(
          stored.findIndex(({ _id }) => _id === ids.at(-1)),
          1,
        ); // Also the one that the next page follows.
        stored.splice(0, stored.length - 120); // The list is shorter than the number of the page says.
      }
    }
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.slice(0, 120)).toEqual(all.slice(0, 120));
  });

  it('are all of the same time if the message is not in the list: ids of one second are in another order', async () => {
    const times = ['.900', '.800', '.700'].map((ms) => store(5).createdAt.replace('.000', ms));
    const stored = [3, 7, 9].map((count, i) => store(5, { _id: idAt(5, count), createdAt: times[i] ?? '' }));
    const shown = stored.slice(1).map(({ _id }) => _id); // The first one was marked, and the others follow it.
    await using service = await start([store(1), store(9), ...stored.slice(1)]);
    expect((await service.read(`read: false, after: "${idAt(5, 3)}"`)).ids).toEqual([...shown, store(1)._id]);
    expect((await service.read(`read: false, after: "${idAt(4, 3)}"`)).ids).toEqual([...shown, store(1)._id]);
    expect((await service.read(`after: "${idAt(5, 7)}"`)).ids).toEqual([idAt(5, 9), store(1)._id]);
  });

  it('can only be found from a message of the list if ids have another form', async () => {
    const stored = ['m3', 'm2', 'm1'].map((_id, i) => store(9 - i, { _id }));
    await using service = await start(stored);
    expect((await service.read('after: "m3"')).ids).toEqual(['m2', 'm1']);
    expect(await service.read('after: "m1"')).toEqual({ ids: [], hasMore: false });
    const unknown = await service.gateway.send(
      '{ inbox { messages(after: "m9") { hasMore } } }',
      {},
      { authorization: service.authorization },
    );
    expect(unknown.codes).toEqual(['BAD_USER_INPUT']);
    expect(unknown.body.errors?.[0]?.message).toBe(
      'after is the id of no message of this list. Read the first page again.',
    );
  });
});

describe('more than 20 values of a filter', () => {
  const names = (name: string, from = 0) => JSON.stringify(Array.from({ length: 30 - from }, (_, i) => `${name}-${i}`));

  it('select pages and numbers as one list', async () => {
    const stored = many(250);
    await using service = await start(stored);
    const expected = newestFirst(stored.filter(({ feed }) => feed !== 'feed-29'));
    for (const page of [0, 3]) {
      const { ids, hasMore } = await service.read(`feeds: ${names('feed', 1)}, page: ${page}, limit: 40`);
      expect([ids, hasMore]).toEqual([expected.slice(page * 40, (page + 1) * 40), true]);
    }
    const { body } = await service.gateway.send(
      `{ inbox { unseen(feeds: ${names('feed')}) { count isMore } } }`,
      {},
      { authorization: service.authorization },
    );
    expect(body).toEqual({ data: { inbox: { unseen: { count: 100, isMore: true } } } });
    const sent = await service.gateway.send(
      `{ messages(transactionIds: ${names('t')}, limit: 100, page: 2) { hasMore messages { id } } }`,
    );
    expect(sent.body).toMatchObject({ data: { messages: { hasMore: false, messages: { length: 50 } } } });
  });
});

describe('deleting messages', () => {
  const REMOVE = `mutation ($ids: [ID!]!) { deleteInboxMessages(input: { messageIds: $ids }) {
    ... on DeleteInboxMessagesSuccess { deletedIds inbox { id unread { count } } }
    ... on MutationError { code message }
  } }`;

  it('deletes those of the inbox, and none of others', async () => {
    const foreign = store(777, { owner: 'user-2' });
    const stored = [...many(150), foreign];
    await using service = await start(stored);
    const [own, old] = [store(149)._id, store(3)._id];
    const { body } = await service.gateway.send(
      REMOVE,
      { ids: [own, foreign._id, old, idAt(9999, 1), own] },
      { authorization: service.authorization },
    );
    expect(body).toEqual({
      data: { deleteInboxMessages: { deletedIds: [own, old], inbox: { id: 'inbox:user-1', unread: { count: 100 } } } },
    });
    expect(stored).toHaveLength(149);
    expect(stored).toContain(foreign);
    const list = 'GET /v1/messages?page=0&limit=100&channel=in_app&subscriberId=user-1';
    expect(service.gateway.service.calls().slice(0, 4)).toEqual([
      list,
      list.replace('page=0', 'page=1'),
      `DELETE /v1/messages/${own}`,
      `DELETE /v1/messages/${old}`,
    ]);
  });

  it('reads no further than the oldest of them, and refuses more than 20', async () => {
    await using service = await start(many(250));
    const ids = [idAt(400, 1)];
    const { body } = await service.gateway.send(REMOVE, { ids }, { authorization: service.authorization });
    expect(body.data).toMatchObject({ deleteInboxMessages: { deletedIds: [] } });
    expect(service.gateway.service.calls().filter((call) => call.startsWith('GET /v1/messages'))).toHaveLength(1);
    service.gateway.service.forget();
    const tooMany = { ids: Array.from({ length: 21 }, (_, i) => idAt(i, i)) };
    expect((await service.gateway.send(REMOVE, tooMany, { authorization: service.authorization })).codes).toEqual([
      'BAD_USER_INPUT',
    ]);
    expect(service.gateway.service.requests).toEqual([]);
  });
});

it('marked messages come back with their new state, and none of others', async () => {
  const foreign = store(777, { owner: 'user-2' });
  await using service = await start([store(1), store(2), foreign]);
  const { body } = await service.gateway.send(
    `mutation ($ids: [ID!]!) { markMessages(input: { messageIds: $ids, as: READ }) {
      ... on MarkMessagesSuccess { messages { id seen read } } } }`,
    { ids: [store(1)._id, foreign._id] },
    { authorization: service.authorization },
  );
  expect(body).toEqual({ data: { markMessages: { messages: [{ id: store(1)._id, seen: true, read: true }] } } });
});
