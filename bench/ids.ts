// Creates the ids and credentials of the workloads, in the form of the service's.

import { createHash } from 'node:crypto';

/**
 * Number of credentials, and of workflows. It is prime, so that rotating over them never aligns with the number of connections or the
 * mix of the memory run.
 */
export const POPULATION = 257;

/** Number of notification groups that the workflows belong to. */
export const GROUPS = 50;

/** Time of the first id, in seconds. MongoDB's ids start with the time of their creation. */
const FIRST_CREATED_AT = Date.UTC(2024, 2, 12) / 1_000;
const SECONDS_BETWEEN_IDS = 3_607;

/** One in this many workflow and environment ids has a run of digits: 13 of 257, or 5 %. */
const DIGIT_RUN_EVERY = 20;

/** First number whose workflow and environment ids have 16 decimal digits in a row. */
export const FIRST_DIGIT_RUN = 3;

/** Matches digits that can be part of an integer too large for a double. */
const DIGIT_RUN = /\d{16}/;

/** Returns an id for a kind of record and its number: 24 hexadecimal digits without 16 decimal digits in a row. */
export function idOf(kind: string, number: number): string {
  const time = (FIRST_CREATED_AT + number * SECONDS_BETWEEN_IDS).toString(16);
  for (let attempt = 0; ; attempt += 1) {
    const id = time + hash(`${kind} ${number} ${attempt}`, 16);
    if (!DIGIT_RUN.test(id)) {
      return id;
    }
  }
}

/** Returns the id of a workflow, from 0 to 256. 5 % of them have 16 decimal digits in a row. */
export const workflowId = (number: number): string => idWithDigitRuns('workflow', number);

/** Returns the id of the environment that a credential belongs to. 5 % of them have 16 decimal digits in a row. */
export const environmentId = (credential: number): string => idWithDigitRuns('environment', credential);

/** Returns the id of a notification group. */
export const groupId = (number: number): string => idOf('group', number);

/** Returns the `subscriberId` of a subscriber. */
export const subscriberId = (number: number): string => idOf('subscriber', number);

/** Returns the number of the group that a workflow belongs to. */
export const groupOfWorkflow = (workflow: number): number => workflow % GROUPS;

/** Returns the `Authorization` header of a credential, with the service's key. */
export const authorizationOf = (credential: number): string => `ApiKey ${keyOf(credential)}`;

/** Returns the service's key of a credential: 32 hexadecimal digits. */
export const keyOf = (credential: number): string => hash(`credential ${credential}`, 32);

/** Formats a number for a name, so that all names are equally long. */
export const padded = (number: number): string => String(number).padStart(3, '0');

function idWithDigitRuns(kind: string, number: number): string {
  const id = idOf(kind, number);
  return number % DIGIT_RUN_EVERY === FIRST_DIGIT_RUN
    ? id.slice(0, 8) + id.slice(8).replace(/[a-f]/g, (digit) => String(digit.charCodeAt(0) % 10))
    : id;
}

const hash = (text: string, digits: number): string => createHash('sha256').update(text).digest('hex').slice(0, digits);
