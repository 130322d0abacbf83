import { expect, it } from 'vitest';
import {
  type Attack,
  inWorkflow,
  MAX_BLOCK_MS,
  measureCheapest,
  postWithKey,
  repeat,
  startTarget,
} from '../support/attack.ts';
import { ofFile } from '../support/lifetime.ts';
import { group, workflow } from '../support/records.ts';
import { startService } from '../support/service.ts';

const steps = Array.from({ length: 10 }, () => ({ template: { variables: [{ name: 'city' }] } }));
const upstream = ofFile(
  await startService(({ method, path }) => {
    if (method !== 'GET') {
      return { status: 201, body: { data: {} } };
    }
    if (path.includes('/stats')) {
      return { body: [{ _id: '2026-01-01', count: 1, templates: ['w1'], channels: ['email'] }] };
    }
    return {
      body: { data: path.includes('groups') ? Array.from({ length: 100 }, () => group()) : workflow({ steps }) },
    };
  }),
);
const gateway = ofFile(await startTarget(upstream.url, { NOTIGRAPH_FEDERATION: 'on' }));

const createSubscriber = (data: string): string =>
  `createSubscriber(input: { subscriberId: "a", data: ${data} }) { __typename }`;

const FIELD = `fragment F on __Field { name description isDeprecated deprecationReason
  type { kind name description ofType { kind name description } } }`;

const NESTED = `fragment F on __Field { type {
  kind name fields { name description type { kind name } } ofType { kind name fields { name description } } } }`;

/** Documents as large as the limits allow, by the part of the gateway that they strain. */
const DOCUMENTS: [string, string][] = [
  ['one field 499 times, which validation compares pairwise', inWorkflow(repeat(499, 'name'))],
  ['one field with an argument 108 times', `{ notificationStats { ${repeat(108, 'workflows(first: 1) { id }')} } }`],
  ['deep objects 98 times', inWorkflow(repeat(98, 'steps { template { variables { name } } }'))],
  [
    'fields that conflict',
    inWorkflow(`${repeat(30, (i) => (i % 2 === 0 ? 'x: name' : 'x: id'))} ${repeat(400, 'name')}`),
  ],
  ['499 unknown fields, each with suggestions', inWorkflow(repeat(499, (i) => `workflowIntegrationStatuz${i}`))],
  ['160 unknown types', inWorkflow(repeat(160, (i) => `... on Workfloww${i} { id }`))],
  [
    'fragments in a chain',
    `${inWorkflow('...f0')} ${repeat(105, (i) => `fragment f${i} on Workflow { name ...f${i + 1} }`)} fragment f105 on Workflow { id }`,
  ],
  [
    'fragments side by side',
    `${inWorkflow(repeat(95, (i) => `...f${i}`))} ${repeat(95, (i) => `fragment f${i} on Workflow { id }`)}`,
  ],
  [
    'fragments that spread each other',
    `${inWorkflow('...f0')} ${repeat(8, (i) => `fragment f${i} on Workflow { name ${repeat(7 - i, (j) => `...f${i + 1 + j}`)} }`)}`,
  ],
  [
    'a fragment spread over and over',
    `${inWorkflow(repeat(49, '...f'))} fragment f on Workflow { ${repeat(10, (i) => (i % 2 === 0 ? 'name' : 'id'))} }`,
  ],
  ['inline fragments side by side', inWorkflow(repeat(195, '... { name }'))],
  ['inline fragments nested', inWorkflow(`${'... { '.repeat(320)} name ${'} '.repeat(320)}`)],
  ['190 unused variables', `query (${repeat(190, (i) => `$v${i}: ID`)}) { __typename }`],
  ['a long list', `{ workflows(idsOrIdentifiers: [${repeat(980, '"a"')}]) { id } }`],
  ['a deep object', `mutation { ${createSubscriber(`${'{ a: '.repeat(240)} 1 ${'}'.repeat(240)}`)} }`],
  [
    'wide objects in 18 mutations',
    `mutation { ${repeat(18, createSubscriber(`{ ${repeat(12, (i) => `k${i}: 1`)} }`))} }`,
  ],
  ['a list of groups under 20 names', `{ ${repeat(20, (i) => `a${i}: notificationGroups { id name parentId }`)} }`],
  [
    'a year of days under 20 names',
    `{ ${Array.from({ length: 20 }, (_, i) => `a${i}: notificationStats(days: 366, fillGaps: true) { key date count channels workflowIds }`).join(' ')} }`,
  ],
  ['the schema under five names', `{ ${repeat(5, (i) => `a${i}: __schema { types { fields { ...F } } }`)} } ${FIELD}`],
  [
    'all fields of the schema under five names',
    `{ __schema { types { ${repeat(5, (i) => `a${i}: fields { ...F }`)} } } } ${FIELD}`,
  ],
  [
    'fields of the types of fields',
    `{ __schema { ${repeat(5, (i) => `a${i}: types { fields { ...F } }`)} } } ${NESTED}`,
  ],
];

/** Sends requests until one of them doesn't block the event loop for long, as none does on an idle machine. */
async function expectShortBlocks(attackOf: (run: number) => Attack) {
  const cost = await measureCheapest(gateway, attackOf, {
    batches: 24,
    size: 1,
    isEnough: ({ longestBlockMs }) => longestBlockMs < MAX_BLOCK_MS,
  });
  expect(cost.longestBlockMs).toBeLessThan(MAX_BLOCK_MS);
  return cost;
}

it.each(DOCUMENTS)('%s: the event loop is not blocked for long', async (_, document) => {
  // A different text each time, because documents are cached.
  const { text } = await expectShortBlocks((run) => postWithKey(`${document} # ${run}`));
  expect(text).not.toContain('DOCUMENT_LIMIT_EXCEEDED'); // The document is within the limits.
});

/** References to entities as large as a request permits, and the status of the response. */
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

it.each(REFERENCES)('%s under 20 names: the event loop is not blocked for long', async (_, status, representations) => {
  const entities = repeat(20, (i) => `a${i}: _entities(representations: $r) { __typename }`);
  const attackOf = (run: number) =>
    postWithKey(`query q${run}($r: [_Any!]!) { ${entities} }`, { variables: { r: representations } });
  expect(attackOf(0).body?.length).toBeLessThan(256 * 1024);
  expect((await expectShortBlocks(attackOf)).status).toBe(status);
});
