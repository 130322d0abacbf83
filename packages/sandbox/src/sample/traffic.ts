import { type Clock, DAY_MS, dayBefore, dayOf } from '../clock.ts';
import type { SandboxDatabase } from '../database.ts';
import type { Environment } from '../environments.ts';
import { type SampleEnvironment, type SampleTrafficPlan, sampleId } from '../records/definition.ts';
import type { NotificationRow } from '../records/record-rows.ts';
import { text } from '../rows.ts';

const DAYS = 90;
/** Ages, in days, of days without traffic. They give the statistics gaps, outside their default window. */
const QUIET_AGES = new Set([44, 53, 61, 72]);
/** Age, in days, of the last day with notifications of the retired workflow. */
const RETIRED_AGE = 36;

/**
 * Creates the function that writes the sample traffic of all missing days up to today, at most 90. The same day always gets the same
 * notifications, also those that are still to come.
 */
export function createTopUp(
  database: SandboxDatabase,
  clock: Clock,
  samples: readonly SampleEnvironment[],
): () => void {
  const write = createNotificationWriter(database);
  const findLastDay = database.prepare('SELECT last_day FROM sample_traffic WHERE environment_id = ?');
  const setLastDay = database.prepare(`
    INSERT INTO sample_traffic (environment_id, last_day) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET last_day = excluded.last_day
  `);
  const listActive = database.prepare('SELECT id FROM workflows WHERE environment_id = ? AND active');

  /** Returns the last day that has been written, or an empty text. */
  const lastDayOf = ({ id }: Environment): string => text(findLastDay.get(id) ?? { last_day: '' }, 'last_day');

  function fillEnvironment(sample: SampleEnvironment, now: Date): void {
    const { environment, workflows, retired } = sample;
    const lastDay = lastDayOf(environment);
    const active = new Set(listActive.all(environment.id).map((row) => text(row, 'id')));
    const current = workflows
      .flatMap(({ identifier, traffic }) => (traffic === undefined ? [] : [toSource(sample, identifier, traffic)]))
      .filter(({ id }) => active.has(id));
    const former = [...current, toSource(sample, retired.identifier, retired.traffic)];
    for (let age = DAYS - 1; age >= 0; age--) {
      const day = dayBefore(now, age);
      if (day > lastDay && !QUIET_AGES.has(age)) {
        fillDay(environment, day, age >= RETIRED_AGE ? former : current);
      }
    }
    if (dayOf(now) > lastDay) {
      setLastDay.run(environment.id, dayOf(now));
    }
  }

  function fillDay(environment: Environment, day: string, sources: readonly TrafficSource[]): void {
    const start = Date.parse(day);
    // Time, environment and serial number.
    const idPrefix = (start / 1000).toString(16).padStart(8, '0') + sampleId(environment, 'traffic').slice(0, 9);
    let serial = 0;
    for (const { id: workflowId, identifier, traffic, recipients } of sources) {
      const random = createRandom(`${environment.name} ${identifier} ${day}`);
      const count = Math.round(expectedCount(traffic, new Date(start).getUTCDay()) * (0.7 + 0.6 * random()));
      for (let number = 1; number <= count; number++) {
        serial++;
        write(environment, {
          id: `${idPrefix}${serial.toString(16).padStart(7, '0')}`,
          workflowId,
          subscriberId: pick(random, recipients),
          transactionId: `${identifier}-${day}-${number}`,
          channels: pick(random, traffic.routes),
          // A day begins with a notification, so that the statistics contain today from midnight on.
          createdAt: new Date(start + Math.floor(random() * (serial === 1 ? 0 : DAY_MS))).toISOString(),
        });
      }
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

/** Creates a function that writes a notification, which the statistics count. */
export function createNotificationWriter(
  database: SandboxDatabase,
): (environment: Environment, notification: NotificationRow) => void {
  const insert = database.prepare(`
    INSERT INTO notifications (id, environment_id, workflow_id, subscriber_id, transaction_id, channels, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)
  `);
  return (environment, { id, workflowId, subscriberId, transactionId, channels, createdAt }) => {
    insert.run(id, environment.id, workflowId, subscriberId, transactionId, JSON.stringify(channels), createdAt);
  };
}

interface TrafficSource {
  id: string;
  identifier: string;
  traffic: SampleTrafficPlan;
  /** Ids of subscribers. */
  recipients: readonly string[];
}

function toSource(
  { environment, subscribers }: SampleEnvironment,
  identifier: string,
  traffic: SampleTrafficPlan,
): TrafficSource {
  const recipients = subscribers.map(({ subscriberId }) => sampleId(environment, 'subscriber', subscriberId));
  return { id: sampleId(environment, 'workflow', identifier), identifier, traffic, recipients };
}

function expectedCount({ weekday, weekend, weekDays }: SampleTrafficPlan, dayOfWeek: number): number {
  if (weekDays !== undefined && !weekDays.includes(dayOfWeek)) {
    return 0;
  }
  return dayOfWeek === 0 || dayOfWeek === 6 ? weekend : weekday;
}

/** Returns a number from 0 (inclusive) to 1 (exclusive). */
type Random = () => number;

/** Creates a mulberry32 generator, seeded with the FNV-1a hash of a string. Use it for sample data only. */
function createRandom(seed: string): Random {
  let state = 0x811c9dc5;
  for (const char of seed) {
    state = Math.imul(state ^ (char.codePointAt(0) ?? 0), 0x01000193);
  }
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns one of the items. */
function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) {
    throw new RangeError('The list is empty');
  }
  return item;
}
