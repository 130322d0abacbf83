import { expect, it } from 'vitest';
import { type ExplainedDifference, interview } from './interview.ts';
import { QUESTIONS, recordsOf, TRAITS } from './questions.ts';
import { startSandbox } from './targets.ts';

/** Asks two sandboxes, of which the second has other traits. Returns the unknown differences by their questions. */
async function compare(traits: typeof TRAITS) {
  await using sandbox = await startSandbox('run-1', recordsOf('run-1'), TRAITS);
  await using service = await startSandbox('run-1', recordsOf('run-1'), traits);
  const found = new Map<string, ExplainedDifference[]>();
  const result = await interview(sandbox, service, ({ ask }, differences) => {
    found.set(ask, [...(found.get(ask) ?? []), ...differences]);
  });
  return { ...result, found };
}

it('every question has the same answer from two sandboxes, so that each known difference is gone', async () => {
  const { asked, unknown, gone } = await compare(TRAITS);
  expect([asked, unknown]).toEqual([QUESTIONS.length, 0]);
  expect(gone.length).toBeGreaterThan(20);
});

it('differences in status, headers, members, lists and fields of errors are found', async () => {
  const { unknown, found } = await compare(['no-idempotency', 'absent-flags', 'validation-by-field', 'null-items']);
  const at = (ask: string) => found.get(ask)?.map(({ at: place, reason }) => (reason === undefined ? place : ''));
  expect(at('PUT /v1/workflows/{plain}/status')).toContain('status');
  expect(at('GET /v1/workflows/{run}-full')).toEqual(expect.arrayContaining(['body.data.critical', 'body.data.draft']));
  expect(at('GET /v1/feeds')).toContain('body.data');
  expect(at('POST /v1/notification-groups')).toEqual(expect.arrayContaining(['headers.idempotency-replay', 'status']));
  expect(unknown).toBeGreaterThan(100);
});
