import { writeFile } from 'node:fs/promises';
import { type Logger, pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { createGateway } from '../../src/gateway.ts';
import { arrayOf, recordOf } from '../../src/lib/is-record.ts';
import { defineModule } from '../../src/modules/index.ts';
import events from '../../src/modules/shipped/events.ts';
import topics from '../../src/modules/shipped/topics.ts';
import { createJsonLogger, infoWriterOf } from '../../src/telemetry/json-logger.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { metricValues } from '../support/metrics-text.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { type ServiceResponse, startService } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('src/http/pipeline/pipeline.ts', 'createPipeline.handle');
guards('src/http/pipeline/client-errors.ts', 'createClientErrors.log');
guards('src/telemetry/json-logger.ts', 'toPino');
guards('src/modules/shipped/events.ts', 'failuresIn');
guards('src/telemetry/usage.ts', 'Usage.addResults');
guards('src/http/pipeline/respond.ts', 'createRespond');

/** Texts that could forge or break a line. */
const HOSTILE_TEXTS = [
  'line\r\nbreak',
  '"quoted" \\" and \\u0000',
  String.fromCharCode(...Array(33).keys()),
  '\u007f\u0085\u2028\u2029',
  'lone \ud800 and \udc00',
  '\ud83d\ude00 é',
  `${'long '.repeat(100)}\n"`,
  '","level":"error","x":"',
];

const linesOf = (log: Record<string, unknown>[]) => log.filter(({ msg }) => msg === 'operation');

it('one line per operation has its caller, name, result, duration and upstream calls', async () => {
  await using gateway = await startGateway({ service: 'sandbox' });
  await gateway.data(
    'query Both { notificationGroups { id } workflow(idOrIdentifier: "weekly-digest") { id } }',
    {},
    {
      headers: { 'x-request-id': 'request-1' },
    },
  );
  expect(linesOf(gateway.log)).toEqual([
    {
      level: 30,
      time: expect.any(Number),
      pid: expect.any(Number),
      hostname: expect.any(String),
      msg: 'operation',
      requestId: 'request-1',
      operation: 'Both',
      type: 'query',
      httpStatus: 200,
      ms: expect.any(Number),
      upstreamCalls: 2,
      clientKind: 'server',
      tenant: expect.stringMatching(/^[0-9a-f]{8}$/),
    },
  ]);
});

it('with logSample 0, only operations that fail or take a second have a line, and metrics count all', async () => {
  await using gateway = await startGateway({
    service: ({ headers }) =>
      headers.authorization === 'ApiKey bad' ? { status: 500, body: {} } : { body: { data: [] } },
    logSample: 0,
    maxRetries: 0,
  });
  const groups = (authorization: string) => gateway.send('{ notificationGroups { id } }', {}, { authorization });
  await groups('ApiKey good');
  await groups('ApiKey bad');
  const held = gateway.service.hold();
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const slow = groups('ApiKey slow');
  await held.arrived;
  vi.advanceTimersByTime(1_000);
  held.release();
  await slow;
  expect(linesOf(gateway.log)).toMatchObject([{ code: 'UPSTREAM_ERROR' }, { ms: expect.any(Number) }]);
  expect(linesOf(gateway.log)[1]?.ms).toBeGreaterThanOrEqual(1_000);
  const counts = metricValues(await gateway.metrics(), /^notigraph_operations_total/);
  expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(3);
});

it('logSample is the share of the operations that have a line', async () => {
  await using gateway = await startGateway({ service: () => ({ body: { data: [] } }), logSample: 0.5 });
  for (let i = 0; i < 100; i += 1) {
    await gateway.send('{ __typename }');
  }
  const { length } = linesOf(gateway.log); // Beyond these bounds once in 10^12 runs.
  expect(length).toBeGreaterThan(15);
  expect(length).toBeLessThan(85);
});

it('the line of an operation is the one that pino writes for the same fields', () => {
  const cyclic: Record<string, unknown> = { a: 1 };
  cyclic.self = cyclic;
  const values = [
    ...HOSTILE_TEXTS,
    undefined,
    null,
    true,
    0,
    -0.1,
    1e21,
    Number.NaN,
    [1, 'a\n'],
    { a: '"' },
    1n,
    cyclic,
  ];
  const lines: string[] = [];
  const logger = createJsonLogger('info', { write: (line: string) => lines.push(line) });
  const writeInfo = infoWriterOf(logger);
  for (const value of values) {
    const fields = { first: value, httpStatus: 200, last: value };
    logger.info(fields, 'operation');
    writeInfo(fields, 'operation');
  }
  const withoutTime = lines.map((line) =>
    line
      .replace(/^(\{"level":"info","time":)"[-\dT:.]+Z"/, '$1""')
      .replace(/\\ud[89a-f]../g, '\ufffd') // pino escapes lone surrogates only in long texts. Others become this when they are written.
      .toWellFormed(),
  );
  expect(lines).toHaveLength(2 * values.length);
  expect(withoutTime.filter((_, i) => i % 2 === 1)).toEqual(withoutTime.filter((_, i) => i % 2 === 0));
  for (const line of withoutTime) {
    expect(line).toMatch(/^\{"level":"info","time":"",[^\n]*\}\n$/);
    JSON.parse(line);
  }
});

it('a line has its time to the millisecond, also when the clock is set back', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const writeInfo = infoWriterOf(createJsonLogger('info', { write: (line: string) => lines.push(line) }));
  const times = [0, 7, 999, 1_000, 1_790_000_000_042, 1_790_000_000_999, 1_789_999_999_999, 253_402_300_800_000];
  for (const time of times) {
    vi.setSystemTime(time);
    writeInfo({}, 'operation');
  }
  expect(lines.map((line) => /"time":"([^"]+)"/.exec(line)?.[1])).toEqual(
    times.map((time) => new Date(time).toISOString()),
  );
});

