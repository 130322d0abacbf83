import { expect, it } from 'vitest';
import { MAX_BLOCK_MS, measureCheapest, postWithKey, repeat, startTarget } from '../support/attack.ts';
import { ofFile } from '../support/lifetime.ts';
import { workflow } from '../support/records.ts';
import { startService } from '../support/service.ts';

/** CPU time for an upstream body beyond receiving and parsing it, in milliseconds: three times the target of 500 ms, for slow processors. */
const MAX_CPU_MS = 1_500;

const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/** Body size just below the limit on upstream bodies. */
const BODY_BYTES = 4.9 * 1024 * 1024;

/** Responses of the endpoints; those without one get a small record. */
let bodies: { workflow?: string; groups?: string; stats?: string } = {};

const upstream = ofFile(
  await startService(({ path }) => {
    if (path.includes('/stats')) {
      return { body: bodies.stats ?? '[]' };
    }
    return path.includes('/workflows') ? { body: bodies.workflow ?? { data: workflow() } } : { body: bodies.groups };
  }),
);
const gateway = ofFile(await startTarget(upstream.url));

/** Creates a JSON body with as many copies of an item as fit. */
function fillBody(item: string | ((i: number) => string), toBody: (items: string) => string): string {
  const items: string[] = [];
  for (let size = 2_000; ; ) {
    const text = typeof item === 'string' ? item : item(items.length);
    size += Buffer.byteLength(text) + 1;
    if (size > BODY_BYTES) {
      return toBody(items.join(','));
    }
    items.push(text);
  }
}

/** Returns a workflow with further members, as JSON text. */
const withMembers = (members: string): string => `{"data":{${JSON.stringify(workflow()).slice(1, -1)},${members}}}`;
const withSteps = (steps: string): string => withMembers(`"steps":[${steps}]`);
const withData = (members: string): string => withMembers(`"data":{${members}}`);

const WORKFLOWS: [string, () => string][] = [
  ['steps of {}', () => fillBody('{}', withSteps)],
  ['9,900 steps', () => fillBody(`{"_id":"${'s'.repeat(480)}"}`, withSteps)],
  [
    '9,900 conditions in 170 filters',
    () => fillBody(`{"children":[${repeat(9_900, '{}', ',')}]}`, (filters) => withSteps(`{"filters":[${filters}]}`)),
  ],
  [
    'invalid values in fields that may be null',
    () =>
      fillBody(
        `{"name":{},"active":1,"uuid":[],"shouldStopOnFail":"x","metadata":{"amount":"a","unit":{}}}`,
        withSteps,
      ),
  ],
  ['invalid values of 240 KB', () => fillBody(`{"name":{"a":[${repeat(60_000, '{}', ',')}]}}`, withSteps)],
  ['invalid strings of 240 KB', () => fillBody(`{"active":"${'x'.repeat(240_000)}"}`, withSteps)],
  ['tags that are objects', () => fillBody(`{"a":"${'x'.repeat(480)}"}`, (tags) => withMembers(`"tags":[${tags}]`))],
  ['a long text of control characters', () => fillBody('\\u0001', (text) => withMembers(`"description":"${text}"`))],
  ['600,000 unknown members in 9,900 steps', () => fillBody(`{${repeat(60, (i) => `"k${i}":1`, ',')}}`, withSteps)],
  ['90,000 unknown members', () => fillBody((i) => `"${String(i).padEnd(48, 'k')}":1`, withMembers)],
  ['data with 500,000 keys', () => fillBody((i) => `"${i.toString(36)}":1`, withData)],
  ['data with 2.4 million numbers', () => fillBody('1', (items) => withData(`"a":[${items}]`))],
  ['data 500,000 deep', () => withData(`"a":${'['.repeat(500_000)}1${']'.repeat(500_000)}`)],
  [
    'data with 90,000 keys, the last of them __proto__',
    () =>
      fillBody(
        (i) => `"${String(i).padEnd(48, 'k')}":1`,
        (members) => withData(`${members},"__proto__":1`),
      ),
  ],
  [
    'reply callbacks of 40 keys',
    () => fillBody(`{"replyCallback":{${repeat(40, (i) => `"k${i}":{}`, ',')}}}`, withSteps),
  ],
  [
    '9,900 blocks of content',
    () => fillBody(`{"a":[${repeat(240, '1', ',')}]}`, (blocks) => withSteps(`{"template":{"content":[${blocks}]}}`)),
  ],
];

const ALL = `extra id identifier name description active draft critical tags data workflowIntegrationStatus createdAt updatedAt deletedAt revision parentId
  preferenceSettings { email sms inApp chat push } triggers { identifier type variables { name } }
  steps { ...Step }`;
