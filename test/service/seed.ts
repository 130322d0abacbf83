// Gives a running service the records that the contract test starts from, through the service's own API.

import type { Records } from '../../packages/sandbox/src/records.ts';
import { recordOf } from '../../src/lib/is-record.ts';
import type { Question } from './questions.ts';
import type { Database } from './start-service.ts';
import { ask, createRecords, createTarget, type Target } from './targets.ts';

/** Value of `NOTIGRAPH_TEST_WORKFLOW`: ids of the workflow, its identifier, its group and a transaction with messages. */
export type Seed = string;

const recordsOf = (run: string): Records => ({
  notificationGroups: [`${run} group`],
  feeds: [`${run} feed`],
  workflows: [
    { identifier: run, name: run, group: `${run} group`, steps: [{ type: 'in_app', content: 'Hello {{n}}' }] },
  ],
});

/** Creates a workflow with its group, a feed, and a subscriber with a message. @throws {Error} if the message doesn't arrive */
export async function seed(access: Pick<Target, 'url' | 'key' | 'productionKey'>): Promise<Seed> {
  const run = `seed-${Date.now().toString(36)}`;
  const target = createTarget(run, access);
  await createRecords(target, recordsOf(run));
  const questions: Question[] = [
    { ask: `GET /v1/workflows/${run}`, keep: { workflow: 'data._id', group: 'data._notificationGroupId' } },
    { ask: 'POST /v1/subscribers', body: { subscriberId: run, firstName: 'Seed' } },
    { ask: 'POST /v1/events/trigger', body: { name: run, to: run, payload: { n: 1 }, transactionId: run } },
    { ask: `GET /v1/subscribers/${run}/notifications/feed`, items: 1, keep: { message: 'data.0._id' } },
  ];
  for (const question of questions) {
    const { status, body } = await ask(target, question);
    if (status >= 400) {
      throw new Error(`The service refused a record for tests: ${question.ask} was ${status} ${JSON.stringify(body)}`);
    }
  }
  if (target.values.get('message') === 'missing-message') {
    throw new Error('The message of an event did not arrive. Check that the worker of the service is running.');
  }
  return [target.values.get('workflow'), run, target.values.get('group'), run].join(':');
}

/** Days with statistics. */
const DAYS = 6;

/** Copies the notification of the seed to earlier days, for which the service has no call. */
export async function addHistory(database: Database, seeded: Seed): Promise<void> {
  const [, , , transactionId] = seeded.split(':');
  const [{ _id, ...notification } = {}] = await database.find('notifications', { transactionId });
  const days = Array.from({ length: DAYS }, (_, day) => new Date(Date.now() - (day + 1) * 86_400_000));
  await database.insert(
    'notifications',
    days.map((at) => ({ ...recordOf(notification), createdAt: at, updatedAt: at })),
  );
}