it('operations are logged through the level, bindings and redaction of the logger', async () => {
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(line) };
  await using upstream = await startService(() => ({ body: { data: [] } }));
  const log = async (logger: Logger) => {
    await using gateway = await startGateway({ upstream: upstream.url }, { logger });
    await gateway.data('query Groups { notificationGroups { id } }');
    logger.level = 'warn';
    await gateway.data('query Groups { notificationGroups { id } }');
    return lines.splice(0).map((line) => JSON.parse(line));
  };
  const own = createJsonLogger('info', stream);
  expect(await log(own)).toMatchObject([{ level: 'info', msg: 'operation', operation: 'Groups' }]);
  own.level = 'info';
  expect(await log(own.child({ part: 'gateway' }))).toMatchObject([{ part: 'gateway', operation: 'Groups' }]);
  expect(await log(pino({ redact: ['operation'] }, stream))).toMatchObject([{ level: 30, operation: '[Redacted]' }]);
});

/** Lets episodes end when the test says so. */
function useEpisodes() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  return { end: () => void vi.advanceTimersByTime(5_000) };
}

const warningsOf = ({ log }: { log: Record<string, unknown>[] }) => log.filter(({ level }) => level === 40);

it('a fault of an endpoint is logged as one warning, and counted once, however many fields fail', async () => {
  const episodes = useEpisodes();
  await using gateway = await startGateway({ service: () => ({ status: 500, body: {} }) });
  const { codes } = await gateway.send(
    '{ workflows(idsOrIdentifiers: ["a", "b", "c", "d"]) { id } notificationGroups { id } }',
  );
  expect(codes).toHaveLength(5);
  const routes = ['/v1/notification-groups', '/v1/workflows/{workflowIdOrIdentifier}'];
  expect(warningsOf(gateway).map(({ route }) => route)).toEqual(expect.arrayContaining(routes));
  expect(warningsOf(gateway)).toHaveLength(2);
  episodes.end();
  expect(warningsOf(gateway).slice(2)).toMatchObject([{ requests: 1 }, { requests: 1 }]);
});

