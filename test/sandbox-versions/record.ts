/**
 * Records a sandbox file of the current version, for the tests that upgrade it later. Run it before you add a migration:
 *
 *     npx node test/sandbox-versions/record.ts
 *
 * It writes the file to `version-<n>.db.gz`, and the requests that later versions must answer the same way to `version-<n>.json`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import { SANDBOX_KEYS, startSandbox } from '../../src/sandbox/sandbox.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import type { RecordedExchange, Recording } from './recorded-files.ts';

const NOW = '2026-01-15T12:00:00.000Z';
/** First day with sample traffic in the recorded file. All 90 days would make it much larger. */
const FIRST_DAY = '2026-01-13';

type Request = Omit<RecordedExchange, 'status' | 'text'>;

const WRITES: readonly Request[] = [
  { as: 'development', target: 'POST /v1/notification-groups', body: { name: 'Recorded' }, key: 'create group' },
  {
    as: 'development',
    target: 'PATCH /v1/notification-groups/f6004fff107f93f77fe713f5',
    body: { name: 'Renamed' },
    key: 'rename group',
  },
  { as: 'development', target: 'DELETE /v1/notification-groups/3aae881164b2f8b6e5f5b00f' },
  { as: 'development', target: 'POST /v1/feeds', body: { name: 'Recorded' }, key: 'create feed' },
  { as: 'development', target: 'POST /v1/feeds', body: { name: 'Activity' }, key: 'refused feed' },
  { as: 'development', target: 'DELETE /v1/feeds/dd054ce4b915de3a0ca2e0e3' },
  {
    as: 'development',
    target: 'POST /v1/subscribers',
    body: { subscriberId: 'recorded-1', data: { plan: 'team' } },
    key: 'subscriber',
  },
  { as: 'development', target: 'POST /v1/subscribers', body: { subscriberId: 'customer-1001', locale: 'fr-FR' } },
  { as: 'development', target: 'PUT /v1/workflows/9e1e02437234c8472228388e/status', body: { active: true } },
  { as: 'development', target: 'DELETE /v1/messages/transaction/sample-transaction-0001?channel=email' },
  { as: 'production', target: 'POST /v1/notification-groups', body: { name: 'Recorded' }, key: 'create group' },
];

const READS: readonly Request[] = (['development', 'production'] as const).flatMap((as) =>
  [
    'GET /v1/notification-groups',
    'GET /v1/workflows/review-request',
    'GET /v1/workflows/payment-failed',
    'GET /v1/notifications/graph/stats?days=10',
  ].map((target) => ({ as, target })),
);

async function send(url: string, request: Request): Promise<RecordedExchange> {
  const { as, target, body, key } = request;
  const [method = '', path = ''] = target.split(' ');
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `ApiKey ${SANDBOX_KEYS[as]}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { ...request, status: response.status, text: await response.text() };
}

async function sendAll(file: string, requests: readonly Request[]): Promise<RecordedExchange[]> {
  await using sandbox = await startSandbox({ file, now: () => new Date(NOW) });
  const exchanges: RecordedExchange[] = [];
  for (const request of requests) {
    exchanges.push(await send(sandbox.url, request));
  }
  return exchanges;
}

/** Removes most of the sample traffic, and returns the version of the file. */
function trim(file: string): unknown {
  const database = new DatabaseSync(file);
  database.exec(`
    DELETE FROM notifications WHERE created_at < '${FIRST_DAY}';
    VACUUM;
  `);
  const version = database.prepare('PRAGMA user_version').get()?.user_version;
  database.close();
  return version;
}

await using folder = await createTemporaryFolder();
const file = folder.path('sandbox.db');
const writes = await sendAll(file, WRITES);
const version = trim(file);
const reads = await sendAll(file, READS);
const recording: Recording = { now: NOW, writes, reads };
writeFileSync(new URL(`version-${version}.db.gz`, import.meta.url), gzipSync(readFileSync(file), { level: 9 }));
writeFileSync(new URL(`version-${version}.json`, import.meta.url), `${JSON.stringify(recording, null, 2)}\n`);
