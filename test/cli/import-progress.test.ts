import { expect, it } from 'vitest';
import { createDescription } from '../../src/cli/import/progress.ts';

/** Describes an import of which a part is done, a second after it began. */
async function describeProgress(columns: readonly number[]): Promise<string[]> {
  const counts = { total: 100_000, applied: 61_000, failed: 0 };
  const describe = createDescription(counts);
  Object.assign(counts, { applied: 61_997, failed: 3 });
  return columns.map((width) =>
    describe(width)
      .replace(/[\d,]+\/s/, 'N/s')
      .replace(/\d+ (?:s|min) left/, 'N s left'),
  );
}

it('fits the progress into the terminal, and keeps the estimate in a narrow one', async () => {
  const complete = '62 %  N s left  3 failed  62,000 of 100,000  N/s';
  expect(await describeProgress([79, 22, Number.POSITIVE_INFINITY])).toEqual([
    complete,
    expect.stringMatching(/^62 % {2}N s left {2}3/),
    complete,
  ]);
});