it.each<[failure: string, response: ServiceResponse, line: object]>([
  ['a body that is not JSON', { body: '{"data":' }, { code: 'UPSTREAM_BAD_RESPONSE', httpStatus: 200 }],
  ['500', { status: 500, body: {} }, { code: 'UPSTREAM_ERROR', httpStatus: 500 }],
])('%s is one warning per endpoint and episode, not one per operation or key', async (_, response, line) => {
  const episodes = useEpisodes();
  await using gateway = await startGateway({ service: () => response, maxRetries: 0 });
  for (let i = 0; i < 20; i += 1) {
    const headers = { 'x-request-id': `request-${i}` };
    await gateway.send('{ notificationGroups { id } }', {}, { authorization: `ApiKey key-${i}`, headers });
  }
  const both = { ...line, method: 'GET', route: '/v1/notification-groups' };
  expect(warningsOf(gateway)).toMatchObject([{ ...both, requestId: 'request-0', tenant: expect.any(String) }]);
  expect(linesOf(gateway.log)).toHaveLength(20);
  episodes.end();
  const ended = warningsOf(gateway).slice(1);
  expect(ended).toMatchObject([{ ...both, requests: 20, msg: /^The service no longer fails in this way/ }]);
  expect(ended[0]).not.toHaveProperty('tenant');
  await gateway.send('{ notificationGroups { id } }');
  expect(warningsOf(gateway)).toHaveLength(3);
});

it('the rejected key of each tenant is one warning', async () => {
  const signer = createSigner();
  const script = () => ({ status: 401, body: { statusCode: 401 } });
  await using gateway = await startGateway({ service: script, clients: clientsOf(signer, {}, { server: {} }) });
  for (const tenant of ['acme', 'acme', 'globex']) {
    await gateway.send('{ notificationGroups { id } }', {}, { authorization: await signer.bearer({ tenant }) });
  }
  await gateway.send('{ notificationGroups { id } }', {}, { authorization: 'ApiKey invented' });
  const line = { code: 'UNAUTHENTICATED', httpStatus: 401 };
  expect(warningsOf(gateway)).toMatchObject([
    { ...line, tenant: 'acme' },
    { ...line, tenant: 'globex' },
  ]);
});

it('the scope that a token lacks is the reason in the line, and the operation counts as rejected', async () => {
  const signer = createSigner();
  const clients = clientsOf(signer, { scopes: ['workflows:read'] });
  await using gateway = await startGateway({ service: () => {}, clients });
  const { status } = await gateway.send('{ notificationGroups { id } }', {}, { authorization: await signer.bearer() });
  expect(status).toBe(403);
  expect(linesOf(gateway.log)).toMatchObject([{ code: 'FORBIDDEN', reason: 'groups:read', httpStatus: 403 }]);
  expect(metricValues(await gateway.metrics(), /^notigraph_operations_total/)).toEqual({
    'notigraph_operations_total{type="none",code="FORBIDDEN"}': 1,
  });
});

it('mistakes of callers, and what has lines of its own, are no warnings of failures', async () => {
  const page = { status: 404, headers: { 'content-type': 'text/html' }, body: '<p>no' };
  const responses: ServiceResponse[] = [{ status: 400, body: { statusCode: 400, message: 'No' } }, page];
  await using gateway = await startGateway(
    { service: () => responses.shift() ?? { status: 503, body: {} }, maxRetries: 0 },
    {
      breakerMinimumCalls: 3,
    },
  );
  for (let i = 0; i < 8; i += 1) {
    await gateway.send('{ notificationGroups { id } }');
  }
  expect(warningsOf(gateway)).toMatchObject([
    { msg: /^Something else answers for the service/ },
    { code: 'UPSTREAM_UNAVAILABLE', httpStatus: 503 },
    { msg: /^The circuit breaker opened/ },
  ]);
});

