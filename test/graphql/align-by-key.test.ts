import fc from 'fast-check';
import { expect, it } from 'vitest';
import { alignByKey } from '../../src/graphql/loaders/notification-group-loader.ts';

interface Row {
  id: string | undefined;
  value: number;
}

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', '__proto__', 'constructor');
const row = fc.record<Row>({ id: fc.option(key, { nil: undefined }), value: fc.integer() });

it('returns one entry per key in order, even if rows are shuffled, missing, duplicate or without a key', () => {
  fc.assert(
    fc.property(fc.array(key), fc.array(row), (keys, rows) => {
      const aligned = alignByKey(keys, rows, ({ id }) => id);
      expect(aligned).toHaveLength(keys.length);
      for (const [i, key] of keys.entries()) {
        expect(aligned[i]).toBe(rows.find(({ id }) => id === key) ?? null);
      }
    }),
  );
});

it('does not depend on the order of the rows if their keys are distinct', () => {
  const distinct = fc.uniqueArray(row, { selector: ({ id }) => id });
  const shuffled = distinct.chain((rows) =>
    fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length })),
  );
  fc.assert(
    fc.property(fc.array(key), shuffled, (keys, [rows, others]) => {
      const keyOf = ({ id }: Row) => id;
      expect(alignByKey(keys, others, keyOf)).toEqual(alignByKey(keys, rows, keyOf));
    }),
  );
});
