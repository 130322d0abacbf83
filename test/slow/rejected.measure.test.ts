import { afterAll, describe, expect, it } from 'vitest';
import {
  type Attack,
  type Cost,
  inWorkflow,
  JSON_TYPE,
  measure,
  measureCheapest,
  parseMs,
  post,
  postWithKey,
  repeat,
  startTarget,
} from '../support/attack.ts';
import { ofFile } from '../support/lifetime.ts';
import { startService } from '../support/service.ts';

/**
 * Limits for a request that is rejected or has no credential: three times the targets (10 ms and five parses, at most 50 ms), for slow
 * processors.
 */
const MAX_CPU_MS = 150;
const BASE_CPU_MS = 30;
const MAX_PARSES = 15;

/** Parsing many keys for the first time costs more than parsing the same ones again, as `parseMs` does. */
const MAX_PARSES_OF_VARIABLES = 30;

const MAX_RESPONSE_BYTES = 64 * 1024;
const MAX_MESSAGE = 300;

const upstream = ofFile(await startService(() => ({ body: { data: {} } })));
const gateway = ofFile(await startTarget(upstream.url));

await measure(
  gateway,
  Array.from({ length: 200 }, (_, i) =>
    post(`query ($a: ID!) { a${i}: __typename x${i} workflow(idOrIdentifier: $a) { id } }`),
  ),
);

