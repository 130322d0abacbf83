import { afterAll, beforeAll, it } from 'vitest';
import { repeat, startTarget } from '../support/attack.ts';
import type { ProbedGateway } from '../support/probed-gateway.ts';
import { workflow } from '../support/records.ts';
import { sampleOf } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';
import { expectCheap, fillBody } from '../support/upstream-body.ts';

let upstream: TestService;
let gateway: ProbedGateway;
let body = '';

beforeAll(async () => {
  upstream = await startService(({ path }) =>
    path.includes('/stats')
      ? {
          body: [
            {
              _id: '2026-01-01',
              count: 1,
              templates: Array.from({ length: 40 }, (_, i) => `w${i % 20}`),
              channels: ['email'],
            },
          ],
        }
      : { body },
  );
  gateway = await startTarget(upstream.url);
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

/** Returns a workflow with further members, as JSON text. */
const withMembers = (members: string): string => `{"data":{${JSON.stringify(workflow()).slice(1, -1)},${members}}}`;

const nested = (depth: number, inner: string): string => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`;

const ALL = `id identifier name description active draft critical tags data workflowIntegrationStatus createdAt updatedAt deletedAt revision parentId
  preferenceSettings { email sms inApp chat push } triggers { identifier type variables { name } }
  steps { ...Step }`;
const STEP = `fragment Step on WorkflowStep { id uuid name templateId active shouldStopOnFail parentId replyCallback
  metadata { amount unit digestKey timed { weekDays monthDays } }
  filters { id isNegated type value children { field value operator on } }
  template { id type active subject content contentType contentBlocks variables { id name type required } } }`;

/** Operations by the way in which they complete the record. */
const OPERATIONS: [string, string][] = [
  ['everything', `{ workflow(idOrIdentifier: "a") { ${ALL} } } ${STEP}`],
  [
    'its steps under 20 names',
    `{ ${repeat(20, (i) => `a${i}: workflow(idOrIdentifier: "a") { ...W }`)} } fragment W on Workflow { tags data steps { id filters { children { field } } template { contentBlocks variables { id } } replyCallback parentId } }`,
  ],
  [
    'its parts under 20 names each',
    `{ workflow(idOrIdentifier: "a") { ${repeat(20, (i) => `a${i}: steps { id filters { children { field value } } template { subject content variables { id } } replyCallback }`)} } }`,
  ],
  [
    'its values under 29 names',
    `{ workflow(idOrIdentifier: "a") { ${repeat(14, (i) => `a${i}: tags b${i}: data`)} } }`,
  ],
  ['as 20 workflows', `{ workflows(idsOrIdentifiers: [${repeat(20, '"a"')}]) { ${ALL} } } ${STEP}`],
];

const BODIES: [string, () => string][] = [
  ['steps of {}', () => fillBody('{}', (items) => withMembers(`"steps":[${items}]`))],
  ['9,900 steps', () => fillBody(`{"_id":"${'s'.repeat(480)}"}`, (items) => withMembers(`"steps":[${items}]`))],
  ['conditions of {}', () => fillBody('{}', (items) => withMembers(`"steps":[{"filters":[{"children":[${items}]}]}]`))],
  [
    '9,900 conditions in 170 filters',
    () =>
      fillBody(`{"children":[${repeat(9_900, '{}', ',')}]}`, (items) =>
        withMembers(`"steps":[{"filters":[${items}]}]`),
      ),
  ],
  [
    'filters without conditions in each step',
    () => fillBody(`{"filters":[${repeat(9_000, '{}', ',')}]}`, (items) => withMembers(`"steps":[${items}]`)),
  ],
  [
    'variables of {}, each without a name',
    () =>
      fillBody(`{"template":{"variables":[${repeat(9_900, '{}', ',')}]}}`, (items) =>
        withMembers(`"steps":[${items}]`),
      ),
  ],
  [
    'invalid values in fields that may be null',
    () =>
      fillBody(`{"name":{},"active":1,"uuid":[],"shouldStopOnFail":"x","metadata":{"amount":"a","unit":{}}}`, (items) =>
        withMembers(`"steps":[${items}]`),
      ),
  ],
  [
    'invalid values in conditions',
    () =>
      fillBody(`{"children":[${repeat(9_000, '{"field":{},"value":[]}', ',')}]}`, (items) =>
        withMembers(`"steps":[{"filters":[${items}]}]`),
      ),
  ],
  [
    'invalid values of 240 KB',
    () => fillBody(`{"name":{"a":[${repeat(60_000, '{}', ',')}]}}`, (items) => withMembers(`"steps":[${items}]`)),
  ],
  [
    'invalid values with 20,000 keys',
    () =>
      fillBody(
        `{"name":{${repeat(20_000, (i) => `"k${i}":1`, ',')}},"uuid":{${repeat(20_000, (i) => `"k${i}":1`, ',')}}}`,
        (items) => withMembers(`"steps":[${items}]`),
      ),
  ],
  [
    'invalid strings of 240 KB',
    () => fillBody(`{"active":"${'x'.repeat(240_000)}"}`, (items) => withMembers(`"steps":[${items}]`)),
  ],
  ['tags that are objects', () => fillBody(`{"a":"${'x'.repeat(480)}"}`, (items) => withMembers(`"tags":[${items}]`))],
  [
    'a long name',
    () =>
      fillBody('é', (items) =>
        withMembers(`"name":"${items}","description":"${'x'}"`).replace('"name":"Workflow",', ''),
      ),
  ],
  [
    'a long name with control characters',
    () => fillBody('\\u0001', (items) => withMembers(`"description":"${items}"`)),
  ],
  [
    'data with 500,000 keys',
    () =>
      fillBody(
        (i) => `"${i.toString(36)}":1`,
        (items) => withMembers(`"data":{${items}}`),
      ),
  ],
  ['data with 2.4 million numbers', () => fillBody('1', (items) => withMembers(`"data":{"a":[${items}]}`))],
  ['data with 1.6 million {}', () => fillBody('{}', (items) => withMembers(`"data":{"a":[${items}]}`))],
  ['data with lists 30 deep', () => fillBody(nested(29, '1'), (items) => withMembers(`"data":{"a":[${items}]}`))],
  ['data 500,000 deep', () => withMembers(`"data":{"a":${nested(500_000, '1')}}`)],
  [
    'data with 90,000 keys, the last of them __proto__',
    () =>
      fillBody(
        (i) => `"${String(i).padEnd(48, 'k')}":1`,
        (items) => withMembers(`"data":{${items},"__proto__":1}`),
      ),
  ],
  [
    'reply callbacks of 10 keys',
    () =>
      fillBody(`{"replyCallback":{${repeat(40, (i) => `"k${i}":{}`, ',')}}}`, (items) =>
        withMembers(`"steps":[${items}]`),
      ),
  ],
  ['blocks of content', () => fillBody('{}', (items) => withMembers(`"steps":[{"template":{"content":[${items}]}}]`))],
  [
    '9,900 blocks of content',
    () =>
      fillBody(`{"a":[${repeat(240, '1', ',')}]}`, (items) =>
        withMembers(`"steps":[{"template":{"content":[${items}]}}]`),
      ),
  ],
  [
    '9,900 blocks that are not objects',
    () =>
      fillBody(`[${repeat(240, '1', ',')}]`, (items) => withMembers(`"steps":[{"template":{"content":[${items}]}}]`)),
  ],
];

/** Operation that costs only receiving and parsing the body. */
const CONTROL = '{ workflow(idOrIdentifier: "a") { __typename } }';

it.each(sampleOf(BODIES, 6))(
  '%s: completing the body costs little and yields to the event loop',
  async (_, createBody) => {
    body = createBody();
    await expectCheap(gateway, body, CONTROL, OPERATIONS);
  },
);
