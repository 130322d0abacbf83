import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSchema } from '../../src/modules/schema.ts';
import { readTape } from '../support/choices.ts';
import { sampleSize } from '../support/samples.ts';
import { dataOf, executeBoth } from './fuzz/differential.ts';
import { DocumentGenerator, type Scalars } from './fuzz/documents.ts';
import { createFakeContext } from './fuzz/fake-context.ts';
import { SYNTHETIC_SCALARS, syntheticSchema } from './fuzz/synthetic-schema.ts';

/** Number of operations that `npm run fuzz` generates. */
const { NOTIGRAPH_TEST_FUZZ_RUNS } = process.env;
const RUNS = Number(NOTIGRAPH_TEST_FUZZ_RUNS ?? sampleSize(120, 5_000));
const TIMEOUT_MS = 60_000 + RUNS * 40;

const SCALARS: Scalars = {
  JSON: [
    ['{ a: [1, "b", null] }', '1'],
    [{ a: [1, 'b', null] }, 'text'],
  ],
  JSONObject: [
    ['{ a: { b: true } }', '{}'],
    [{ a: 1 }, {}],
  ],
  DateTime: [['"2026-01-01T00:00:00Z"'], ['2026-01-01T00:00:00Z']],
  LocalDate: [['"2026-01-01"'], ['2026-01-01']],
};

/** Input of the generator: its decisions, and a seed for the records and the order in which promises settle. */
const example = fc.record({
  tape: fc.array(fc.nat({ max: 5_039 }), { minLength: 1, maxLength: 160, size: 'max' }),
  seed: fc.integer(),
  rarity: fc.constantFrom(4, 12, 60),
  isAsync: fc.boolean(),
});

/** The test suite generates the same operations every time; `npm run fuzz` generates new ones. */
const OPTIONS = { numRuns: RUNS, endOnFailure: false, ...(NOTIGRAPH_TEST_FUZZ_RUNS === undefined && { seed: 1 }) };

describe('the executor returns the same data and errors as graphql-js', () => {
  it('for generated operations of the gateway’s schema over corrupted records', { timeout: TIMEOUT_MS }, async () => {
    const schema = createSchema();
    await fc.assert(
      fc.asyncProperty(example, async ({ tape, seed, ...options }) => {
        const request = new DocumentGenerator(schema, readTape(tape), SCALARS).generate();
        const { expected, actual } = await executeBoth(schema, request, seed, (time) => ({
          contextValue: createFakeContext({ seed, time, ...options }),
        }));
        expect(actual, `${request.query}\n${JSON.stringify(request)}`).toBe(expected);
      }),
      OPTIONS,
    );
  });

  it('for generated operations of a schema with all features that the gateway’s schema does not use', {
    timeout: TIMEOUT_MS,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(example, async ({ tape, seed, ...options }) => {
        const request = new DocumentGenerator(syntheticSchema, readTape(tape), SYNTHETIC_SCALARS).generate();
        const { expected, actual, inTurns } = await executeBoth(syntheticSchema, request, seed, (time) => ({
          rootValue: { plain: 'root', method: () => 'root', key: 1 },
          contextValue: { seed, time, ...options, log: [] },
        }));
        expect(actual, `${request.query}\n${JSON.stringify(request)}`).toBe(expected);
        // Yielding to the event loop may change which of several errors below a null is reported, but not the data.
        expect(dataOf(await inTurns()), request.query).toBe(dataOf(expected));
      }),
      OPTIONS,
    );
  });
});
