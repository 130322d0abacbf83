// The sample records, and a generator of the notifications of each day.

import { DEVELOPMENT, type Environment, PRODUCTION } from './environments.ts';
import { sampleId } from './ids.ts';
import type {
  Channel,
  MessageRecord,
  NotificationRecord,
  Records,
  SubscriberRecord,
  WorkflowRecord,
} from './records.ts';
import samples from './samples.json' with { type: 'json' };

/** The sample records of one environment, without ids. */
export interface SampleEnvironment extends Omit<Records, 'statistics'> {
  environment: Environment;
  workflows: readonly SampleWorkflow[];
  /** A deleted workflow. Only older statistics contain its id. */
  retired: { identifier: string; traffic: SampleTrafficPlan };
  subscribers: readonly SubscriberRecord[];
  messages: readonly MessageRecord[];
}

/** Workflow with its share of the notifications. Without `traffic`, it is never triggered. */
interface SampleWorkflow extends WorkflowRecord {
  traffic?: SampleTrafficPlan;
}

/** Number of notifications per day, and the sets of channels they are sent over. */
interface SampleTrafficPlan {
  weekday: number;
  weekend: number;
  /** Days of the week with notifications; 0 is Sunday. @default every day */
  weekDays?: readonly number[];
  routes: readonly (readonly Channel[])[];
}

/**
 * The sample records of both environments: those of Juniper, a fictional marketplace for crafts. No name occurs in both, so that tests notice records of
 * the wrong one. Types of JSON files have no literals, such as names of channels: tests compare the records with the contract.
 */
export const SAMPLES = [
  { environment: DEVELOPMENT, ...samples.development },
  { environment: PRODUCTION, ...samples.production },
] as readonly SampleEnvironment[];

export const DAY_MS = 86_400_000;

export const SAMPLE_DAYS = 90;
/** Ages, in days, of days without traffic. They give the statistics gaps, outside their default window. */
const QUIET_AGES = new Set([44, 53, 61, 72]);
/** Age, in days, of the last day with notifications of the retired workflow. */
const RETIRED_AGE = 36;

/**
 * Creates the notifications of a day. The same day always gets the same ones, also those that are still to come.
 *
 * @param day `YYYY-MM-DD`
 * @param age how many days ago that was
 * @param active ids of the workflows that send notifications
 */
export function createDay(
  { environment, workflows, retired, subscribers }: SampleEnvironment,
  day: string,
  age: number,
  active: ReadonlySet<string>,
): NotificationRecord[] {
  if (QUIET_AGES.has(age)) {
    return [];
  }
  const start = Date.parse(day);
  const idOf = (identifier: string) => sampleId(environment, 'workflow', identifier);
  const recipients = subscribers.map(({ subscriberId }) => sampleId(environment, 'subscriber', subscriberId));
  // Time, environment and serial number.
  const idPrefix = (start / 1000).toString(16).padStart(8, '0') + sampleId(environment, 'traffic').slice(0, 9);
  let serial = 0;
  const current = workflows.filter(({ identifier }) => active.has(idOf(identifier)));
  return [...current, ...(age >= RETIRED_AGE ? [retired] : [])].flatMap(({ identifier, traffic }) => {
    if (traffic === undefined) {
      return [];
    }
    const random = createRandom(`${environment.name} ${identifier} ${day}`);
    const count = Math.round(expectedCount(traffic, new Date(start).getUTCDay()) * (0.7 + 0.6 * random()));
    return Array.from({ length: count }, (_, index) => {
      serial++;
      return {
        id: `${idPrefix}${serial.toString(16).padStart(7, '0')}`,
        workflowId: idOf(identifier),
        subscriberId: pick(random, recipients),
        transactionId: `${identifier}-${day}-${index + 1}`,
        channels: pick(random, traffic.routes),
        // A day begins with a notification, so that the statistics contain today from midnight on.
        createdAt: new Date(start + Math.floor(random() * (serial === 1 ? 0 : DAY_MS))).toISOString(),
      };
    });
  });
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

function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) {
    throw new RangeError('The list is empty');
  }
  return item;
}
