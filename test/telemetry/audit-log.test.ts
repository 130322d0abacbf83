import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { expect, it } from 'vitest';
import events from '../../src/modules/events.ts';
import { type StartedGateway, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { ofTest } from '../support/lifetime.ts';
import { metricValues } from '../support/metrics-text.ts';
import { feed, subscriber } from '../support/records.ts';
import { createTestFolder } from '../support/sandbox-files.ts';
import type { Script } from '../support/service.ts';
import { clientsOf, createSigner, TENANT_KEYS } from '../support/tokens.ts';

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
  const browser = { ...common, clientKind: 'browser', tenant: 'acme' };
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

it('has the ids of the transactions of events, also of those that the service chooses', async () => {
  const folder = await createTestFolder();
  const file = folder.path('audit.jsonl');
  const chosen = { acknowledged: true, status: 'processed', transactionId: 'chosen' };
  await using gateway = await startGateway({
    service: ({ path }) => ({
      status: 201,
      body: { data: path.endsWith('/bulk') ? [chosen, { ...chosen, transactionId: 'own' }] : chosen },
    }),
    audit: { to: { file } },
    modules: [events],
  });
  const event = '{ workflow: "w", subscriberIds: ["a"] }';
  await gateway.data(`mutation { triggerEvent(input: { event: ${event} }) { __typename } }`);
  await gateway.data(`mutation { triggerEvents(input: { events: [${event}, ${event}] }) { __typename } }`);
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).ids)).toEqual([
    { transactionId: 'chosen' },
    { transactionId: 'chosen own' },
  ]);
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
