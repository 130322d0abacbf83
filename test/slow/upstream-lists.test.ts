import { afterAll, beforeAll, it } from 'vitest';
import { repeat, startTarget } from '../support/attack.ts';
import type { ProbedGateway } from '../support/probed-gateway.ts';
import { workflow } from '../support/records.ts';
import { sampleOf } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';
import { expectCheap, fillBody } from '../support/upstream-body.ts';

let upstream: TestService;
let gateway: ProbedGateway;
let list = '';

beforeAll(async () => {
  upstream = await startService(({ path }) => ({
    body: path.includes('/workflows') ? { data: workflow() } : list,
  }));
  gateway = await startTarget(upstream.url);
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const asList = (items: string): string => `[${items}]`;
const asData = (items: string): string => `{"data":[${items}]}`;

const GROUP = 'id name environmentId organizationId parentId';
const GROUPS: [string, string][] = [
  ['groups', `{ notificationGroups { ${GROUP} } }`],
  ['groups under 20 names', `{ ${repeat(20, (i) => `a${i}: notificationGroups { ${GROUP} }`)} }`],
];

const GROUP_LISTS: [string, () => string][] = [
  ['groups of {}', () => fillBody('{}', asData)],
  ['9,900 groups', () => fillBody((i) => `{"_id":"${i}","name":"${'n'.repeat(470)}"}`, asData)],
  ['9,900 groups without an id', () => fillBody(`{"name":"${'n'.repeat(480)}"}`, asData)],
  [
    'groups whose names are objects',
    () => fillBody((i) => `{"_id":"${i}","name":{"a":[${repeat(200, '1', ',')}]}}`, asData),
  ],
  ['groups that are numbers', () => fillBody('1', asData)],
];

it.each(sampleOf(GROUP_LISTS, 3))(
  '%s: completing the list costs little and yields to the event loop',
  async (_, createList) => {
    list = createList();
    await expectCheap(gateway, list, '{ notificationGroups { __typename } }', GROUPS);
  },
);

const STATS: [string, string][] = [
  ['days', '{ notificationStats(days: 30) { key date count channels } }'],
  ['days with their workflows', '{ notificationStats(days: 30) { key workflows { id name steps { id } } } }'],
  [
    'days with their workflows under 20 names',
    `{ notificationStats(days: 30) { ${repeat(20, (i) => `a${i}: workflows(first: 50) { id }`)} } }`,
  ],
];

const day = (members: string): string => `{"_id":"2026-01-01","count":1,${members}}`;

const DAYS: [string, () => string][] = [
  ['days of {}', () => fillBody('{}', asList)],
  ['9,900 days', () => fillBody(day(`"templates":["a"],"channels":["email"]`), asList)],
  [
    'a day with 1.2 million workflows',
    () => fillBody('"a"', (items) => asList(day(`"templates":[${items}],"channels":[]`))),
  ],
  [
    'a day with 400,000 channels',
    () => fillBody('"c"', (items) => asList(day(`"templates":[],"channels":[${items}]`))),
  ],
  [
    '9,900 different workflows of a day',
    () =>
      fillBody(
        (i) => `"${String(i).padEnd(490, 'w')}"`,
        (items) => asList(day(`"templates":[${items}],"channels":[]`)),
      ),
  ],
  [
    'a hundred days with 9,000 workflows each',
    () => fillBody(day(`"templates":[${repeat(9_000, '"ab"', ',')}],"channels":[]`), asList),
  ],
];

it.each(sampleOf(DAYS, 3))(
  '%s: completing the list costs little and yields to the event loop',
  async (_, createList) => {
    list = createList();
    await expectCheap(gateway, list, '{ notificationStats(days: 30) { __typename } }', STATS);
  },
);
