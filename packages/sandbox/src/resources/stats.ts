// Tables and endpoints of statistics, and the sample traffic that they count.

import type { SandboxDatabase } from '../database.ts';
import type { Environment } from '../environments.ts';
import { ApiError } from '../errors.ts';
import { sampleId } from '../ids.ts';
import type { DayRecord, NotificationRecord } from '../records.ts';
import { findId } from '../references.ts';
import type { Resource } from '../resource.ts';
import { dataResponse } from '../response.ts';
import { json, text } from '../rows.ts';
import { createDay, DAY_MS, SAMPLE_DAYS, type SampleEnvironment } from '../samples.ts';

const DEFAULT_DAYS = 32;
const MAX_DAYS = 3650;

/** Statistics of notifications per day. */
export const resource: Resource = {
  // Notifications stay when their messages are deleted, because the statistics count what was sent. There are no foreign keys, because the
  // real service also keeps references to deleted workflows. Those of the sample traffic have no rows in `messages`, but `message_channels`.
  schema: `
    CREATE TABLE notifications (
      id TEXT PRIMARY KEY,
      environment_id TEXT NOT NULL,
      workflow_id TEXT NOT NULL,
      subscriber_id TEXT NOT NULL,
      transaction_id TEXT NOT NULL,
      channels TEXT NOT NULL,
      created_at TEXT NOT NULL,
      day TEXT NOT NULL GENERATED ALWAYS AS (substr(created_at, 1, 10)) VIRTUAL,
      message_channels TEXT NOT NULL
    ) STRICT;
    CREATE INDEX notifications_by_time ON notifications (environment_id, created_at);

    CREATE TABLE sample_traffic (
      environment_id TEXT PRIMARY KEY,
      last_day TEXT NOT NULL
    ) STRICT;
  `,

  writeRecords(database, { statistics = [] }, { environment }) {
    const write = createNotificationWriter(database);
    for (const notification of statistics.flatMap((day) => createNotifications(database, environment, day))) {
      write(environment, notification);
    }
  },

  createHandlers(database, clock, topUp) {
    // As in the real service, a notification counts once per channel. The sample has those of the rest of today, too.
    const countByDay = database.prepare(`
      SELECT
        day AS _id,
        count(*) AS count,
        json_group_array(DISTINCT workflow_id) AS templates,
        json_group_array(DISTINCT channel.value) AS channels
      FROM notifications, json_each(notifications.channels) AS channel
      WHERE environment_id = ? AND created_at BETWEEN ? AND ?
      GROUP BY day
      ORDER BY day DESC
    `);
    return {
      /** Returns one entry per UTC day with traffic in the last `days` times 24 hours: as in the real service, the first is a part of a day. */
      getNotificationStats({ environment, query }) {
        topUp();
        const days = typeof query.days === 'number' ? Math.floor(query.days) : DEFAULT_DAYS;
        if (!(days >= 1 && days <= MAX_DAYS)) {
          throw new ApiError(422, [`"days" must be a number from 1 to ${MAX_DAYS}.`]);
        }
        const now = clock();
        const since = new Date(now.getTime() - days * DAY_MS);
        const rows = countByDay.all(environment.id, since.toISOString(), now.toISOString());
        const entries = rows.map((row) => ({
          ...row,
          templates: json(row, 'templates'),
          channels: json(row, 'channels'),
        }));
        return dataResponse(200, entries);
      },
    };
  },
};

/** Id of a record that was deleted: statistics of the real service contain them. */
const ANY_ID = /^[0-9a-f]{24}$/;

/** Creates the notifications of a day. @throws {TypeError} if the day is invalid, or refers to a workflow that doesn't exist */
function createNotifications(
  database: SandboxDatabase,
  environment: Environment,
  { date, workflows = [], count = Math.max(1, workflows.length), channels = ['email'] }: DayRecord,
): NotificationRecord[] {
  if (!/^\d{4}-\d\d-\d\d$/.test(date) || Number.isNaN(Date.parse(date))) {
    throw new TypeError(`The statistics have the day "${date}". Use YYYY-MM-DD.`);
  }
  if (count < Math.max(1, workflows.length)) {
    throw new TypeError(`The statistics of ${date} need a count of at least ${Math.max(1, workflows.length)}.`);
  }
  const workflowIds = workflows.map((workflow) =>
    ANY_ID.test(workflow)
      ? workflow
      : findId(database, environment, 'workflow', workflow, `The statistics record of ${date}`),
  );
  return Array.from({ length: count }, (_, i) => ({
    // Day and number, which no endpoint returns.
    id: sampleId(environment, 'notification', date, ...workflows, i),
    workflowId: workflowIds[i % workflowIds.length] ?? sampleId(environment, 'workflow', ''),
    subscriberId: sampleId(environment, 'subscriber', ''),
    transactionId: `${date}-${i}`,
    channels,
    createdAt: `${date}T00:00:00.000Z`,
  }));
}

/** Creates the function that writes the sample notifications of all missing days up to today. */
export function createTopUp(
  database: SandboxDatabase,
  clock: () => Date,
  samples: readonly SampleEnvironment[],
): () => void {
  const write = createNotificationWriter(database);
  const findLastDay = database.prepare('SELECT last_day FROM sample_traffic WHERE environment_id = ?');
  const setLastDay = database.prepare(`
    INSERT INTO sample_traffic (environment_id, last_day) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET last_day = excluded.last_day
  `);
  const listActive = database.prepare("SELECT id FROM workflows WHERE environment_id = ? AND document ->> '$.active'");

  /** Returns the last day that has been written, or an empty text. */
  const lastDayOf = ({ id }: Environment): string => text(findLastDay.get(id) ?? { last_day: '' }, 'last_day');

  function fillEnvironment(sample: SampleEnvironment, now: Date): void {
    const { environment } = sample;
    const lastDay = lastDayOf(environment); // Read again: another process can have written the days.
    const active = new Set(listActive.all(environment.id).map((row) => text(row, 'id')));
    for (let age = SAMPLE_DAYS - 1; age >= 0; age--) {
      const day = dayBefore(now, age);
      for (const notification of day > lastDay ? createDay(sample, day, age, active) : []) {
        write(environment, notification);
      }
    }
    if (dayOf(now) > lastDay) {
      setLastDay.run(environment.id, dayOf(now));
    }
  }

  return () => {
    const now = clock();
    if (samples.some(({ environment }) => lastDayOf(environment) < dayOf(now))) {
      database.transaction(() => {
        for (const sample of samples) {
          fillEnvironment(sample, now);
        }
      });
    }
  };
}

/** Creates a function that writes a notification, which the statistics count, and the channels on which it has messages without content. */
export function createNotificationWriter(database: SandboxDatabase) {
  const insert = database.prepare(`
    INSERT INTO notifications (id, environment_id, workflow_id, subscriber_id, transaction_id, channels, created_at, message_channels)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  `);
  return (
    environment: Environment,
    notification: NotificationRecord,
    messageChannels = notification.channels,
  ): void => {
    const { id, workflowId, subscriberId, transactionId, channels, createdAt } = notification;
    const [sent, remaining] = [JSON.stringify(channels), JSON.stringify(messageChannels)];
    insert.run(id, environment.id, workflowId, subscriberId, transactionId, sent, createdAt, remaining);
  };
}

/** Returns the UTC day of a time, `YYYY-MM-DD`. */
const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

const dayBefore = (time: Date, count: number): string => dayOf(new Date(time.getTime() - count * DAY_MS));
