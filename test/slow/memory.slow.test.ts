import { expect, it } from 'vitest';
import { type Attack, inWorkflow, JSON_TYPE, post, postWithLongKey, repeat, startTarget } from '../support/attack.ts';
import { runConcurrently } from '../support/concurrent-load.ts';
import type { ProbedGateway } from '../support/probed-gateway.ts';
import { type ServiceResponse, startService } from '../support/service.ts';

/** Maximum memory of the caches of documents, errors and plans together, in MB. */
const MAX_CACHES_MB = 32;

/** Allowance for memory other than caches: compiled code, inline caches, connection buffers. */
const MARGIN_MB = 8;

/** Maximum heap growth that callers may cause besides documents, in MB. */
const MAX_CALLERS_MB = 16;

/** Returns how much memory a gateway retains after many different requests, in MB. */
async function measureGrowth(
  count: number,
  attackOf: (i: number) => Attack,
  response: ServiceResponse = { body: { data: {} } },
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  await using upstream = await startService(() => response);
  await using gateway = await startTarget(upstream.url, env);
  const sendAll = (times: number, requestOf: (i: number) => Attack) =>
    runConcurrently(times, 8, async (i) => {
      const { method = 'POST', search = '', ...init } = requestOf(i);
      await (await fetch(gateway.url + search, { method, ...init })).arrayBuffer();
    });
  await sendAll(300, (i) => post(`{ warm${i % 7}: __typename unknown${i % 2}: __schema { queryType { name } } }`));
  const before = await measureRetainedMb(gateway);
  await sendAll(count, attackOf);
  return (await measureRetainedMb(gateway)) - before;
}

async function measureRetainedMb(gateway: ProbedGateway): Promise<number> {
  let retained = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 3; i += 1) {
    const { heapMb, externalMb } = await gateway.vitals('collect garbage');
    retained = Math.min(retained, heapMb + externalMb);
  }
  return retained;
}

/** Pads a document with a comment up to the maximum length. */
const padded = (document: string, character = 'x'): string =>
  `${document}#${character.repeat(32_700 - document.length)}`;

const WORKFLOW = `fragment f on Workflow { id name active draft critical isBlueprint tags notificationGroupId parentId creatorId
  organizationId environmentId deleted deletedAt deletedBy createdAt updatedAt revision identifier description }`;

const TYPE = `fragment t on __Type { kind name description fields { name description isDeprecated type { kind name ofType { name } } args { name } }
  inputFields { name } enumValues { name } interfaces { name } possibleTypes { name } ofType { name } }`;

/** Returns one of 16 requests with the same document and different conditions. */
const withConditions = (i: number, fields: string, fragment: string): Attack =>
  post(
    `query ($a: Boolean!, $b: Boolean!, $c: Boolean!, $d: Boolean!) { ${fields} a: __typename @include(if: $a)
      b: __typename @include(if: $b) c: __typename @include(if: $c) d: __typename @include(if: $d) } ${fragment}`,
    { variables: { a: (i & 1) > 0, b: (i & 2) > 0, c: (i & 4) > 0, d: (i & 8) > 0 } },
  );

const DOCUMENTS: [string, number, (i: number) => Attack][] = [
  ['short documents with an error', 3_000, (i) => post(`{ a${i} }`)],
  ['documents of 32 KB of text that is not ASCII', 800, (i) => post(padded(`{ a${i}: __typename }`, 'é'))],
  ['documents of 16,000 comments', 60, (i) => post(`{ a${i}: __typename } ${'#\n'.repeat(16_000)}`)],
  [
    'documents with 5 errors of many nodes',
    400,
    (i) => post(inWorkflow(`${repeat(30, (j) => `x${i}${j % 5}: ${j % 2 ? 'id' : 'name'}`)} ${repeat(50, 'id')}`)),
  ],
  ['syntax errors after 16,000 comments', 150, (i) => post(`${'#\n'.repeat(16_300)}{ a${i}`)],
  [
    'operations with 16 sets of conditions',
    6_400,
    (i) =>
      withConditions(
        i,
        repeat(15, (j) => `a${i >> 4}_${j}: workflow(idOrIdentifier: "a") { ...f }`),
        WORKFLOW,
      ),
  ],
  [
    'plans of the schema',
    6_400,
    (i) =>
      withConditions(
        i,
        repeat(4, (j) => `a${i >> 4}_${j}: __type(name: "Feed") { ...t }`),
        TYPE,
      ),
  ],
  [
    'GET requests with 15 KB of other parameters',
    4_000,
    (i) => ({
      method: 'GET',
      search: `?query=${encodeURIComponent(`{ alias_number_${i}: __typename }`)}&padding=${'x'.repeat(14_500)}`,
      headers: { 'graphql-require-preflight': 'true' },
    }),
  ],
];

it.each(DOCUMENTS)('%s do not fill the caches beyond their limit', async (_, count, attackOf) => {
  expect(await measureGrowth(count, attackOf)).toBeLessThan(MAX_CACHES_MB + MARGIN_MB);
});

const CALLERS: [string, number, (i: number) => Attack][] = [
  ['API keys of 2 KB', 9_000, (i) => postWithLongKey('{ __typename }', i)],
  [
    'unknown names and headers',
    4_000,
    (i) => ({
      ...post('query a { __typename }', {
        operationName: `a${String(i).padEnd(8_000, 'k')}`,
        extensions: { [`e${i}`]: 1 },
      }),
      headers: {
        ...JSON_TYPE,
        accept: `application/json, text/a${String(i).padEnd(4_000, 'k')}`,
        'x-request-id': String(i).padEnd(100, 'k'),
        'idempotency-key': String(i).padEnd(4_000, 'k'),
        origin: `https://${String(i).padEnd(2_000, 'k')}.example`,
      },
    }),
  ],
];

it.each(CALLERS)('%s leave little memory allocated', async (_, count, attackOf) => {
  expect(await measureGrowth(count, attackOf)).toBeLessThan(MAX_CALLERS_MB);
});

it("API keys of 2 KB leave little memory allocated, with the gateway's limit and with the service's limit", async () => {
  const throttled = { status: 429, headers: { 'retry-after': '60' }, body: {} };
  const env = { NOTIGRAPH_CONFIG_TEXT: 'clients: { server: { rateLimit: { calls: 1, perSeconds: 3600 } } }' };
  // Each key makes a call, because unused limits are not stored. Storing the keys unhashed would exceed the bound.
  const growth = await measureGrowth(
    10_000,
    (i) => postWithLongKey('{ notificationGroups { id } }', i),
    throttled,
    env,
  );
  expect(growth).toBeLessThan(MAX_CALLERS_MB);
});
