import type { StatementSync } from 'node:sqlite';

import { type Clock, dayBefore, dayOf } from '../clock.ts';
import type { SandboxDatabase } from '../database.ts';
import type { Environment } from '../environments.ts';
import { ApiError } from '../errors.ts';
import type { Resource } from '../resource.ts';
import { bareResponse } from '../response.ts';
import { integer, json, text } from '../rows.ts';
import { createNotificationWriter } from '../sample/notification-writer.ts';
import { SampleTraffic } from '../sample/traffic.ts';

const DEFAULT_DAYS = 32;
const MAX_DAYS = 3650;

export const resource: Resource = {
  // Notifications stay when their messages are deleted, because the statistics count what was sent. There are no foreign keys, because the
  // real service also keeps references to deleted workflows.
  migrations: [
    {
      version: 1,
      description: 'Creates the tables of notifications and of the days that have sample notifications.',
      sql: `
        CREATE TABLE notifications (
          id TEXT PRIMARY KEY,
          environment_id TEXT NOT NULL,
          workflow_id TEXT NOT NULL,
          subscriber_id TEXT NOT NULL,
          transaction_id TEXT NOT NULL,
          channels TEXT NOT NULL,
          created_at TEXT NOT NULL,
          day TEXT NOT NULL GENERATED ALWAYS AS (substr(created_at, 1, 10)) VIRTUAL
        ) STRICT;
        CREATE INDEX notifications_by_day ON notifications (environment_id, day);

        CREATE TABLE sample_traffic (
          environment_id TEXT PRIMARY KEY,
          last_day TEXT NOT NULL
        ) STRICT;
      `,
    },
  ],

  writeRecords(database, { environment, notifications }) {
    const write = createNotificationWriter(database);
    for (const notification of notifications) {
      write(environment, notification);
    }
  },

  topUpSamples(database, clock, samples) {
    new SampleTraffic(database, clock, samples).topUp();
  },

  createHandlers(database, clock, samples) {
    const stats = new Stats(database, clock);
    const traffic = new SampleTraffic(database, clock, samples);
    return {
      getNotificationStats({ environment, query }) {
        traffic.topUp();
        const days = typeof query.days === 'number' ? query.days : undefined;
        // Unlike every other body, this one is not wrapped in `data`.
        return bareResponse(200, stats.countByDay(environment, days));
      },
    };
  },
};

/** Statistics of notifications per day. */
class Stats {
  readonly #clock: Clock;
  readonly #countByDay: StatementSync;

  constructor(database: SandboxDatabase, clock: Clock) {
    this.#clock = clock;
    // The outer join keeps notifications without a channel.
    this.#countByDay = database.prepare(`
      SELECT
        day,
        count(DISTINCT notifications.id) AS count,
        json_group_array(DISTINCT workflow_id) AS templates,
        json_group_array(DISTINCT channel.value) FILTER (WHERE channel.value IS NOT NULL) AS channels
      FROM notifications LEFT JOIN json_each(notifications.channels) AS channel
      WHERE environment_id = ? AND day BETWEEN ? AND ? AND workflow_id <> ''
      GROUP BY day
    `);
  }

  /** Returns one entry per UTC day with traffic, within the last `days` days including today, in no particular order. */
  countByDay(environment: Environment, days: number = DEFAULT_DAYS) {
    const window = Math.floor(days);
    if (!(window >= 1 && window <= MAX_DAYS)) {
      throw new ApiError(422, [`"days" must be a number from 1 to ${MAX_DAYS}.`]);
    }
    const now = this.#clock();
    return this.#countByDay.all(environment.id, dayBefore(now, window - 1), dayOf(now)).map((row) => ({
      _id: text(row, 'day'),
      count: integer(row, 'count'),
      templates: json(row, 'templates'),
      channels: json(row, 'channels'),
    }));
  }
}
