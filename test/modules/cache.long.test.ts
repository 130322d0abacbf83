import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createGateway, createGatewayState, type Gateway } from '../../src/gateway.ts';
import { defineModule, type GatewayModule } from '../../src/modules/index.ts';
import { fetchFrom } from '../support/cached-gateway.ts';
import { startGateway } from '../support/gateway.ts';
import { workflow } from '../support/records.ts';
import { startService } from '../support/service.ts';
import { STORES, startTestCache } from '../support/test-cache.ts';

// What the cache makes of the endpoints of modules: which reads are the same one, and which of them a write empties.

const windows = { freshSeconds: 60, staleWhileRevalidateSeconds: 0, staleIfErrorSeconds: 600 };

/** Returns those of the arguments that an endpoint has. */
const argsOf = ({ params }: { params: readonly string[] }, args: Readonly<Record<string, string | null | undefined>>) =>
  Object.fromEntries(params.map((name) => [name, args[name]]));

type Reads = Readonly<Record<string, readonly [route: `/${string}`, expect: 'value' | 'page']>>;

/** Returns a module with a field for each cached read, which returns the decoded response as JSON. */
const readsOf = (reads: Reads, name = 'things'): GatewayModule =>
  defineModule(name, ({ builder, declareCalls, endpoint, requireScopes }) => {
    for (const [field, [route, expected]] of Object.entries(reads)) {
      const read = endpoint(`GET ${route}`, { expect: expected, cached: { resource: name, windows } });
      builder.queryField(field, (t) =>
        t.string({
          nullable: true,
          extensions: { ...requireScopes('things:read'), ...declareCalls('1') },
          args: { id: t.arg.string({ defaultValue: '' }) },
          resolve: async (_root, { id }, ctx) => JSON.stringify(await ctx.upstream.read(read, argsOf(read, { id }))),
        }),
      );
    }
  });

/** Returns a module with a field for each write, which has these `empties`. */
const writesOf = (
  writes: Readonly<Record<string, readonly [`POST /${string}` | `PUT /${string}` | `DELETE /${string}`, string[]?]>>,
  name = 'writes',
): GatewayModule =>
  defineModule(name, ({ builder, declareCalls, endpoint, requireScopes }) => {
    for (const [field, [template, empties]] of Object.entries(writes)) {
      const write = endpoint(template, { expect: 'value', ...(empties && { empties }) });
      builder.mutationField(field, (t) =>
        t.boolean({
          nullable: true,
          extensions: { ...requireScopes('things:write'), ...declareCalls('1') },
          resolve: async (_root, _args, ctx) =>
            (await ctx.upstream.write(write, argsOf(write, { id: 'a', part: 'b' }))).body !== 0,
        }),
      );
    }
  });

const PAGE = { data: [{ _id: 't1' }], page: 0, pageSize: 10, totalCount: 1 };

const THINGS = readsOf({ thing: ['/v1/things/{id}', 'value'], latestThings: ['/v1/things/latest', 'page'] });
const LATEST = 'GET /v1/things/latest';
const BOTH = { thing: JSON.stringify(PAGE.data), latestThings: JSON.stringify(PAGE) };
const READS = ['{ thing(id: "latest") }', '{ latestThings }'] as const;

describe('reads of two endpoints with the same path', () => {
  it('in flight are two calls', async () => {
    await using gateway = await startGateway({ service: () => ({ body: PAGE }), modules: [THINGS] });
    expect(await gateway.run('{ thing(id: "latest") latestThings again: latestThings }')).toEqual({
      ...BOTH,
      again: BOTH.latestThings,
    });
    expect(gateway.service.calls()).toEqual([LATEST, LATEST]);
  });

  it.each(STORES)('are stored apart in %s, and refreshed and confirmed apart', async (store) => {
    await using cache = await startTestCache(store);
    let confirmed = 0;
    await using gateway = await startGateway(
      {
        service: ({ headers }) => {
          confirmed += headers['if-none-match'] === undefined ? 0 : 1;
          return headers['if-none-match'] === undefined ? { headers: { etag: '"1"' }, body: PAGE } : { status: 304 };
        },
        modules: [THINGS],
        cache: cache.settings,
      },
      cache.deps,
    );
    for (let i = 0; i < 3; i += 1) {
      expect([await gateway.run(READS[0]), await gateway.run(READS[1])]).toEqual([
        { thing: BOTH.thing },
        { latestThings: BOTH.latestThings },
      ]);
    }
    const before = gateway.service.calls().length;
    expect(new Set(gateway.service.calls())).toEqual(new Set([LATEST]));
    await gateway.run(READS[0]);
    expect(gateway.service.calls()).toHaveLength(before);
    await cache.pass(61);
    expect(await gateway.run('{ thing(id: "latest") latestThings }')).toEqual(BOTH);
    expect(confirmed).toBe(2);
  });

  it('are two calls of an explained operation, each with the state of its own stored response', async () => {
    await using gateway = await startGateway({ service: () => ({ body: PAGE }), modules: [THINGS], cache: true });
    await gateway.run(READS[0]);
    const { body } = await gateway.send(
      '{ thing(id: "latest") latestThings again: latestThings }',
      {},
      {
        authorization: 'ApiKey a',
        extensions: { explain: true },
      },
    );
    const calls = [
      { route: '/v1/things/{id}', fields: ['Query.thing'], max: 1, cache: { state: 'fresh' } },
      { route: '/v1/things/latest', fields: ['Query.latestThings'], max: 2, cache: { state: 'absent' } },
    ];
    expect(body.extensions?.explain).toMatchObject({ calls });
  });

  it.each(STORES)('are stored apart in %s if a reload changes how responses are decoded', async (store) => {
    await using cache = await startTestCache(store);
    const logger = pino({ level: 'silent' });
    const state = createGatewayState(logger, undefined, 20_000);
    await using service = await startService(() => ({ body: PAGE }));
    const start = (expected: 'value' | 'page') => {
      const modules = [readsOf({ things: ['/v1/things', expected] })];
      return createGateway({ upstream: service.url, modules, cache: cache.settings }, { logger }, state);
    };
    await using before = start('value');
    await using after = start('page');
    await using same = start('page');
    const read = async (gateway: Gateway) => JSON.parse((await fetchFrom(gateway, '{ things }')).data.things);
    for (let i = 0; i < 3; i += 1) {
      expect([await read(before), await read(after)]).toEqual([PAGE.data, PAGE]);
    }
    const { length } = service.calls();
    expect([await read(before), await read(same)]).toEqual([PAGE.data, PAGE]);
    expect(service.calls()).toHaveLength(length);
  });
});

