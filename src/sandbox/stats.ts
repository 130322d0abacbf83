import type { StatementSync } from 'node:sqlite';

import { type Clock, dayBefore, dayOf } from './clock.ts';
import type { SandboxDatabase } from './database.ts';
import type { Environment } from './environments.ts';
import { ApiError } from './errors.ts';
import { integer, json, text } from './rows.ts';

const DEFAULT_DAYS = 32;
const MAX_DAYS = 3650;

/** Statistics of what was sent, counted from the notifications. */
export class Stats {
  readonly #clock: Clock;
  readonly #countByDay: StatementSync;

  constructor(database: SandboxDatabase, clock: Clock) {
    this.#clock = clock;
    // The outer join keeps a notification that reached no channel.
    this.#countByDay = database.prepare(`
      SELECT
        day,
        count(DISTINCT notifications.id) AS count,
        json_group_array(DISTINCT workflow_id) AS templates,
        json_group_array(DISTINCT channel.value) FILTER (WHERE channel.value IS NOT NULL) AS channels
      FROM notifications LEFT JOIN json_each(notifications.channels) AS channel
      WHERE environment_id = ? AND day BETWEEN ? AND ?
      GROUP BY day
    `);
  }

  /** One entry for each UTC day with traffic, of the `days` days that end today; the order is not promised. */
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
