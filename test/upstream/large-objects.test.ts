import { GraphQLScalarType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { createSchema } from '../../src/graphql/schema.ts';
import { containsLargeObject } from '../../src/upstream/transport/body.ts';

const members = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join(',')}}`;
const items = (count: number, item = '1') => `[${Array(count).fill(item).join(',')}]`;

describe('containsLargeObject', () => {
  const of = (json: string) => containsLargeObject(Buffer.from(json.padEnd(1024 * 1024, ' ')));

  it('counts the members of each object, but not characters in strings', () => {
    expect(of(members(100_001))).toBe(true);
    expect(of(members(100_000))).toBe(false);
    expect(of(`[${items(100_001, '{"a":1}')}]`)).toBe(false);
    expect(of(`[{"a":1},{"a":[${members(100_001)}]}]`)).toBe(true);
    expect(of(`{"a":"${':{'.repeat(200_000)}"}`)).toBe(false);
    expect(of(`{"\\"a\\\\":"${':\\"'.repeat(200_000)}"}`)).toBe(false);
  });

  it('returns false for text that is not JSON', () => {
    for (const text of ['}', '"', '\\', '{"', '"\\', ':', '[', '{', ']', '{}}}']) {
      expect(of(text.repeat(1_000))).toBe(false);
    }
  });
});

it('scanning 5 MB of any JSON takes less time than parsing it', () => {
  const json = createSchema().getType('JSON');
  const size = 5 * 1024 * 1024;
  const fill = (item: string) => items(Math.floor(size / (item.length + 1)), item);
  for (const text of [fill('1'), fill('{"a":1}'), fill('[]'), fill('"x"'), fill(members(50)), members(380_000)]) {
    const buffer = Buffer.from(text);
    let share = Number.POSITIVE_INFINITY; // Takes the minimum, because garbage collection and a cold start only add time.
    for (let run = 0; run < 10 && share >= 1; run += 1) {
      const startedAt = performance.now();
      const isLarge = containsLargeObject(buffer);
      const scannedAt = performance.now();
      const value: unknown = JSON.parse(text);
      const parsedAt = performance.now();
      if (!isLarge) {
        expect(() => json instanceof GraphQLScalarType && json.serialize(value)).toThrow('more than 100000');
      }
      share = (scannedAt - startedAt + performance.now() - parsedAt) / (parsedAt - scannedAt);
    }
    expect(share).toBeLessThan(1);
  }
}, 60_000);
