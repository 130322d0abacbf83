import type { StatementSync } from 'node:sqlite';

import { type Clock, DAY_MS, dayBefore, dayOf } from '../clock.ts';
import type { SandboxDatabase } from '../database.ts';
import { text } from '../rows.ts';
import { type SampleEnvironment, type SampleTrafficPlan, sampleId } from './definition.ts';
import { createRandom, pick } from './random.ts';
import { SAMPLE_ENVIRONMENTS } from './records.ts';
import { createTrafficWriter } from './traffic-writer.ts';

const DAYS = 90;
/** Days ago without traffic, so that the statistics have gaps, but none in their default window. */
const QUIET_AGES = new Set([44, 53, 61, 72]);
/** Days ago up to which the retired workflow still ran. */
const RETIRED_AGE = 36;

/** Gives the statistics something to count: up to 90 days of notifications, the same for the same date. */
export class SampleTraffic {
  readonly #database: SandboxDatabase;
  readonly #clock: Clock;
  readonly #write: ReturnType<typeof createTrafficWriter>;
  readonly #lastDay: StatementSync;
  readonly #setLastDay: StatementSync;
  readonly #activeWorkflows: StatementSync;
  #filledUpTo = '';

  constructor(database: SandboxDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    this.#write = createTrafficWriter(database);
    this.#lastDay = database.prepare('SELECT last_day FROM sample_traffic WHERE environment_id = ?');
    this.#setLastDay = database.prepare(`
      INSERT INTO sample_traffic (environment_id, last_day) VALUES (?, ?)
      ON CONFLICT DO UPDATE SET last_day = excluded.last_day
    `);
    this.#activeWorkflows = database.prepare('SELECT id FROM workflows WHERE environment_id = ? AND active');
  }

  /** Writes the days that are missing up to today, if any: on a start, and when a running sandbox meets a new day. */
  topUp(): void {
    const now = this.#clock();
    const today = dayOf(now);
    if (today <= this.#filledUpTo) {
      return;
    }
    this.#database.transaction(() => {
      for (const sample of SAMPLE_ENVIRONMENTS) {
        this.#fillEnvironment(sample, now);
      }
    });
    this.#filledUpTo = today;
  }

  #fillEnvironment(sample: SampleEnvironment, now: Date): void {
    const { id } = sample.environment;
    const row = this.#lastDay.get(id);
    const lastDay = row === undefined ? '' : text(row, 'last_day');
    const current = this.#activeSources(sample);
    const former = [...current, toSource(sample, sample.retired.identifier, sample.retired.traffic)];
    for (let age = DAYS - 1; age >= 0; age--) {
      const day = dayBefore(now, age);
      if (day > lastDay && !QUIET_AGES.has(age)) {
        this.#fillDay(sample, day, now, age >= RETIRED_AGE ? former : current);
      }
    }
    if (dayOf(now) > lastDay) {
      this.#setLastDay.run(id, dayOf(now));
    }
  }

  /** A workflow that was switched off is not triggered. */
  #activeSources(sample: SampleEnvironment): TrafficSource[] {
    const active = new Set(this.#activeWorkflows.all(sample.environment.id).map((row) => text(row, 'id')));
    return sample.workflows
      .flatMap(({ identifier, traffic }) => (traffic === undefined ? [] : [toSource(sample, identifier, traffic)]))
      .filter(({ id }) => active.has(id));
  }

  #fillDay(sample: SampleEnvironment, day: string, now: Date, sources: readonly TrafficSource[]): void {
    const { environment, subscribers } = sample;
    const recipients = subscribers.map(({ subscriberId }) => sampleId(environment, 'subscriber', subscriberId));
    const start = Date.parse(day);
    // Today's notifications all lie in the part of the day that has passed.
    const length = Math.min(DAY_MS, now.getTime() - start);
    // Time, a mark of the environment, a serial number, and a last digit that the messages count up.
    const idPrefix = (start / 1000).toString(16).padStart(8, '0') + sampleId(environment, 'traffic').slice(0, 9);
    let serial = 0;
    for (const { id: workflowId, identifier, traffic } of sources) {
      const random = createRandom(`${environment.name} ${identifier} ${day}`);
      const count = Math.round(expectedCount(traffic, new Date(start).getUTCDay()) * (0.7 + 0.6 * random()));
      for (let number = 1; number <= count; number++) {
        serial++;
        this.#write({
          id: `${idPrefix}${serial.toString(16).padStart(6, '0')}0`,
          environmentId: environment.id,
          workflowId,
          subscriberId: pick(random, recipients),
          transactionId: `${identifier}-${day}-${number}`,
          channels: pick(random, traffic.routes),
          createdAt: new Date(start + Math.floor(random() * length)).toISOString(),
        });
      }
    }
  }
}

interface TrafficSource {
  id: string;
  identifier: string;
  traffic: SampleTrafficPlan;
}

function toSource({ environment }: SampleEnvironment, identifier: string, traffic: SampleTrafficPlan): TrafficSource {
  return { id: sampleId(environment, 'workflow', identifier), identifier, traffic };
}

function expectedCount({ weekday, weekend, weekDays }: SampleTrafficPlan, dayOfWeek: number): number {
  if (weekDays !== undefined && !weekDays.includes(dayOfWeek)) {
    return 0;
  }
  return dayOfWeek === 0 || dayOfWeek === 6 ? weekend : weekday;
}