describe('a write of a module', () => {
  /** Starts a gateway, and returns a function that tells which of the reads a mutation empties. */
  async function start(modules: readonly GatewayModule[], reads: readonly string[]) {
    const gateway = await startGateway({
      service: ({ path }) => ({ body: { data: path.includes('graph') ? [] : workflow() } }),
      modules: [...modules],
      cache: true,
    });
    return {
      async emptiedBy(mutation: string): Promise<string[]> {
        for (const read of reads) {
          await gateway.run(`{ ${read} }`);
        }
        expect(await gateway.run(`mutation { result: ${mutation} }`)).toEqual({ result: expect.anything() });
        const emptied: string[] = [];
        for (const read of reads) {
          gateway.service.forget();
          await gateway.run(`{ ${read} }`);
          emptied.push(...(gateway.service.calls().length > 0 ? [read] : []));
        }
        return emptied;
      },
      [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
    };
  }

  const WORKFLOW = 'workflow(idOrIdentifier: "w1") { name }';
  const STATS = 'notificationStats { count }';

  it('empties the built-in reads at, above or below its path, unless it declares which', async () => {
    const writes = writesOf({
      replace: ['PUT /v1/workflows/{id}'],
      create: ['POST /v1/workflows'],
      createJson: ['POST /v1/workflows.json'],
      removePart: ['DELETE /v1/workflows/{id}/parts/{part}'],
      preview: ['POST /v1/workflows/{id}/preview', []],
      count: ['POST /v1/workflows/{id}/count', ['statistics']],
      other: ['POST /v1/workflow-drafts'],
      reset: ['DELETE /v1/notifications/{id}/stats'],
      ofVersion: ['POST /v1/workflows;v=1'],
      several: ['POST /v1/subscribers,workflows'],
      otherVersion: ['POST /v1.1/workflows'],
    });
    await using cached = await start([writes], [WORKFLOW, STATS]);
    const emptied = async (...mutations: string[]) => {
      const results: Record<string, string[]> = {};
      for (const mutation of mutations) {
        results[mutation] = await cached.emptiedBy(mutation);
      }
      return results;
    };
    expect(
      await emptied(
        ...['replace', 'create', 'createJson', 'removePart', 'preview', 'count', 'other', 'reset'],
        ...['ofVersion', 'several', 'otherVersion'],
      ),
    ).toEqual({
      replace: [WORKFLOW],
      create: [WORKFLOW],
      createJson: [WORKFLOW],
      removePart: [WORKFLOW],
      preview: [],
      count: [STATS],
      other: [],
      reset: [STATS],
      ofVersion: [WORKFLOW],
      several: [WORKFLOW],
      otherVersion: [],
    });
  });

  it('empties reads of other modules with related paths too, which its author may not know, as built-in writes do', async () => {
    const feeds = readsOf({ feed: ['/v1/feeds/{id}', 'value'] }, 'feedReads');
    const messages = readsOf({ transactionMessages: ['/v1/messages/transaction/{id}', 'value'] }, 'messageReads');
    const writes = writesOf({ rename: ['PUT /v1/feeds/{id}', []], preview: ['POST /v1/feeds/{id}/preview', []] });
    const FEED = 'feed(id: "f1")';
    const MESSAGES = 'transactionMessages(id: "t1")';
    await using cached = await start([feeds, messages, writes], [FEED, MESSAGES, STATS]);
    expect(await cached.emptiedBy('rename')).toEqual([FEED]);
    expect(await cached.emptiedBy('deleteFeed(input: { id: "f1" }) { __typename }')).toEqual([FEED]);
    expect(
      await cached.emptiedBy('deleteMessagesByTransaction(input: { transactionId: "t1" }) { __typename }'),
    ).toEqual([MESSAGES, STATS]);
  });

  it('declares what it empties of the reads of its own module', async () => {
    const both = defineModule('both', (toolkit) => {
      readsOf({ thing: ['/v1/things/{id}', 'value'] }).define(toolkit);
      writesOf({ change: ['PUT /v1/things/{id}'], preview: ['POST /v1/things/{id}/preview', []] }).define(toolkit);
    });
    await using cached = await start([both], ['thing(id: "t1")']);
    expect(await cached.emptiedBy('change')).toEqual(['thing(id: "t1")']);
    expect(await cached.emptiedBy('preview')).toEqual([]);
  });
});