const STEP = `fragment Step on WorkflowStep { id uuid name templateId active shouldStopOnFail parentId replyCallback
  metadata { amount unit digestKey timed { weekDays monthDays } }
  filters { id isNegated type value children { field value operator on extra } }
  extra template { templateId extra type active subject content contentType contentBlocks variables { id name type required } } }`;

/** Operations by the way in which they complete the record. */
const WORKFLOW_OPERATIONS: [string, string][] = [
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
    `{ workflow(idOrIdentifier: "a") { ${repeat(9, (i) => `a${i}: tags b${i}: data c${i}: extra`)} } }`,
  ],
  ['as 20 workflows', `{ workflows(idsOrIdentifiers: [${repeat(20, '"a"')}]) { ${ALL} } } ${STEP}`],
];

/** Expects operations on an upstream body to cost little more than a control operation that only receives and parses it. */
async function expectCheap(body: string, control: string, operations: readonly (readonly [string, string])[]) {
  expect(Buffer.byteLength(body)).toBeLessThan(5 * 1024 * 1024);
  const base = await measureCheapest(gateway, () => postWithKey(control), {
    batches: 3,
    size: 1,
    isEnough: () => false,
  });
  // Receiving and parsing a large body takes a third of MAX_BLOCK_MS on the machine for which that holds, and more on a slower one.
  const maxBlockMs = base.longestBlockMs + Math.max(MAX_BLOCK_MS, 2 * base.longestBlockMs);
  for (const [name, document] of operations) {
    const { cpuMs, longestBlockMs, status, bytes } = await measureCheapest(gateway, () => postWithKey(document), {
      size: 1,
      isEnough: (cost) => cost.cpuMs < base.cpuMs + MAX_CPU_MS && cost.longestBlockMs < maxBlockMs,
    });
    expect(status).toBe(200);
    expect(bytes, name).toBeLessThanOrEqual(MAX_RESPONSE_BYTES);
    expect(cpuMs - base.cpuMs, name).toBeLessThan(MAX_CPU_MS);
    expect(longestBlockMs, name).toBeLessThan(maxBlockMs);
  }
}

it.each(WORKFLOWS)('%s: completing the record costs little and yields to the event loop', async (_, createBody) => {
  const body = createBody();
  bodies = { workflow: body };
  await expectCheap(body, '{ workflow(idOrIdentifier: "a") { __typename } }', WORKFLOW_OPERATIONS);
});

const asData = (items: string): string => `{"data":[${items}]}`;

const GROUPS: [string, () => string][] = [
  ['groups of {}', () => fillBody('{}', asData)],
  ['9,900 groups', () => fillBody((i) => `{"_id":"${i}","name":"${'n'.repeat(470)}"}`, asData)],
  [
    'groups whose names are objects',
    () => fillBody((i) => `{"_id":"${i}","name":{"a":[${repeat(200, '1', ',')}]}}`, asData),
  ],
];

const GROUP = 'id name environmentId organizationId parentId';

it.each(GROUPS)('%s: completing the list costs little and yields to the event loop', async (_, createList) => {
  const groups = createList();
  bodies = { groups };
  await expectCheap(groups, '{ notificationGroups { __typename } }', [
    ['groups', `{ notificationGroups { ${GROUP} } }`],
    ['groups under 20 names', `{ ${repeat(20, (i) => `a${i}: notificationGroups { ${GROUP} }`)} }`],
  ]);
});

const asList = (items: string): string => `[${items}]`;
const day = (members: string): string => `{"_id":"2026-01-01","count":1,${members}}`;
const asDay = (ids: string): string => asList(day(`"templates":[${ids}],"channels":[]`));

const DAYS: [string, () => string][] = [
  ['9,900 days', () => fillBody(day(`"templates":["a"],"channels":["email"]`), asList)],
  ['a day with 1.2 million workflows', () => fillBody('"a"', asDay)],
  ['9,900 different workflows of a day', () => fillBody((i) => `"${String(i).padEnd(490, 'w')}"`, asDay)],
  [
    'a hundred days with 9,000 workflows each',
    () => fillBody(day(`"templates":[${repeat(9_000, '"ab"', ',')}],"channels":[]`), asList),
  ],
];

it.each(DAYS)('%s: completing the list costs little and yields to the event loop', async (_, createList) => {
  const stats = createList();
  bodies = { stats };
  await expectCheap(stats, '{ notificationStats(days: 30) { __typename } }', [
    ['days', '{ notificationStats(days: 30) { key date count channels } }'],
    ['days with their workflows', '{ notificationStats(days: 30) { key workflows { id name steps { id } } } }'],
    [
      'days with their workflows under 20 names',
      `{ notificationStats(days: 30) { ${repeat(20, (i) => `a${i}: workflows(first: 50) { id }`)} } }`,
    ],
  ]);
});