it('failures that mutations return as data are in the line of the operation, and counted by field and kind', async () => {
  await using gateway = await startGateway({
    service: ({ path, body }) => {
      const { name, events: sent = [] } = recordOf(JSON.parse(body || '{}'));
      const toEvent = (status: unknown) =>
        status === 'null' ? null : { acknowledged: true, status, transactionId: `t-${status}` };
      switch (path) {
        case '/v1/events/trigger':
          return { status: 201, body: { data: toEvent(name) } };
        case '/v1/events/trigger/bulk':
          return { status: 201, body: { data: arrayOf(sent).map((each) => toEvent(recordOf(each).name)) } };
        case '/v1/topics/t/subscribers':
          return { body: { data: { succeeded: ['a'], failed: { notFound: ['b', 'c'] } } } };
        default:
          return name === ''
            ? { status: 400, body: { statusCode: 400, message: ['name should not be empty'] } }
            : { status: 409, body: { statusCode: 409, message: 'No' } };
      }
    },
    modules: [events, topics],
    logSample: 0,
  });
  const event = (workflow: string) => `{ workflow: "${workflow}", subscriberIds: ["a"] }`;
  const trigger = (workflow: string) => `triggerEvent(input: { event: ${event(workflow)} }) { __typename }`;
  for (const document of [
    `mutation { ${trigger('processed')} }`,
    'mutation { createFeed(input: { name: "" }) { __typename } }',
    `mutation { ${trigger('invalid_recipients')} other: ${trigger('trigger_not_active')} createFeed(input: { name: "a" }) { __typename } }`,
    `mutation { triggerEvents(input: { events: [${['processed', 'no_tenant_found', 'Canary', 'no_tenant_found', 'null'].map(event)}] }) { __typename } }`,
    'mutation { addSubscribersToTopic(input: { key: "t", subscriberIds: ["a", "b", "c"] }) { __typename } }',
    'mutation { createSubscribers(input: { subscribers: [{ subscriberId: "" }, { subscriberId: "a" }] }) { failed } }',
  ]) {
    await gateway.data(document);
  }
  const invalid = 'mutation { createSubscribers(input: { subscribers: [{ subscriberId: "" }] }) { failed } }';
  expect((await gateway.send(invalid, {}, { extensions: { explain: true } })).body).toMatchObject({
    extensions: { explain: expect.any(Object) },
  });
  expect(linesOf(gateway.log).map(({ code, results }) => code ?? results)).toEqual([
    ['createFeed: INVALID_INPUT'],
    ['triggerEvent: INVALID_RECIPIENTS', 'triggerEvent: TRIGGER_NOT_ACTIVE', 'createFeed: CONFLICT'],
    ['triggerEvents: NO_TENANT_FOUND', 'triggerEvents: OTHER'],
    ['addSubscribersToTopic: UNKNOWN_SUBSCRIBER'],
    ['createSubscribers: INVALID_INPUT', 'createSubscribers: CONFLICT'],
  ]);
  const counts = metricValues(await gateway.metrics(), /^notigraph_mutation_failures_total/);
  expect(
    Object.entries(counts).map(([line, count]) => [line.replace('notigraph_mutation_failures_total', ''), count]),
  ).toEqual([
    ['{field="createFeed",kind="INVALID_INPUT"}', 1],
    ['{field="triggerEvent",kind="INVALID_RECIPIENTS"}', 1],
    ['{field="triggerEvent",kind="TRIGGER_NOT_ACTIVE"}', 1],
    ['{field="createFeed",kind="CONFLICT"}', 1],
    ['{field="triggerEvents",kind="NO_TENANT_FOUND"}', 2],
    ['{field="triggerEvents",kind="OTHER"}', 2], // An unknown status, and no result at all.
    ['{field="addSubscribersToTopic",kind="UNKNOWN_SUBSCRIBER"}', 2],
    ['{field="createSubscribers",kind="INVALID_INPUT"}', 1],
    ['{field="createSubscribers",kind="CONFLICT"}', 1],
  ]);
});

it('tenants are logged under stable hashes instead of keys, equal across gateways that share a secret', async () => {
  const tenantsOf = async (logSecret: string | { file: string }) => {
    await using gateway = await startGateway({ service: () => {}, logSecret });
    for (const key of [SANDBOX_KEYS.development, SANDBOX_KEYS.production, SANDBOX_KEYS.development]) {
      await gateway.data('{ __typename }', {}, { authorization: `ApiKey ${key}` });
    }
    expect(JSON.stringify(gateway.log)).not.toMatch(/sandbox-(development|production)-key/);
    return linesOf(gateway.log).map(({ tenant }) => tenant);
  };
  const [first, second, again] = await tenantsOf('one secret for all');
  expect(first).toBe(again);
  expect(first).not.toBe(second);
  expect(await tenantsOf('one secret for all')).toEqual([first, second, again]);
  expect(await tenantsOf('another secret for all')).not.toContain(first);

  await using folder = await createTemporaryFolder();
  const file = folder.path('secret');
  await writeFile(file, 'one secret for all\n');
  expect(await tenantsOf({ file })).toEqual([first, second, again]);
});

