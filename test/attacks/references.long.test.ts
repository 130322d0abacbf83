import { beforeAll, expect, it } from 'vitest';
import { type Attack, MAX_BLOCK_MS, measureCheapest, postWithKey, repeat, startTarget } from '../support/attack.ts';
import type { ProbedGateway } from '../support/probed-gateway.ts';
import { startService, type TestService } from '../support/service.ts';

const BODY_BYTES = 256 * 1024;

let upstream: TestService;
let gateway: ProbedGateway;

beforeAll(async () => {
  upstream = await startService(() => ({ status: 404, body: {} }));
  gateway = await startTarget(upstream.url, { NOTIGRAPH_FEDERATION: 'on' });
  return async () => {
    await gateway[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  };
});

/** Returns a request that passes the same references to `_entities` under 20 names. */
const under20Names = (run: number, representations: unknown): Attack =>
  postWithKey(
    `query q${run}($r: [_Any!]!) { ${repeat(20, (i) => `a${i}: _entities(representations: $r) { __typename }`)} }`,
    { variables: { r: representations } },
  );

/** References as large as a request permits. */
const REFERENCES: [string, number, unknown][] = [
  ['125,000 references', 400, Array(125_000).fill(0)],
  [
    'a reference with 16,000 members',
    200,
    [Object.fromEntries(Array.from({ length: 16_000 }, (_, i) => [`k${i}`, i]))],
  ],
  ['23 references with a long key', 200, Array(23).fill({ __typename: 'Workflow', id: 'i'.repeat(10_000) })],
  ['23 references with deep values', 200, Array(23).fill({ a: Array(900).fill([[[1]]]) })],
];

it.each(REFERENCES)('%s under 20 names do not block the event loop for long', async (_, status, representations) => {
  const attackOf = (run: number) => under20Names(run, representations);
  expect(attackOf(0).body?.length).toBeLessThan(BODY_BYTES);
  const cost = await measureCheapest(gateway, attackOf, {
    batches: 24,
    size: 1,
    isEnough: ({ longestBlockMs }) => longestBlockMs < MAX_BLOCK_MS,
  });
  expect(cost.status).toBe(status);
  expect(cost.longestBlockMs).toBeLessThan(MAX_BLOCK_MS);
});
