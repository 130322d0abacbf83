import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { expect, it } from 'vitest';
import events from '../../src/modules/shipped/events.ts';
import inbox from '../../src/modules/shipped/inbox.ts';
import topics from '../../src/modules/shipped/topics.ts';
import { type StartedGateway, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { ofTest } from '../support/lifetime.ts';
import { metricValues } from '../support/metrics-text.ts';
import { feed, subscriber } from '../support/records.ts';
import { createTestFolder } from '../support/sandbox-files.ts';
import type { Script } from '../support/service.ts';
import { AUDIENCE, clientsOf, createSigner, ISSUER, TENANT_KEYS } from '../support/tokens.ts';

guards('src/telemetry/audit-log.ts', 'idsIn');
guards('src/telemetry/audit-log.ts', 'idsOf');
guards('src/telemetry/audit-log.ts', 'openAuditFile.write');

const CREATE_FEED = 'mutation { createFeed(input: { name: "canary-name" }) { __typename } }';
const DELETE_FEED = 'mutation ($id: ID!) { deleteFeed(input: { id: $id }) { __typename } }';
const CREATE_SUBSCRIBERS = `mutation { createSubscribers(input: { subscribers: [
  { subscriberId: "u1", email: "canary@example.com", idempotencyKey: "canary-idempotency" }, { subscriberId: "u2" }
] }) { succeeded } }`;

const signer = createSigner();

/** Starts a gateway with an audit log in a new folder, in front of a service that fails to delete feeds. */
async function startAudited(required: boolean) {
  const folder = await createTestFolder();
  const path = folder.path('audit.jsonl');
  const readLines = async (file = path) =>
    (await readFile(file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
  const sentWith: unknown[][] = [];
  const script: Script = async ({ method, path: address }) => {
    sentWith.push(required ? await readLines() : []);
    if (method === 'DELETE') {
      return { status: 500, body: {} };
    }
    return address === '/v1/feeds'
      ? { status: 201, body: { data: feed({ _id: 'f1', name: 'canary-name' }) } }
      : { status: 201, body: { data: subscriber({ subscriberId: 'u1' }) } };
  };
  const audit = { to: { file: path }, required };
  const gateway = ofTest(await startGateway({ service: script, maxRetries: 0, clients: clientsOf(signer), audit }));
  return { path, readLines, gateway, sentWith };
}

const countsOf = async (gateway: StartedGateway) =>
  metricValues(await gateway.metrics(), /^notigraph_audit_lines_total/);

it('has one line per write with its author, ids and outcome, and neither values nor keys', async () => {
  const { path, readLines, gateway } = await startAudited(false);
  const traceIds = { trace_id: '0af7651916cd43dd8448eb211c80319c', span_id: 'b7ad6b7169203331' };
  const traceparent = `00-${traceIds.trace_id}-${traceIds.span_id}-01`;
  await gateway.send('{ __typename }');
  await gateway.send(CREATE_FEED, {}, { authorization: await signer.bearer(), headers: { 'x-request-id': 'r1' } });
  await gateway.send(
    DELETE_FEED,
    { id: 'CANARY-KEY-OF' },
    { authorization: 'ApiKey canary-key-of-a-server', headers: { traceparent } },
  );
  await gateway.send(CREATE_SUBSCRIBERS, {}, { authorization: await signer.bearer({ sub: 'user-2' }) });
  await gateway.send(DELETE_FEED, { id: '..' });

  const common = { time: expect.stringMatching(/^\d{4}-.*Z$/), id: expect.any(String), requestId: expect.any(String) };
  const browser = { ...common, clientKind: 'browser', tenant: 'acme', issuer: ISSUER };
  const applied = { outcome: 'APPLIED', httpStatus: 201, attempts: 1 };
  const createSubscribers = { field: 'createSubscribers', method: 'POST', route: '/v1/subscribers' };
  const lines = await readLines();
  expect(lines).toHaveLength(4);
  expect(lines.slice(0, 2)).toEqual([
    {
      ...browser,
      ...applied,
      requestId: 'r1',
      subject: 'user-1',
      field: 'createFeed',
      method: 'POST',
      route: '/v1/feeds',
      ids: { id: 'f1' },
    },
    {
      ...common,
      ...traceIds,
      clientKind: 'server',
      tenant: expect.stringMatching(/^[0-9a-f]{8}$/),
      field: 'deleteFeed',
      method: 'DELETE',
      route: '/v1/feeds/{feedId}',
      ids: { feedId: '[key]' },
      outcome: 'UNKNOWN',
      code: 'UPSTREAM_ERROR',
      httpStatus: 500,
      attempts: 1,
    },
  ]);
  for (const subscriberId of ['u1', 'u2']) {
    expect(lines).toContainEqual({
      ...browser,
      ...createSubscribers,
      ...applied,
      subject: 'user-2',
      ids: { id: expect.any(String), subscriberId },
    });
  }
  const text = await readFile(path, 'utf8');
  expect(text).not.toMatch(/canary/i);
  expect(text).not.toContain(TENANT_KEYS.acme);
  expect((await stat(path)).mode & 0o777).toBe(0o600);

  await rename(path, `${path}.1`); // As logrotate does.
  await gateway.send(CREATE_FEED);
  expect(await readLines()).toHaveLength(1);
  expect(await readLines(`${path}.1`)).toHaveLength(4);
  expect(await countsOf(gateway)).toEqual({
    'notigraph_audit_lines_total{result="written"}': 5,
    'notigraph_audit_lines_total{result="failed"}': 0,
  });
});

/** Starts a gateway with an audit log and modules. Returns the parsed lines too. */
async function startWithModules(service: Script, required = false) {
  const file = (await createTestFolder()).path('audit.jsonl');
  const audit = { to: { file }, required };
  const gateway = ofTest(await startGateway({ service, audit, maxRetries: 0, modules: [events, inbox, topics] }));
  const lines = async () =>
    (await readFile(file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  return { gateway, lines, ids: async () => (await lines()).map((line) => line.ids) };
}

it('has the issuer of the token, because the same subject of two issuers can be two persons', async () => {
  const file = (await createTestFolder()).path('audit.jsonl');
  const [other, otherIssuer] = [createSigner(), 'https://other.example.com'];
  const issuers = [
    { issuer: ISSUER, audience: AUDIENCE, publicKey: signer.publicKey, tenantClaim: 'tenant' },
    { issuer: otherIssuer, audience: AUDIENCE, publicKey: other.publicKey, tenantClaim: 'tenant' },
  ];
  await using gateway = await startGateway({
    service: () => ({ status: 201, body: { data: feed({ _id: 'f1' }) } }),
    clients: clientsOf(signer, { issuers }),
    clientTokens: { secrets: ['a-fake-secret-of-client-tokens-0001'] },
    audit: { to: { file } },
  });
  const issued = await fetch(new URL('/client-tokens', gateway.url), {
    method: 'POST',
    headers: { authorization: `ApiKey ${TENANT_KEYS.acme}`, 'content-type': 'application/json' },
    body: JSON.stringify({ scopes: ['feeds:write'], subject: 'user-1' }),
  });
  const { token } = await issued.json();
  for (const authorization of [
    await signer.bearer(),
    await other.bearer({ iss: otherIssuer }),
    `Bearer ${token}`,
    'ApiKey key-of-a-server',
  ]) {
    await gateway.data(CREATE_FEED, {}, { authorization });
  }
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line)).map(({ issuer, subject }) => [issuer, subject])).toEqual([
    [undefined, undefined], // The client token that was issued.
    [ISSUER, 'user-1'],
    [otherIssuer, 'user-1'],
    ['notigraph', 'user-1'],
    [undefined, undefined],
  ]);
});

it('has the ids in lists of what a write changes, or their number if there are more than 20', async () => {
  const { gateway, ids } = await startWithModules(({ method, path }) =>
    path.endsWith('/mark-all')
      ? { status: 201, body: { data: 3 } }
      : method === 'PATCH'
        ? { body: { data: { _id: 't1', key: 't', name: 'T', subscribers: ['of-the-topic'] } } }
        : { status: 204 },
  );
  const mark = (ids: readonly string[]) =>
    gateway.data(
      'mutation ($ids: [ID!]!) { markMessages(input: { subscriberId: "s", messageIds: $ids, as: READ }) { __typename } }',
      { ids },
      { authorization: 'ApiKey canary-key-of-a-server' },
    );
  const numbered = (count: number) => Array.from({ length: count }, (_, i) => `m${i}`);
  const long = ['a'.repeat(256), '"\\'];
  await mark(long);
  await mark(numbered(20));
  await mark(numbered(21));
  await mark(['m1', 'CANARY-KEY-OF']);
  const all = (input: string) =>
    gateway.data(`mutation { markAllMessages(input: { subscriberId: "s", as: SEEN${input} }) { __typename } }`);
  await all('');
  await all(', feeds: ["news", "offers"]');
  for (const change of ['addSubscribersToTopic', 'removeSubscribersFromTopic']) {
    await gateway.data(`mutation { ${change}(input: { key: "t", subscriberIds: ["a", "b"] }) { __typename } }`);
  }
  await gateway.data('mutation { renameTopic(input: { key: "t", name: "T" }) { __typename } }');
  expect(await ids()).toEqual([
    { subscriberId: 's', messageId: long.join(' ') },
    { subscriberId: 's', messageId: numbered(20).join(' ') },
    { subscriberId: 's', messageId: '21 ids' },
    { subscriberId: 's', messageId: '[key]' },
    { subscriberId: 's' },
    { subscriberId: 's', feedIdentifier: 'news offers' },
    { topicKey: 't', subscriberId: 'a b' },
    { topicKey: 't', subscriberId: 'a b' },
    { topicKey: 't', id: 't1' },
  ]);
});

it('has the ids of all transactions of a call, of a failed one those that the caller chose', async () => {
  const { gateway, lines } = await startWithModules(() => ({ status: 500, body: {} }), true);
  const events = Array.from({ length: 100 }, (_, i) => ({
    workflow: 'w',
    subscriberIds: ['a'],
    transactionId: `t${i}`,
  }));
  const query = 'mutation ($events: [EventInput!]!) { triggerEvents(input: { events: $events }) { __typename } }';
  await gateway.send(query, { events });
  const ids = { transactionId: events.map(({ transactionId }) => transactionId).join(' ') };
  expect(await lines()).toMatchObject([
    { outcome: 'PENDING', ids },
    { outcome: 'UNKNOWN', ids },
  ]);
});

it('has the ids of the transactions of events, also of those that the service chooses', async () => {
  const chosen = { acknowledged: true, status: 'processed', transactionId: 'chosen' };
  const { gateway, ids } = await startWithModules(({ path }) => ({
    status: 201,
    body: { data: path.endsWith('/bulk') ? [chosen, { ...chosen, transactionId: 'own' }] : chosen },
  }));
  const event = '{ workflow: "w", subscriberIds: ["a"] }';
  await gateway.data(`mutation { triggerEvent(input: { event: ${event} }) { __typename } }`);
  await gateway.data(`mutation { triggerEvents(input: { events: [${event}, ${event}] }) { __typename } }`);
  expect(await ids()).toEqual([{ transactionId: 'chosen' }, { transactionId: 'chosen own' }]);
});

it('that is required has a line before a write is sent, and no write is sent without one', async () => {
  const { path, readLines, gateway, sentWith } = await startAudited(true);
  await gateway.send(CREATE_FEED);
  expect(sentWith).toEqual([[expect.objectContaining({ outcome: 'PENDING', field: 'createFeed', ids: {} })]]);
  const [pending, ended] = (await readLines()) as { id: string; outcome: string }[];
  expect(ended).toMatchObject({ id: pending?.id, outcome: 'APPLIED' });

  await rename(path, `${path}.1`);
  await mkdir(path); // Nothing can be written to a folder.
  for (let i = 0; i < 2; i += 1) {
    const { body } = await gateway.send(CREATE_FEED);
    expect(body.errors).toMatchObject([
      { extensions: { code: 'AUDIT_UNAVAILABLE', retryable: true, retryAfterSeconds: 1, outcome: 'NOT_APPLIED' } },
    ]);
  }
  expect(gateway.service.requests).toHaveLength(1);
  expect(gateway.log.filter(({ msg }) => msg === 'the audit log cannot be written')).toHaveLength(1);
  expect(await countsOf(gateway)).toMatchObject({ 'notigraph_audit_lines_total{result="failed"}': 2 });

  await rm(path, { recursive: true });
  await gateway.send(CREATE_FEED);
  await gateway.send(CREATE_FEED);
  expect(gateway.log.filter(({ msg }) => msg === 'the audit log can be written again')).toHaveLength(1);
  expect((await readLines()).slice(0, 2)).toMatchObject([{ outcome: 'PENDING' }, { outcome: 'APPLIED' }]);
});

it.each([false, true])(
  'has the client tokens that were issued, and hands out none without a line, if lines are required: %s',
  async (required) => {
    const folder = await createTestFolder();
    await mkdir(folder.path('logs'));
    const path = folder.path('logs', 'audit.jsonl');
    const gateway = ofTest(
      await startGateway({
        service: () => ({ body: { data: [] } }),
        clients: clientsOf(signer),
        clientTokens: { secrets: ['a-secret-of-client-tokens-0123456789'] },
        audit: { to: { file: path }, required },
      }),
    );
    const issue = async (requestId: string) => {
      const response = await fetch(new URL('/client-tokens', gateway.url), {
        method: 'POST',
        headers: {
          authorization: `ApiKey ${TENANT_KEYS.acme}`,
          'content-type': 'application/json',
          'x-request-id': requestId,
        },
        body: JSON.stringify({ subject: 'user-7', scopes: ['groups:read'], expiresInSeconds: 60 }),
      });
      return { status: response.status, body: await response.json() };
    };
    const { body } = await issue('r1');
    const text = await readFile(path, 'utf8');
    expect(JSON.parse(text)).toEqual({
      time: expect.any(String),
      id: expect.any(String),
      requestId: 'r1',
      clientKind: 'server',
      tenant: 'acme',
      issued: { subject: 'user-7', scopes: ['groups:read'], expiresInSeconds: 60 },
      method: 'POST',
      route: '/client-tokens',
      outcome: 'APPLIED',
    });
    expect(text).not.toContain(body.token.slice(-20));
    await rm(folder.path('logs'), { recursive: true });
    expect(await issue('r2')).toMatchObject(
      required
        ? { status: 503, body: { errors: [{ extensions: { code: 'AUDIT_UNAVAILABLE' } }] } }
        : { status: 200, body: { token: expect.any(String) } },
    );
  },
);
