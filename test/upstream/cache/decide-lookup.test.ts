import { describe, expect, it } from 'vitest';
import { decideLookup, type HeldState, type OwnState } from '../../../src/upstream/cache/decide-lookup.ts';
import { guards } from '../../support/guards.ts';

guards('src/upstream/cache/decide-lookup.ts', 'decideLookup');

/** A version, and an entry that was stored with it. */
const HELD: HeldState = { now: 2_000, version: 'v1', epoch: 'e1', isWriting: false, header: '1500 h1 v1' };

/** A process that has never been without Redis. */
const OWN: OwnState = { history: 'h1', hasMissedWrite: false, usableFrom: 0 };

const UNAVAILABLE = { state: 'unavailable', version: undefined, at: 0 };
const CURRENT = { state: 'current', version: 'h1 v1', at: 2_000 };
const NEW = { state: 'new', version: 'h1 none e1', at: 2_000 };

describe('a lookup in Redis', () => {
  it.each<[happened: string, held: Partial<HeldState> | undefined, own: Partial<OwnState>, decision: object]>([
    ['finds the entry of its version', {}, {}, { ...CURRENT, entryAt: 1_500 }],
    ['finds an entry of this millisecond', { header: '2000 h1 v1' }, {}, { ...CURRENT, entryAt: 2_000 }],
    ['finds no entry', { header: '' }, {}, CURRENT],
    ['finds no version, as nothing was stored', { version: undefined, header: '' }, {}, NEW],
    ['finds an entry whose version was evicted', { version: undefined }, {}, NEW],
    ['finds an entry that has no version either', { version: undefined, header: '1500 h1 none e1' }, {}, NEW],
    [
      'finds neither a version nor an epoch',
      { version: undefined, epoch: undefined, header: '' },
      {},
      { state: 'new', version: 'h1 none undefined', at: 2_000 },
    ],
    [
      'comes while a write is in progress',
      { isWriting: true },
      {},
      { state: 'writing', version: 'h1 v1 writing', at: 2_000 },
    ],
    [
      'comes while a first write is in progress',
      { isWriting: true, version: undefined },
      {},
      { state: 'writing', version: 'h1 none e1 writing', at: 2_000 },
    ],
    ['finds the entry of a read that a write has overtaken', { header: '1500 h1 v0' }, {}, CURRENT],
    ['comes after a restart or a fail-over', { header: '1500 h0 v1' }, {}, CURRENT],
    [
      'finds an entry from before writes that this process has missed and forgotten',
      {},
      { usableFrom: 1_501 },
      CURRENT,
    ],
    ['finds an entry from after them', {}, { usableFrom: 1_500 }, { ...CURRENT, entryAt: 1_500 }],
    ['comes while such writes are not yet over', {}, { usableFrom: Infinity }, CURRENT],
    ['comes after a write of this process that Redis has missed', {}, { hasMissedWrite: true }, UNAVAILABLE],
    ['gets no response', undefined, {}, UNAVAILABLE],
    ['finds an entry from the future', { header: '2001 h1 v1' }, {}, CURRENT],
    ['finds an entry with more in its header', { header: '1500 h1 v1 x' }, {}, CURRENT],
    ['finds an entry whose time is no number', { header: 'NaN h1 v1' }, {}, CURRENT],
    ['finds an entry whose time is no whole number', { header: '1500.5 h1 v1' }, {}, CURRENT],
    ['finds an entry without a time', { header: 'h1 v1' }, {}, CURRENT],
  ])('that %s', (_, held, own, decision) => {
    expect(decideLookup(held && { ...HELD, ...held }, { ...OWN, ...own })).toEqual(decision);
  });
});