afterAll(() => {
  // The gateway checks the upstream when it starts.
  expect(upstream.requests.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
});

/** Pads a document to 32 KB with leading line breaks, so that every error location is on line 30,000 or later. */
const afterLines = (document: string): string => '\n'.repeat(32_700 - document.length) + document;

/** Documents that fail validation with as many nodes in their errors as the limits allow. */
const INVALID: [string, string][] = [
  [
    '400 fields that conflict',
    inWorkflow(`${repeat(30, (i) => (i % 2 === 0 ? 'x: name' : 'x: id'))} ${repeat(400, 'name')}`),
  ],
  [
    'objects whose 220 fields conflict',
    `{ ${repeat(2, (i) => `x: workflow(idOrIdentifier: "${i}") { ${repeat(230, (j) => (i === 0 ? (j % 2 ? 'name' : 'id') : j % 2 ? 'id' : 'name'))} }`)} }`,
  ],
  ['conflicts at 15 aliases', inWorkflow(repeat(15, (i) => `a${i}: name a${i}: id`))],
  [
    'nested objects that conflict',
    inWorkflow(
      `${repeat(10, (i) => `steps { ${repeat(20, 'id')} x: ${i % 2 ? 'name' : 'uuid'} ${repeat(20, 'id')} }`)}`,
    ),
  ],
  [
    'a cycle of 100 fragments',
    `${inWorkflow('...f0')} ${repeat(100, (i) => `fragment f${i} on Workflow { ...f${(i + 1) % 100} }`)}`,
  ],
  [
    'many cycles of fragments',
    `${inWorkflow('...f0')} ${repeat(12, (i) => `fragment f${i} on Workflow { ${repeat(12, (j) => `...f${j}`)} }`)}`,
  ],
  ['190 unused variables', `query (${repeat(190, (i) => `$v${i}: ID`)}) { __typename }`],
  ['130 unused fragments', `{ __typename } ${repeat(130, (i) => `fragment f${i} on Query { __typename }`)}`],
  ['an operation with 240 definitions', repeat(240, 'query q { __typename }')],
  ['an argument 240 times', inWorkflow('id').replace('idOrIdentifier: "a"', repeat(240, 'idOrIdentifier: "a"'))],
  ['490 unknown fields', inWorkflow(repeat(490, (i) => `workflowIntegrationStatuz${i}`))],
  ['one unknown field with a long name', inWorkflow('workflowIntegrationStatus'.repeat(1300))],
  [
    'unknown types of variables',
    `query (${repeat(190, (i) => `$v${i}: UpdateWorkflowStatusInputt${i}`)}) { __typename }`,
  ],
  [
    'unknown input fields',
    `mutation { createSubscriber(input: { ${repeat(240, (i) => `subscriberIdd${i}: 1`)} }) { __typename } }`,
  ],
  [
    'undefined variables in 100 operations',
    `${repeat(60, (i) => `query q${i} { workflow(idOrIdentifier: $u) { id } }`)}`,
  ],
  [
    'values of another type',
    `{ ${repeat(19, (i) => `a${i}: workflow(idOrIdentifier: { a: [${repeat(40, '1.5')}] }) { id }`)} }`,
  ],
  ['a long list of another type', `{ notificationStats(days: [${repeat(970, '1')}]) { key } }`],
  ['50 directives that are unknown', inWorkflow(`id ${repeat(50, (i) => `@include${i}(if: ${i})`)}`)],
  ['50 directives at one field', inWorkflow(`id ${repeat(50, '@include(if: $undefined)')}`)],
  ['spreads that do not exist', inWorkflow(repeat(450, (i) => `...f${i}`))],
];

const REJECTED: [string, (run: number) => Attack][] = [
  ...INVALID.map(([name, document]): [string, (run: number) => Attack] => [
    `${name}, after 30,000 lines`,
    (run) => post(afterLines(`${document} #${run}`)),
  ]),
  ['a syntax error after 32,000 lines', (run) => post(afterLines(`{ a${run} `))],
  ['a syntax error in a long string', (run) => post(`{ a${run}(b: "${'é'.repeat(32_000)}`)],
  ['16,000 comments with an unknown field', (run) => post(`${'#\n'.repeat(16_300)} {a${run}}`)],
  [
    'a block string with 32,000 lines',
    (run) => post(`{ workflow(idOrIdentifier: """${'\n'.repeat(32_600)}""") { a${run} } }`),
  ],
  ['1,001 tokens', (run) => post(`{ a${run} ${'a '.repeat(1_000)} }`)],
  ['10,000 braces', (run) => post(`{ a${run} ${'{a'.repeat(16_000)} }`)],
  ['250 KB of operation name', (run) => post('{ __typename }', { operationName: `${run}${'o'.repeat(250_000)}` })],
  [
    '250 KB of document id',
    (run) => ({ headers: JSON_TYPE, body: JSON.stringify({ documentId: `${run}${'d'.repeat(250_000)}` }) }),
  ],
  [
    '250 KB of hash of a persisted query',
    (run) => ({
      headers: JSON_TYPE,
      body: JSON.stringify({
        extensions: { persistedQuery: { version: 1, sha256Hash: `${run}${'d'.repeat(250_000)}` } },
      }),
    }),
  ],
  ['20,000 unknown parameters', () => ({ headers: JSON_TYPE, body: `{${repeat(20_000, (i) => `"p${i}":1`, ',')}}` })],
  ['a batch of 80,000', () => ({ headers: JSON_TYPE, body: `[${repeat(80_000, '{}', ',')}]` })],
  [
    'variables nested 125,000 deep',
    () => ({ headers: JSON_TYPE, body: `{"query":"{a}","variables":${'['.repeat(120_000)}${']'.repeat(120_000)}}` }),
  ],
  ['a body nested 125,000 deep that breaks off', () => ({ headers: JSON_TYPE, body: '{"a":'.repeat(50_000) })],
  [
    '250 KB of numbers with 16 digits',
    () => ({
      headers: JSON_TYPE,
      body: `{"query":"{a}","variables":{"a":[${repeat(14_000, '1234567890123456', ',')}]}}`,
    }),
  ],
];

const nested = (depth: number, open: string, inner: string, close: string) =>
  `${open.repeat(depth)}${inner}${close.repeat(depth)}`;

/** Creates a request with variables as JSON text, because JSON.stringify overflows the stack on deep values. */
const withVariablesText =
  (document: string, text: string) =>
  (run: number): Attack => ({
    headers: { ...JSON_TYPE, authorization: 'ApiKey a' },
    body: `{"query":${JSON.stringify(`${document} # ${run}`)},"variables":{"v":${text}}}`,
  });

const SUBSCRIBER = 'mutation ($v: CreateSubscriberInput!) { createSubscriber(input: $v) { __typename } }';
const SUBSCRIBERS = 'mutation ($v: CreateSubscribersInput!) { createSubscribers(input: $v) { __typename } }';
const DATA = 'mutation ($v: JSONObject!) { createSubscriber(input: { subscriberId: "a", data: $v }) { __typename } }';
const IDS = 'query ($v: [ID!]!) { workflows(idsOrIdentifiers: $v) { id } }';
const ID = 'query ($v: ID!) { workflow(idOrIdentifier: $v) { id } }';

const VARIABLES: [string, (run: number) => Attack][] = [
  ['131,000 invalid items', withVariablesText(SUBSCRIBERS, `{"subscribers":[${repeat(120_000, '1', ',')}]}`)],
  [
    '1,000 invalid items with long values',
    withVariablesText(SUBSCRIBERS, `{"subscribers":[${repeat(1_000, `"${'é'.repeat(120)}"`, ',')}]}`),
  ],
  [
    '100 items, each with 200 unknown fields',
    withVariablesText(
      SUBSCRIBERS,
      `{"subscribers":[${repeat(100, () => `{${repeat(200, (i) => `"subscriberI${i}":1`, ',')}}`, ',')}]}`,
    ),
  ],
  [
    '20,000 unknown input fields',
    withVariablesText(SUBSCRIBER, `{"subscriberId":"a",${repeat(20_000, (i) => `"u${i}":1`, ',')}}`),
  ],
  [
    'an input field with a long name close to another',
    withVariablesText(SUBSCRIBER, `{"${'subscriberId'.repeat(20_000)}":1}`),
  ],
  ['an object 60,000 deep as an input', withVariablesText(SUBSCRIBER, nested(40_000, '{"a":', '1', '}'))],
  ['a list 120,000 deep as a list of ids', withVariablesText(IDS, nested(120_000, '[', '1', ']'))],
  ['an object 40,000 deep as JSON', withVariablesText(DATA, nested(40_000, '{"a":', '1', '}'))],
  [
    '60,000 empty objects in JSON with __proto__',
    withVariablesText(DATA, `{${repeat(15_000, (i) => `"k${i}":{}`, ',')},"__proto__":1}`),
  ],
  [
    'lists of 1,001 items in JSON',
    withVariablesText(DATA, `{"a":[${repeat(90, `[${repeat(1_001, '1', ',')}]`, ',')}]}`),
  ],
  [
    'a string of 250 KB as an integer',
    withVariablesText('query ($v: Int!) { notificationStats(days: $v) { key } }', `"${'é'.repeat(125_000)}"`),
  ],
  [
    '20,000 variables that are not used',
    () => ({
      headers: JSON_TYPE,
      body: `{"query":${JSON.stringify(ID)},"variables":{${repeat(20_000, (i) => `"w${i}":1`, ',')}}}`,
    }),
  ],
  [
    '20 variables, each a long error, after 30,000 lines',
    (run) =>
      postWithKey(
        afterLines(
          `query (${repeat(20, (i) => `$v${i}: Int!`)}) { ${repeat(20, (i) => `a${i}: notificationStats(days: $v${i}) { key }`)} } # ${run}`,
        ),
        { variables: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`v${i}`, 'x'.repeat(10_000)])) },
      ),
  ],
];

