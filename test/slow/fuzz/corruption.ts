// Makes values wrong, late or failing, as a seed says.

import { GraphQLError } from 'graphql';
import { type Choices, createRandom } from '../../support/choices.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface CorruptionOptions {
  seed: number;
  time: VirtualTime;
  /** Average number of values per corrupted value. */
  rarity: number;
  /** Whether values can be promises. */
  isAsync: boolean;
}

/** Returns a copy of the value in which some values, chosen by seed and label, are wrong, late or failing. */
export function corrupt(value: unknown, label: string, options: CorruptionOptions): unknown {
  const random = createRandom(options.seed, label);
  if (random.oneIn(options.rarity)) {
    return wrongValue(value, label, random, options);
  }
  if (Array.isArray(value)) {
    return value.map((item, index) => corrupt(item, `${label}.${index}`, options));
  }
  if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    return Object.fromEntries(
      Object.entries(value).map(([key, child]) => [key, corrupt(child, `${label}.${key}`, options)]),
    );
  }
  return value;
}

/** Creates new values for each use, because resolving a field such as `push` calls the method of an array and changes it. */
const createWrongValues = (): [unknown, ...unknown[]] => [
  null,
  undefined,
  '',
  'wrong',
  0,
  -1,
  1.5,
  2 ** 40,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  true,
  12n,
  {},
  { _id: 'x', name: 'Other', __typename: 'Unknown' },
  [],
  [null],
  [[]],
  '2026-01-01',
  { toJSON: () => 'json' },
  () => 'called',
];

function wrongValue(value: unknown, label: string, random: Choices, options: CorruptionOptions): unknown {
  const kind = random.pick(options.isAsync ? 8 : 4);
  switch (kind) {
    case 1:
      return random.oneIn(2) ? new Error(`Error of ${label}.`) : [value];
    case 2:
      return new GraphQLError(`Problem of ${label}.`, { extensions: { code: 'UPSTREAM_ERROR' } });
    case 4:
    case 5:
    case 6:
      return options.time.later(label, () => corrupt(value, `${label}~`, options));
    case 7:
      return options.time.later(label, () => {
        throw random.of<unknown>([
          new Error(`Rejected ${label}.`),
          'no error',
          undefined,
          new GraphQLError('Rejected.'),
        ]);
      });
    default:
      return random.of(createWrongValues());
  }
}
