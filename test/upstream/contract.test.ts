import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { SANDBOX_KEYS, startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import { shippedManifest } from '../../src/documents/shipped-operations.ts';
import { type ContractCheck, createContractCheck, readErrors } from '../support/contract.ts';
import { deviationsIn, type StartedGateway, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { operations } from '../support/operations.ts';
import { PREFIX, startPlainService } from '../support/plain-service.ts';
import { type Exchange, forwardTo, startService } from '../support/service.ts';

guards('src/upstream/transport/body.ts', 'readSuccess');

/** Implementation of the contract, with ids of its initial records. */
interface Service {
  start(): Promise<{ url: string } & AsyncDisposable>;
  prefix: string;
  authorization: string;
  workflowId: string;
  identifier: string;
  groupId: string;
  /** A transaction with messages of the channel, and one that still has messages when those of the first are deleted. */
  transactions: { channel: 'EMAIL' | 'IN_APP'; ids: readonly [string, string] };
  /** Key of its production environment. Without one, what needs it isn't asked. */
  productionAuthorization?: string | undefined;
  /** Whether it has the newest version of the service. */
  isNewest?: true;
  /** Whether others use it too: it gets the messages that the tests delete, and loses the records that they create. */
  isShared?: true;
  /** Whether its bodies may lack the envelope. */
  mayBeBare?: true;
  /** Whether it only implements the contract, and does nothing else that the service does. */
  isPlain?: true;
}

const services: Record<string, Service> = {
  'the sandbox': {
    start: startSandbox,
    prefix: '',
    authorization: `ApiKey ${SANDBOX_KEYS.development}`,
    workflowId: '1106e4d657eb82ffb25bf536',
    identifier: 'welcome-onboarding',
    groupId: '2c490ff384e74bd82a99effb',
    transactions: { channel: 'EMAIL', ids: ['sample-transaction-0001', 'sample-transaction-0001'] },
    productionAuthorization: `ApiKey ${SANDBOX_KEYS.production}`,
    isNewest: true,
  },
  'another server, with a path prefix and without envelopes': {
    start: startPlainService,
    prefix: PREFIX,
    authorization: 'ApiKey some=Other/key+~',
    workflowId: 'wf-1',
    identifier: 'plain-workflow',
    groupId: 'grp-1',
    transactions: { channel: 'EMAIL', ids: ['tx-1', 'tx-1'] },
    mayBeBare: true,
    isPlain: true,
  },
};

/** Time in which the messages of an event arrive. */
const DELIVERY_MS = 30_000;

/** Statuses of errors in older versions of the service, which the contract names. */
const OLDER: Readonly<Record<string, number>> = { unknownDeletion: 400, largeBody: 500, malformedCheckedId: 400 };

/** In the ids of new records: in older versions of the service, the id of a deleted subscriber stays taken. */
const RUN = `contract-${randomUUID().slice(0, 8)}`;

/** Optional real service. The tests delete the records that they create. */
const { NOTIGRAPH_TEST_UPSTREAM: url, NOTIGRAPH_TEST_KEY: key, NOTIGRAPH_TEST_WORKFLOW: ids = ':' } = process.env;
const { NOTIGRAPH_TEST_PRODUCTION_KEY: productionKey } = process.env;
if (url !== undefined && key !== undefined) {
  const [workflowId = '', identifier = '', groupId = ''] = ids.split(':');
  const start = async () => ({ url, [Symbol.asyncDispose]: async () => {} });
  const { pathname } = new URL(url);
  services['the service in NOTIGRAPH_TEST_UPSTREAM'] = {
    start,
    prefix: pathname === '/' ? '' : pathname,
    authorization: `ApiKey ${key}`,
    workflowId,
    identifier,
    groupId,
    transactions: { channel: 'IN_APP', ids: [`${RUN}-first`, `${RUN}-second`] },
    mayBeBare: true,
    isShared: true,
    productionAuthorization: productionKey && `ApiKey ${productionKey}`,
  };
}

/** Sends a request, written as 'GET /v1/…', past the gateway. */
async function askService(base: string, authorization: string, target: string, body?: unknown) {
  const [method = '', path = ''] = target.split(' ');
  const response = await fetch(base + path, {
    method,
    headers: { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

describe.each(Object.entries(services))('every operation on %s', (_, service) => {
  const recorded: Exchange[] = [];
  let gateway: StartedGateway;
  let check: ContractCheck;

  beforeAll(async () => {
    const upstream = await service.start();
    const { origin } = new URL(upstream.url);
    const recorder = await startService(forwardTo(origin, recorded));
    gateway = await startGateway({ upstream: recorder.url + service.prefix });
    check = await createContractCheck();
    const ask = (...question: [target: string, body?: unknown]) =>
      askService(upstream.url, service.authorization, ...question);
    for (const transactionId of service.isShared ? service.transactions.ids : []) {
      const event = { name: service.identifier, to: `${RUN}-0`, payload: {}, transactionId };
      expect(await ask('POST /v1/events/trigger', event)).toMatchObject({ status: 201 });
      await vi.waitFor(
        async () => expect((await ask(`GET /v1/messages?transactionId=${transactionId}`)).body.data).not.toEqual([]),
        DELIVERY_MS,
      );
    }
    return async () => {
      for (const path of service.isShared ? created : []) {
        await ask(`DELETE ${path}`);
      }
      await gateway[Symbol.asyncDispose]();
      await recorder[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    };
  });

  // A request that a failed test has left would fail the next one too.
  afterEach(() => recorded.splice(0));

  const executed = new Set<unknown>();
  /** Paths of records that tests create. */
  const created = new Set([`/v1/subscribers/${RUN}-0`, `/v1/subscribers/${RUN}-1`]);

  /** Runs an operation with the credential of the service. */
  const run: StartedGateway['data'] = (document, variables) => {
    executed.add(document);
    return gateway.data(document, variables, { authorization: service.authorization });
  };

  /** Returns the upstream calls since the previous call. Checks that they follow the contract and carry the key. */
  function takeCalls(): string[] {
    const exchanges = recorded.splice(0);
    expect(exchanges.flatMap((exchange) => check(exchange, service))).toEqual([]);
    expect(exchanges.filter(({ headers }) => headers.authorization !== service.authorization)).toEqual([]);
    return exchanges.map(({ method, path, body }) => `${method} ${path.slice(service.prefix.length)} ${body}`.trim());
  }

  it('workflow: by id and by identifier, with its group', async () => {
    const byId = await run(operations.Workflow, { idOrIdentifier: service.workflowId });
    expect(byId.workflow).toMatchObject({
      id: service.workflowId,
      identifier: service.identifier,
      notificationGroup: { id: service.groupId },
    });
    expect(takeCalls()[0]).toBe(`GET /v1/workflows/${service.workflowId}`);
    expect(await run(operations.Workflow, { idOrIdentifier: service.identifier })).toEqual(byId);
    expect(await run(operations.Workflow, { idOrIdentifier: 'no-such-workflow' })).toEqual({ workflow: null });
    takeCalls();
  });

  it('workflows: in the requested order, with null for unknown ones', async () => {
    const { identifier, workflowId } = service;
    const { workflows } = await run(operations.Workflows, {
      idsOrIdentifiers: [identifier, 'none', workflowId, identifier],
    });
    expect(workflows?.map((workflow) => workflow?.id ?? null)).toEqual([workflowId, null, workflowId, workflowId]);
    expect(takeCalls().filter((request) => request.startsWith('GET /v1/workflows/'))).toHaveLength(3);
  });

  it('updateWorkflowStatus: changed, unchanged, not found', async () => {
    const update = async (active: boolean, workflowId = service.workflowId) =>
      (await run(operations.UpdateWorkflowStatus, { input: { workflowId, active } })).updateWorkflowStatus;
    expect(await update(false)).toMatchObject({ changed: true, workflow: { id: service.workflowId, active: false } });
    expect(takeCalls()).toEqual([`PUT /v1/workflows/${service.workflowId}/status {"active":false}`]);
    expect(await update(false)).toMatchObject({ workflow: { active: false } });
    expect(await update(true)).toMatchObject({ changed: true, workflow: { active: true } });
    expect(await update(true, '65f000000000000000000999')).toMatchObject({ code: 'NOT_FOUND' });
    takeCalls();
  });

  it('createSubscriber and createSubscribers', async () => {
    const input = { subscriberId: `${RUN}-1`, firstName: 'Ada', email: null, data: { plan: 'team' } };
    const { createSubscriber } = await run(operations.CreateSubscriber, { input });
    expect(createSubscriber).toMatchObject({
      replayed: false,
      subscriber: { subscriberId: `${RUN}-1`, firstName: 'Ada' },
    });
    expect(takeCalls()).toEqual([
      `POST /v1/subscribers {"subscriberId":"${RUN}-1","data":{"plan":"team"},"email":null,"firstName":"Ada"}`,
    ]);
    const subscribers = Array.from({ length: 25 }, (_, i) => ({ subscriberId: `${RUN}-bulk-${i}` }));
    for (const { subscriberId } of subscribers) {
      created.add(`/v1/subscribers/${subscriberId}`);
    }
    const { createSubscribers } = await run(operations.CreateSubscribers, { input: { subscribers } });
    expect(createSubscribers).toMatchObject({ succeeded: 25, failed: 0 });
    expect(createSubscribers?.results).toMatchObject(
      subscribers.map(({ subscriberId }) => ({ subscriber: { subscriberId } })),
    );
    expect(takeCalls()).toHaveLength(25);
  });

  it('notification groups: create, read, list, rename, reject, delete', async () => {
    const { createNotificationGroup } = await run(operations.CreateNotificationGroup, { input: { name: 'Contract' } });
    const group =
      createNotificationGroup && 'notificationGroup' in createNotificationGroup
        ? createNotificationGroup.notificationGroup
        : null;
    const id = group?.id ?? '';
    created.add(`/v1/notification-groups/${id}`);
    expect(group).toEqual({ id: expect.any(String), name: 'Contract' });
    const rename = async (name: string) =>
      (await run(operations.UpdateNotificationGroup, { input: { id, name } })).updateNotificationGroup;
    const remove = async () =>
      (await run(operations.DeleteNotificationGroup, { input: { id } })).deleteNotificationGroup;
    expect((await run(operations.NotificationGroup, { id })).notificationGroup).toMatchObject(group ?? {});
    expect((await run(operations.NotificationGroups)).notificationGroups).toContainEqual(group);
    expect(await rename('Renamed')).toMatchObject({ notificationGroup: { id, name: 'Renamed' } });
    expect(await rename('')).toMatchObject({ code: 'INVALID_INPUT' });
    expect(await remove()).toEqual({ deletedId: id, acknowledged: true, status: 'DELETED' });
    expect(await remove()).toMatchObject({ code: 'NOT_FOUND' });
    expect((await run(operations.NotificationGroup, { id })).notificationGroup).toBeNull();
    expect(takeCalls()).toEqual([
      'POST /v1/notification-groups {"name":"Contract"}',
      `GET /v1/notification-groups/${id}`,
      'GET /v1/notification-groups',
      `PATCH /v1/notification-groups/${id} {"name":"Renamed"}`,
      `DELETE /v1/notification-groups/${id}`,
      `DELETE /v1/notification-groups/${id}`,
      `GET /v1/notification-groups/${id}`,
    ]);
  });

  it('feeds: create, conflict, delete, which returns the remaining feeds', async () => {
    const create = async () => (await run(operations.CreateFeed, { input: { name: 'Contract feed' } })).createFeed;
    const createFeed = await create();
    const feed = createFeed && 'feed' in createFeed ? createFeed.feed : null;
    created.add(`/v1/feeds/${feed?.id}`);
    expect(feed).toMatchObject({ name: 'Contract feed', identifier: expect.any(String) });
    expect(await create()).toMatchObject({ code: 'CONFLICT', reason: 'ALREADY_EXISTS' });
    const { deleteFeed } = await run(operations.DeleteFeed, { input: { id: feed?.id ?? '' } });
    const remaining = deleteFeed && 'remainingFeeds' in deleteFeed ? deleteFeed.remainingFeeds : [];
    expect(remaining?.length).toBeGreaterThan(0);
    expect(remaining).not.toContainEqual(expect.objectContaining({ id: feed?.id }));
    expect((await run(operations.DeleteFeed, { input: { id: feed?.id ?? '' } })).deleteFeed).toMatchObject({
      code: expect.stringMatching(/^(NOT_FOUND|INVALID_INPUT)$/), // The contract allows both.
    });
    takeCalls();
  });

  it('deleteMessagesByTransaction: one channel, all channels, not found', async () => {
    const { channel, ids } = service.transactions;
    const [transactionId, other] = ids;
    const remove = async (input: { transactionId: string; channel?: typeof channel }) =>
      (await run(operations.DeleteMessagesByTransaction, { input })).deleteMessagesByTransaction;
    expect(await remove({ transactionId, channel })).toEqual({ transactionId, channel });
    expect(await remove({ transactionId: other })).toEqual({ transactionId: other, channel: null });
    expect(await remove({ transactionId: 'no-such-transaction' })).toMatchObject({ code: 'NOT_FOUND' });
    expect(takeCalls().slice(0, 2)).toEqual([
      `DELETE /v1/messages/transaction/${transactionId}?channel=${channel.toLowerCase()}`,
      `DELETE /v1/messages/transaction/${other}`,
    ]);
  });

  it('notificationStats: oldest day first', async () => {
    const { notificationStats } = await run(operations.NotificationStats, { days: 4 });
    expect(notificationStats?.length).toBeOneOf(service.isShared ? [1, 2, 3, 4, 5] : [4]); // A new account has only today.
    const dates = notificationStats?.map((entry) => entry?.date) ?? [];
    expect(dates).toEqual(dates.toSorted());
    expect(notificationStats?.[0]?.workflows?.[0]).toHaveProperty('name');
    expect(takeCalls()[0]).toBe('GET /v1/notifications/graph/stats?days=4');
    expect((await run(operations.NotificationStats)).notificationStats?.length).toBeGreaterThan(0);
    expect(takeCalls()[0]).toBe('GET /v1/notifications/graph/stats');
  });

  it('the gateway reports no deviation from the contract', () => {
    expect(deviationsIn(gateway.log)).toEqual([]);
  });

  it('the tests above run every shipped operation of the contract', () => {
    const builtIn = Object.keys(shippedManifest());
    const documents = Object.entries(operations).filter(([name]) => builtIn.includes(name));
    expect(documents.length).toBeGreaterThan(10);
    expect(documents.flatMap(([name, document]) => (executed.has(document) ? [] : [name]))).toEqual([]);
  });
});

// What the service does beyond the contract, and so the sandbox too. The check of recipients isn't asked, because operators must switch it on.
describe.each(Object.entries(services).filter(([, { isPlain }]) => !isPlain))(
  'what the service does, by %s',
  (_, service) => {
    let errors: Awaited<ReturnType<typeof readErrors>>;
    let upstreamUrl: string;

    beforeAll(async () => {
      errors = await readErrors();
      const upstream = await service.start();
      upstreamUrl = upstream.url;
      return () => upstream[Symbol.asyncDispose]();
    });

    const ask = (target: string, body?: unknown, authorization = service.authorization) =>
      askService(upstreamUrl, authorization, target, body);

    const asked = new Set<string>();

    async function expectError(name: string, ...question: Parameters<typeof ask>): Promise<void> {
      asked.add(name);
      const { status, body } = await ask(...question);
      const { statusCode, ...sentence } = errors[name] ?? {};
      const statuses = [statusCode, ...(service.isNewest ? [] : [OLDER[name]])];
      expect(statuses, `${name} was answered with ${status}`).toContain(status);
      expect(body).toMatchObject({ statusCode: status, ...sentence });
    }

    it('sends the errors that the contract has as examples', async () => {
      const { workflowId, productionAuthorization } = service;
      await expectError('unknownUpdate', 'PUT /v1/subscribers/no-such-subscriber', { firstName: 'Ada' });
      await expectError('unknownDeletion', 'DELETE /v1/subscribers/no-such-subscriber');
      await expectError('topicsPage', 'GET /v1/topics?pageSize=11');
      await expectError('unknownWorkflow', 'POST /v1/events/trigger', {
        name: 'no-such-workflow',
        to: `${RUN}-1`,
        payload: {},
      });
      await expectError('malformedId', 'GET /v1/notification-groups/malformed');
      await expectError('malformedId', 'DELETE /v1/feeds/malformed');
      await expectError('malformedCheckedId', 'PUT /v1/workflows/malformed/status', { active: true });
      await expectError('malformedCheckedId', 'DELETE /v1/messages/malformed');
      await expectError('largeBody', 'POST /v1/subscribers', {
        subscriberId: `${RUN}-1`,
        firstName: 'x'.repeat(102_400),
      });
      const [inbox, nobody] = [`/v1/subscribers/${RUN}-3`, '/v1/subscribers/no-such-subscriber'];
      await ask('POST /v1/subscribers', { subscriberId: `${RUN}-3` });
      const message = '000000000000000000000000';
      const mark = { messageId: [message], markAs: 'read' };
      await expectError('unknownInbox', `GET ${nobody}/notifications/feed`);
      await expectError('unknownCount', `GET ${nobody}/notifications/unseen`);
      await expectError('unknownMark', `POST ${nobody}/messages/mark-as`, mark);
      await expectError('unknownMark', `POST ${nobody}/messages/mark-all`, { markAs: 'read' });
      await expectError('emptyMark', `POST ${inbox}/messages/mark-as`, { ...mark, messageId: [] });
      await expectError('malformedMessageId', `POST ${inbox}/messages/mark-as`, { ...mark, messageId: ['malformed'] });
      await expectError('unknownMessage', `POST ${inbox}/messages/${message}/actions/primary`, { status: 'done' });
      await expectError('unknownMessage', `DELETE /v1/messages/${message}`);
      await ask(`DELETE /v1/subscribers/${RUN}-3`);
      if (productionAuthorization !== undefined) {
        await expectError(
          'otherEnvironment',
          `PUT /v1/workflows/${workflowId}/status`,
          { active: true },
          productionAuthorization,
        );
      }
      expect(Object.keys(errors).filter((name) => name !== 'otherEnvironment' && !asked.has(name))).toEqual([]);
    });

    it('rejects an event without payload, but only in bulk', async () => {
      const events = [{ name: service.identifier, to: `${RUN}-1` }];
      expect(await ask('POST /v1/events/trigger/bulk', { events })).toMatchObject({
        status: 201,
        body: { data: [{ status: 'error', error: ['payload should not be null or undefined'] }] },
      });
    });

    it('lists workflows with the newest first, and only the types of their templates', async () => {
      const { body } = await ask('GET /v1/workflows?limit=100');
      const createdAt = body.data.map((workflow: { createdAt: string }) => workflow.createdAt);
      expect(createdAt).toEqual(createdAt.toSorted().toReversed());
      const templates = JSON.stringify(body.data).match(/(?<="template":)\{[^}]*\}/g) ?? [];
      expect(templates.map((template) => Object.keys(JSON.parse(template)).toSorted().join())).toEqual(
        templates.map(() => '_id,type'),
      );
      expect(templates.length).toBeGreaterThan(0);
    });

    it('trims the id of a new subscriber, only adds channels, and has more after each full page', async () => {
      const create = (fields: object) => ask('POST /v1/subscribers', { subscriberId: `${RUN}-2`, ...fields });
      const created = await create({ subscriberId: ` ${RUN}-2 `, firstName: 'Ada', email: null });
      expect(created).toMatchObject({
        status: 201,
        body: { data: { subscriberId: `${RUN}-2`, email: null, channels: [] } },
      });
      const cleared = (await create({ firstName: null, channels: [] })).body.data;
      expect(cleared.firstName).toBe(service.isNewest ? null : 'Ada');
      const { length } = (await ask('GET /v1/subscribers?limit=100')).body.data;
      expect((await ask(`GET /v1/subscribers?limit=${length}`)).body).toMatchObject({ hasMore: true });
      expect(await ask(`DELETE /v1/subscribers/${RUN}-2`)).toMatchObject({ status: 200 });
    });

    it('creates the topic that subscribers are added to', async () => {
      const subscribers = ['no-such-subscriber'];
      const added = await ask('POST /v1/topics/contract-topic/subscribers', { subscribers });
      expect(added).toMatchObject({
        status: 200,
        body: { data: { succeeded: [], failed: { notFound: subscribers } } },
      });
      const { body } = await ask('GET /v1/topics/contract-topic');
      expect(body.data).toMatchObject({ name: 'Autogenerated-contract-topic', subscribers: [] });
      expect((await ask('DELETE /v1/topics/contract-topic')).status).toBe(204);
      expect((await ask('POST /v1/topics/contract-topic/subscribers/removal', { subscribers })).status).toBe(204);
    });

    it('sends statistics since as many times 24 hours ago, in the envelope', async () => {
      const { body } = await ask('GET /v1/notifications/graph/stats?days=2');
      const days = body.data.map(({ _id }: { _id: string }) => _id);
      const first = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10);
      expect(days.filter((day: string) => day < first)).toEqual([]);
      expect(days.length).toBeLessThanOrEqual(3);
    });
  },
);