const EXECUTED: [string, (run: number) => Attack][] = [
  [
    '900 items that each lack a credential',
    (run) =>
      post(
        afterLines(
          `{ ${repeat(18, (i) => `a${i}: workflows(idsOrIdentifiers: [${repeat(46, `"${run}${i}"`)}]) { id }`)} }`,
        ),
      ),
  ],
  [
    'a bulk mutation without a credential',
    (run) =>
      post(`${SUBSCRIBERS} # ${run}`, {
        variables: {
          v: {
            subscribers: Array.from({ length: 100 }, (_, i) => ({
              subscriberId: `a${i}`,
              data: { a: 'x'.repeat(2_000) },
            })),
          },
        },
      }),
  ],
  [
    'all of the schema under five names',
    (run) =>
      post(
        `{ ${repeat(5, (i) => `a${i}: __schema { types { fields { ...F } inputFields { name description type { kind name } } enumValues { name description } } directives { name args { name } } }`)} } fragment F on __Field { name description isDeprecated deprecationReason args { name description defaultValue type { kind name } } } # ${run}`,
      ),
  ],
];

/** Sends requests until a batch is within the limit, and checks their responses. */
async function attack(attackOf: (run: number) => Attack, limitMs: number): Promise<Cost> {
  const cost = await measureCheapest(gateway, attackOf, { isEnough: ({ cpuMs }) => cpuMs < limitMs });
  const { errors = [] }: { errors?: { message: string }[] } = JSON.parse(cost.text);
  for (const { message } of errors) {
    expect(message.length).toBeLessThanOrEqual(MAX_MESSAGE);
  }
  expect(cost.text).not.toContain('INTERNAL_SERVER_ERROR');
  expect(cost.cpuMs).toBeLessThan(limitMs);
  return cost;
}

describe('a rejected request costs little and its response is small', () => {
  const attacks = [
    ...REJECTED.map(([name, attackOf]) => ({ name, attackOf, maxParses: MAX_PARSES })),
    ...VARIABLES.map(([name, attackOf]) => ({ name, attackOf, maxParses: MAX_PARSES_OF_VARIABLES })),
  ];
  it.each(attacks)('$name', async ({ attackOf, maxParses }) => {
    const limitMs = Math.min(MAX_CPU_MS, BASE_CPU_MS + maxParses * parseMs(attackOf(0).body ?? ''));
    const { bytes, text } = await attack(attackOf, limitMs);
    expect(bytes).toBeLessThanOrEqual(MAX_RESPONSE_BYTES);
    expect(text).not.toContain('"data"');
    expect(JSON.parse(text).errors.length).toBeLessThanOrEqual(6); // Five errors and a note that there are more.
  });
});

it.each(EXECUTED)('a request without a credential costs little: %s', async (_, attackOf) => {
  await attack(attackOf, MAX_CPU_MS);
});