it('keys, variables, bodies and ids are never logged', async () => {
  await using gateway = await startGateway({ service: 'sandbox' });
  const canary = 'canary-value-4711';
  await gateway.send('mutation ($n: String!) { createFeed(input: { name: $n }) { __typename } }', { n: canary });
  await gateway.send(`{ workflow(idOrIdentifier: "${canary}") { id } }`);
  await gateway.send(`{ notificationGroups { id } # ${canary}\n }`, {}, { authorization: `ApiKey ${canary}` });
  expect(linesOf(gateway.log)).toHaveLength(3);
  expect(JSON.stringify(gateway.log)).not.toContain(canary);
});

describe('a logger of the host that is not one of pino', () => {
  type Line = [level: string, fields: object, message: string | undefined];

  /** Logger whose methods need their object. */
  class HostLogs {
    readonly #lines: Line[] = [];
    readonly lines = () => this.#lines.map(([level, fields, message]) => [level, message, fields]);
    isLevelEnabled() {
      return true;
    }
    debug(fields: object, message?: string) {
      this.#lines.push(['debug', fields, message]);
    }
    info(fields: object, message?: string) {
      this.#lines.push(['info', fields, message]);
    }
    warn(fields: object, message?: string) {
      this.#lines.push(['warn', fields, message]);
    }
    error(fields: object, message?: string) {
      this.#lines.push(['error', fields, message]);
    }
  }

  /** Module whose field logs once with each method of pino. */
  const logging = defineModule('logging', ({ builder, declareCalls, requireScopes }) => {
    builder.queryField('logs', (t) =>
      t.boolean({
        nullable: true,
        description: 'Logs.',
        extensions: { ...declareCalls('0'), ...requireScopes('logs:read') },
        resolve(_root, _args, ctx) {
          for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const) {
            ctx.logger[level]({ level_of: level, err: new Error('a cause') }, `said with ${level}`);
          }
          ctx.logger.child({ part: 'child' }).warn('without fields');
          return true;
        },
      }),
    );
  });

  async function logTo(logger: HostLogs) {
    const upstream = await startService(() => ({ body: { data: [] } }));
    onTestFinished(() => upstream[Symbol.asyncDispose]());
    await using gateway = createGateway({ upstream: upstream.url, modules: [logging] }, { logger });
    await gateway.fetch(gateway.endpoint, {
      method: 'POST',
      headers: { authorization: 'ApiKey a', 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'query Both { notificationGroups { id } logs }' }),
    });
  }

  it('gets fields and message of each line from `info` on', async () => {
    const logger = new HostLogs();
    await logTo(logger);
    const of = (level: string) => ({ level_of: level, err: expect.objectContaining({ message: 'a cause' }) });
    expect(logger.lines()).toEqual([
      ['info', 'said with info', of('info')],
      ['warn', 'said with warn', of('warn')],
      ['error', 'said with error', of('error')],
      ['error', 'said with fatal', of('fatal')],
      ['warn', 'without fields', { part: 'child' }],
      ['info', 'operation', expect.objectContaining({ operation: 'Both', httpStatus: 200, upstreamCalls: 1 })],
    ]);
    expect(logger.lines().at(-1)?.[2]).not.toHaveProperty('calls'); // Only with the level `debug`.
  });

  it('can be `console`', async () => {
    const info = vi.spyOn(console, 'info').mockImplementation(() => {});
    onTestFinished(() => info.mockRestore());
    const upstream = await startService(() => ({ body: { data: [] } }));
    onTestFinished(() => upstream[Symbol.asyncDispose]());
    await using gateway = createGateway({ upstream: upstream.url }, { logger: console });
    await gateway.fetch(`${gateway.endpoint}?query={__typename}`, { headers: { 'x-requested-with': 'test' } });
    expect(info.mock.calls).toEqual([[expect.objectContaining({ type: 'query', httpStatus: 200 }), 'operation']]);
  });
});

it('a pino logger of the host gets lines of its own level', async () => {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  await using gateway = createGateway(
    { upstream: 'http://127.0.0.1:9' },
    { logger: logger.child({ part: 'gateway' }) },
  );
  await gateway.fetch(`${gateway.endpoint}?query={__typename}`, { headers: { 'x-requested-with': 'test' } });
  expect(lines).toMatchObject([{ level: 30, part: 'gateway', msg: 'operation', calls: [] }]);
});
