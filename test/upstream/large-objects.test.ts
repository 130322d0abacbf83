import { describe, expect, it } from 'vitest';
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
