// Creates ids in the format of the service.

import { hash, randomBytes } from 'node:crypto';
import type { Environment } from './environments.ts';
import type { NamedRecord } from './records.ts';

/** Creates a record id in the real service's format: 24 hexadecimal digits, of which the first eight are the time in seconds. */
export function createId(now: Date): string {
  const seconds = Math.floor(now.getTime() / 1000) >>> 0;
  return seconds.toString(16).padStart(8, '0') + randomBytes(8).toString('hex');
}

/** Returns the id of a sample record. It is the same in every file, and different in each environment. */
export const sampleId = (environment: Environment, kind: string, ...path: (string | number)[]): string =>
  hash('sha256', [environment.name, kind, ...path].join('/')).slice(0, 24);

/** Returns a function that adds the id of a named record unless it has one. */
export const withId =
  (environment: Environment, kind: 'group' | 'feed') =>
  (record: NamedRecord): { id: string; name: string } => {
    const { id, name } = typeof record === 'string' ? { name: record } : record;
    return { id: id ?? sampleId(environment, kind, name), name };
  };
