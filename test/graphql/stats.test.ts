import { beforeAll, describe, expect, it } from 'vitest';
import { measureCpu } from '../support/cpu-time.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';

const NOW = () => new Date('2026-03-10T23:30:00Z');

const entry = (_id: string, count = 1) => ({ _id, count, templates: ['w1'], channels: ['email'] });

let gateway: GatewayWithService;
let sent: unknown;
beforeAll(async () => {
  gateway = await startGateway({ service: () => ({ body: sent }) }, { now: NOW });
  return () => gateway[Symbol.asyncDispose]();
});

/** Returns what the gateway returns for these upstream entries. */
async function ask(entries: unknown, args: string) {
  sent = entries;
  const { notificationStats } = await gateway.data<{
    notificationStats: { key: string; count: number; date: string | null }[];
  }>(`{ notificationStats${args} { key date count } }`);
  return notificationStats;
}

it('sorts the entries by day, oldest first', async () => {
  const entries = [entry('2026-03-09'), entry('2026-02-28'), entry('2026-03-01')];
  const keys = (await ask(entries, '')).map(({ key }) => key);
  expect(keys).toEqual(['2026-02-28', '2026-03-01', '2026-03-09']);
});

it.each([
  { args: '(days: 3)', days: ['2026-03-08', '2026-03-10'] },
  { args: '(days: 3, fillGaps: true)', days: ['2026-03-08', '2026-03-09', '2026-03-10'] },
  { args: '(days: 1)', days: ['2026-03-10'] },
  { args: '(days: 1, fillGaps: true)', days: ['2026-03-10'] },
])(
  'returns exactly the days of $args, although the service begins with a part of the day before',
  async ({ args, days }) => {
    const entries = ['2026-03-11', '2026-03-10', '2026-03-08', '2026-03-07', '2026-03-06', '2026-W10'].map((key) =>
      entry(key),
    );
    expect((await ask(entries, args)).map(({ key }) => key)).toEqual([...days, '2026-W10']);
  },
);

it('returns as many days of the sandbox as were asked for, of which each is complete', async () => {
  await using sandboxed = await startGateway({ service: 'sandbox' }, { now: NOW });
  const week = Array.from({ length: 7 }, (_, i) => `2026-03-${String(i + 4).padStart(2, '0')}`);
  const read = async (args: string) =>
    (await sandboxed.data<{ notificationStats: object[] }>(`{ notificationStats${args} { date count } }`))
      .notificationStats;
  const month = await read('(days: 30)');
  for (const args of ['(days: 7)', '(days: 7, fillGaps: true)']) {
    const entries = await read(args);
    expect(entries).toEqual(month.slice(-7));
    expect(entries).toMatchObject(week.map((date) => ({ date })));
  }
  const { path, responseBody } = sandboxed.upstream().at(-1) ?? {};
  expect(path).toBe('/v1/notifications/graph/stats?days=7');
  expect(responseBody?.match(/(?<="_id":")[\d-]+/g)).toEqual(['2026-03-03', ...week].toReversed());
});

it('returns null for an invalid entry, with an error at its index, and all others', async () => {
  sent = [entry('2026-03-09'), { ...entry('2026-03-08'), count: 'many' }, entry('2026-03-07')];
  const result = await gateway.send<{ notificationStats: ({ key: string } | null)[] }>(
    '{ notificationStats { key count } }',
  );
  expect(result.body.data?.notificationStats.map((each) => each?.key)).toEqual(['2026-03-07', undefined, '2026-03-09']);
  expect(result.body.errors).toMatchObject([
    { path: ['notificationStats', 1, 'count'], extensions: { code: 'UPSTREAM_BAD_RESPONSE' } },
  ]);
});

it('has a date only if the key is a day', async () => {
  const dates = (await ask([entry('2026-02-30'), entry('2026-W09'), entry('all')], '')).map(({ date }) => date);
  expect(dates).toEqual([null, null, null]);
});

describe('fillGaps', () => {
  it('returns every day of the window up to today in UTC', async () => {
    const filled = await ask([entry('2026-03-08', 5)], '(days: 4, fillGaps: true)');
    expect(filled.map(({ key, count }) => `${key} ${count}`)).toEqual([
      '2026-03-07 0',
      '2026-03-08 5',
      '2026-03-09 0',
      '2026-03-10 0',
    ]);
  });

  it('includes days that the service sends, without a window also those to come', async () => {
    const filled = await ask([entry('2026-03-08'), entry('2026-03-11'), entry('other')], '(fillGaps: true)');
    expect(filled.map(({ key }) => key)).toEqual(['2026-03-08', '2026-03-09', '2026-03-10', '2026-03-11', 'other']);
  });

  it('starts at the oldest entry if no window is given', async () => {
    expect(await ask([entry('2026-03-09')], '(fillGaps: true)')).toHaveLength(2);
    expect(await ask([], '(fillGaps: true)')).toEqual([]);
  });

  it('adds no days more than ten years away, but keeps those that the service sends', async () => {
    const days = ['0001-01-01', '2000-01-01', '2026-03-09', '9999-12-31'];
    const entries = days.map((day) => entry(day, 1));
    const { result: filled, cpuMs } = await measureCpu(() => ask(entries, '(fillGaps: true)'));
    expect(cpuMs).toBeLessThan(1_000);
    expect(filled.map(({ key }) => key)).toEqual([
      '0001-01-01',
      '2000-01-01',
      '2026-03-09',
      '2026-03-10',
      '9999-12-31',
    ]);
  });
});

it('rejects other days before any upstream call, whichever were valid before', async () => {
  sent = [];
  gateway.service.forget();
  const ask = (days: unknown) =>
    gateway.send('query ($days: Int) { notificationStats(days: $days) { key } }', { days });
  for (const days of [0, 3651]) {
    const { body, codes } = await ask(days);
    expect(codes).toEqual(['BAD_USER_INPUT']);
    expect(body.errors?.[0]?.message).toBe(`days must be between 1 and 3650, but is ${days}.`);
  }
  for (const days of [2_147_483_648, 1.5, '7']) {
    const { status, codes } = await ask(days);
    expect([status, codes]).toEqual([400, ['BAD_USER_INPUT']]);
  }
  const { body } = await gateway.send('{ notificationStats(days: 367, fillGaps: true) { key } }');
  expect(body.errors?.[0]?.message).toBe('days with fillGaps must be between 1 and 366, but is 367.');
  expect(gateway.service.requests).toHaveLength(0);
  expect((await ask(1)).codes).toEqual([]);
});

it('resolves the first workflows of a day, with null for a deleted one', async () => {
  await using sandboxed = await startGateway({ service: 'sandbox' });
  const { notificationStats } = await sandboxed.data<{
    notificationStats: { workflowIds: string[]; two: unknown[]; workflows: ({ id: string } | null)[] }[];
  }>('{ notificationStats(days: 90) { workflowIds two: workflows(first: 2) { id } workflows { id } } }');
  for (const { workflowIds, two, workflows } of notificationStats) {
    expect(two).toHaveLength(Math.min(2, workflowIds.length));
    expect(workflows.map((workflow, i) => workflow?.id ?? workflowIds[i])).toEqual(workflowIds);
  }
  expect(notificationStats.some(({ workflows }) => workflows.includes(null))).toBe(true);
  const refused = await sandboxed.send('{ notificationStats { workflows(first: 0) { id } } }');
  expect(refused.codes[0]).toBe('BAD_USER_INPUT');
});
