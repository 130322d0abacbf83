import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../packages/testing/src/endpoints.gen.ts';
import { arrayOf, recordOf } from '../../src/lib/is-record.ts';
import { operations } from '../support/operations.ts';
import { type Case, casesOf } from './cases.ts';
import { type Connected, connect, endpointOf, IMPLEMENTATIONS } from './implementations.ts';

/** Ids that paths, databases or validators could take for something else. */
const ODD_IDS = ['a b', 'ä', 'a+b', 'a%b', 'a:b', '$a', 'a@example.com', '__proto__', 'x'.repeat(200)];

describe.each(IMPLEMENTATIONS)('the endpoints of %s', (_, implementation) => {
  let service: Connected;
  const endpoints = new Set<string>();

  beforeAll(async () => {
    service = await connect(implementation);
    const feeds = arrayOf(recordOf((await service.ask('GET /v1/feeds')).body).data).map(recordOf);
    const feed = feeds.find(({ name }) => name === service.fill('{run} feed'));
    service.target.values.set('feed', String(feed?._id)).set('unknownId', '65f000000000000000000999');
  });
  afterEach(() => void service.exchanges.splice(0)); // A request that a failed test has left would fail the next one too.
  afterAll(() => service[Symbol.asyncDispose]());

  async function runCase({ of, run, input, variables, as, gives, sends, keep = {} }: Case): Promise<void> {
    const title = `${run} of ${of}`;
    const values = service.fill(input === undefined ? variables : { input });
    const result = await service.run(String(operations[run]), values, as);
    for (const { method, path } of service.exchanges) {
      endpoints.add(endpointOf(method, path));
    }
    for (const [name, path] of Object.entries(keep)) {
      const value = path.split('.').reduce<unknown>((found, part) => Object(found)[part], result);
      service.target.values.set(name, typeof value === 'string' ? value : `missing-${name}`);
    }
    expect.soft({ [title]: service.named(result) }).toMatchObject({ [title]: gives });
    expect.soft([title, service.calls().toSorted()]).toEqual([title, sends.toSorted()]);
  }

  for (const noun of Object.keys(casesOf(422))) {
    it(`${noun}: success and the usual failures`, async () => {
      for (const each of casesOf(service.invalid)[noun] ?? []) {
        await runCase(each);
      }
      if (noun === 'events') {
        await service.awaitMessages({ '{run}-1': 1, '{run}-2': 1 });
      }
    });
  }

  it('statistics count what was sent today', async () => {
    const stats = await service.run(operations.NotificationStats, { days: 2 });
    expect(stats).toContainEqual(expect.objectContaining({ date: new Date().toISOString().slice(0, 10) }));
    expect(service.calls()).toContain('GET /v1/notifications/graph/stats?days=2 200');
    endpoints.add('GET /v1/notifications/graph/stats');
  });

  it.each(ODD_IDS)('the id %j is that of one subscriber in reads, writes and events', async (id) => {
    const subscriberId = `${service.target.values.get('run')}${id}`;
    const create = await service.run(operations.CreateSubscriber, { input: { subscriberId, firstName: 'Odd' } });
    expect(create).toMatchObject({ subscriber: { subscriberId, firstName: 'Odd' } });
    expect(await service.run(operations.Subscriber, { subscriberId })).toMatchObject({ subscriberId });
    const update = await service.run(operations.UpdateSubscriber, { input: { subscriberId, firstName: 'Odder' } });
    expect(update).toMatchObject({ subscriber: { subscriberId, firstName: 'Odder' } });
    expect(await service.run(operations.UnseenMessages, { subscriberId })).toEqual({
      id: `inbox:${subscriberId}`,
      unseen: { count: 0, isMore: false },
    });
    expect(await service.run(operations.DeleteSubscriber, { input: { subscriberId } })).toEqual({
      deletedId: subscriberId,
    });
    expect(service.exchanges.map(({ status }) => status)).toEqual([201, 200, 200, 200, 200]);
    service.calls();
  });

  it('lists have all records, over more than one page', async () => {
    const run = service.target.values.get('run');
    const keys = Array.from({ length: 12 }, (_unused, at) => `${run}-page-${String(at).padStart(2, '0')}`);
    for (const key of keys) {
      await service.ask('POST /v1/topics', { key, name: key });
      await service.ask('POST /v1/subscribers', { subscriberId: key });
    }
    const read = async (document: string, variables: object) => JSON.stringify(await service.run(document, variables));
    const topics: string[] = [];
    for (let page = 0, text = ''; page === 0 || text.includes('"key"'); page += 1) {
      text = await read(String(operations.Topics), { page, pageSize: 5 });
      topics.push(...(text.match(new RegExp(`(?<="key":")${run}-page-\\d+`, 'g')) ?? []));
    }
    expect(topics.toSorted()).toEqual(keys);
    const people: string[] = [];
    for (let page = 0, text = ''; page === 0 || text.includes('"hasMore":true'); page += 1) {
      text = await read(String(operations.Subscribers), { page, limit: 5 });
      people.push(...(text.match(new RegExp(`(?<="subscriberId":")${run}-page-\\d+`, 'g')) ?? []));
    }
    expect(people.toSorted()).toEqual(keys);
    expect(new Set(service.exchanges.map(({ status }) => status))).toEqual(new Set([200]));
    service.calls();
    for (const key of keys) {
      await service.ask(`DELETE /v1/topics/${key}`);
      await service.ask(`DELETE /v1/subscribers/${key}`);
    }
  });

  it('subscribers created in bulk are there', async () => {
    const run = service.target.values.get('run');
    const { status } = await service.ask('POST /v1/subscribers/bulk', {
      subscribers: [{ subscriberId: `${run}-bulk` }],
    });
    endpoints.add('POST /v1/subscribers/bulk');
    expect(status).toBe(201);
    expect(await service.run(operations.Subscriber, { subscriberId: `${run}-bulk` })).toMatchObject({
      subscriberId: `${run}-bulk`,
    });
    service.calls();
  });

  it('the tests above asked every endpoint', () => {
    const missing = ENDPOINTS.filter((endpoint) => !endpoints.has(endpoint));
    expect(missing, 'add cases to cases.ts').toEqual([]);
  });
});
