import { spawnSync } from 'node:child_process';
import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { CHILD_ENV } from '../../../test/support/child-env.ts';
import { startGateway } from '../../../test/support/gateway.ts';
import { startNotigraph } from '../../../test/support/process.ts';
import { sendOperation } from '../../../test/support/send-operation.ts';
import { startService } from '../../../test/support/service.ts';
import { createLogger } from '../src/logger.ts';

/** Creates a logger for a terminal without colors, and the lines it has printed. */
function createTerminal(
  logLevel: 'info' | 'debug' | 'error',
  { workers = 1, isProduction = false, logFormat = 'auto' as 'auto' | 'json' | 'text' } = {},
) {
  const printed: string[] = [];
  const stdout = Object.assign(new Writable({ write: (chunk, _, done) => done(void printed.push(String(chunk))) }), {
    isTTY: true,
  });
  const logger = createLogger(
    { isProduction, workers, logLevel, logFormat, logErrorTexts: true },
    process,
    stdout as never,
  );
  return {
    logger,
    lines: () =>
      stripVTControlCharacters(printed.join(''))
        .replace(/\d\d:\d\d:\d\d\.\d{3}/g, 'TIME')
        .replace(/\d+(?:\.\d+)? ms/g, 'N ms')
        .replace(/server [0-9a-f]{8}/g, 'server TENANT'),
  };
}

it('a terminal shows one line per operation, with its REST calls beneath at the level debug', async () => {
  let failures = 1;
  await using upstream = await startService(({ path }) => {
    if (path.startsWith('/v1/notification-groups') && failures > 0) {
      failures -= 1;
      return { status: 503, body: {} };
    }
    return path.includes('/workflows/') ? { status: 404, body: { statusCode: 404 } } : { body: { data: [] } };
  });
  const terminal = createTerminal('debug');
  await using gateway = await startGateway({ upstream: upstream.url }, { logger: terminal.logger });
  const headers = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };
  await gateway.send('query Groups { notificationGroups { id } }', {}, { authorization: 'ApiKey canary', headers });
  await gateway.send('{ workflow(idOrIdentifier: "canary") { id } }');
  await gateway.send('{ nope }');
  terminal.logger.warn({ reason: 'ECONNREFUSED' }, 'Redis is unavailable.');
  terminal.logger.error({ err: new Error('broken') }, 'unexpected error');
  const output = terminal.lines();
  expect(output).not.toContain('canary');
  expect(output.split('\n    at ')[0]).toMatchInlineSnapshot(`
    "TIME  query Groups  200  N ms, 2 calls  server TENANT
        trace 4bf92f3577b34da6a3ce929d0e0e4736
        GET /v1/notification-groups  503 UPSTREAM_UNAVAILABLE  N ms
        GET /v1/notification-groups  200  N ms  attempt 2
    TIME  query anonymous  200  N ms, 1 call  server TENANT
        GET /v1/workflows/{workflowIdOrIdentifier}  404 NOT_FOUND  N ms
    TIME  request  400 GRAPHQL_VALIDATION_FAILED  N ms, 0 calls  server TENANT
    TIME WARN Redis is unavailable. reason="ECONNREFUSED"
    TIME ERROR unexpected error
    Error: broken"
  `);
});

it('a terminal gets no characters that change what people read, from whatever text they come', async () => {
  const odd = 'a\u202eb\u2066c\u009b2Jd\u001b[2Je\rf\u200fg';
  await using upstream = await startService(() => ({ status: 500, headers: { 'x-id': 'a' }, body: { message: odd } }));
  const terminal = createTerminal('debug');
  await using gateway = await startGateway(
    {
      upstream: upstream.url,
      plugins: [
        {
          onExecute() {
            throw new Error(odd);
          },
        },
      ],
    },
    { logger: terminal.logger },
  );
  await gateway.send('{ __typename }');
  terminal.logger.warn({ reason: odd, [odd]: odd }, odd);
  const output = terminal.lines();
  expect(output.match(/a\?b\?c/g)?.length).toBeGreaterThan(4);
  expect(output.replaceAll('\n', '')).not.toMatch(/\p{C}/u);
});

it('a call that another operation shares is named as shared', async () => {
  await using upstream = await startService(() => ({ body: { data: [] } }));
  const held = upstream.hold(undefined, Infinity);
  const { logger, lines } = createTerminal('debug');
  await using gateway = await startGateway({ upstream: upstream.url }, { logger });
  const answers = [gateway.send('query First { notificationGroups { id } }')];
  await held.arrived;
  answers.push(gateway.send('query Second { notificationGroups { id } }'));
  await expect.poll(() => gateway.running()).toBe(2);
  held.release();
  await Promise.all(answers);
  expect(upstream.requests).toHaveLength(1);
  expect(lines()).toContain(
    'query Second  200  N ms, 0 calls  server TENANT\n    GET /v1/notification-groups  200  N ms  shared\n',
  );
});

it('a read from the cache is counted, with its age if the service failed', async () => {
  let time = 0;
  let status = 200;
  await using upstream = await startService(() => ({ status, body: { data: [] } }));
  const { logger, lines } = createTerminal('debug');
  await using gateway = await startGateway(
    { upstream: upstream.url, cache: true },
    { logger, monotonicNow: () => time },
  );
  const read = () => gateway.send('query Groups { notificationGroups { id } }');
  await read();
  time = 90_000;
  status = 503;
  await read();
  expect(lines()).toContain(
    'query Groups  200  N ms, 1 call, 1 cached, up to 90 s old  server TENANT\n' +
      '    GET /v1/notification-groups  503 UPSTREAM_UNAVAILABLE  N ms\n' +
      '    GET /v1/notification-groups  cached N ms ago\n',
  );
});

it('the level decides what is logged, and only debug records REST calls', async () => {
  await using upstream = await startService(() => ({ body: { data: [] } }));
  for (const [level, expected] of [
    ['info', /^TIME \[\d+\] {2}query Groups {2}200 {2}N ms, 1 call {2}server TENANT\n$/],
    ['error', /^$/],
  ] as const) {
    const { logger, lines } = createTerminal(level, { workers: 2 });
    await using gateway = await startGateway({ upstream: upstream.url }, { logger });
    await gateway.send('query Groups { notificationGroups { id } }');
    expect(lines()).toMatch(expected);
  }
});

it.each([{ logFormat: 'json' }, { isProduction: true }] as const)('a terminal gets JSON with %o', (options) => {
  const { logger, lines } = createTerminal('info', options);
  logger.warn({ reason: 'ECONNREFUSED' }, 'Redis is unavailable.');
  expect(lines()).toMatch(/^\{"level":"warn","time":"[^"]+Z",.+\}\n$/);
});

it('the setting logFormat prints readable lines although the output is no terminal, also from workers', async () => {
  await using notigraph = await startNotigraph({
    args: ['--sandbox', ':memory:', '--workers', '2'],
    env: { NOTIGRAPH_LOG_FORMAT: 'text', NODE_ENV: 'production' },
  });
  await sendOperation(notigraph.url, 'query Groups { notificationGroups { id } }');
  await notigraph.printed(
    'stdout',
    /^\d\d:\d\d:\d\d\.\d{3} \[\d+\] {2}query Groups {2}200 {2}[\d.]+ ms, 1 call {2}server [\da-f]{8}$/m,
  );
  const { stdout } = await notigraph.stop('SIGTERM');
  expect(stdout).not.toContain('"msg"');
});

it('the default logger of createGateway has the same format', () => {
  const program = `
    const { createGateway } = await import('${new URL('../../../src/gateway.ts', import.meta.url).href}');
    await using gateway = createGateway({ upstream: 'http://127.0.0.1:1', maxRetries: 0 });
    await gateway.fetch(new Request('http://localhost/graphql', {
      method: 'POST',
      headers: { authorization: 'ApiKey key', 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ notificationGroups { id } }' }),
    }));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    env: CHILD_ENV,
  });
  expect(JSON.parse(stdout)).toMatchObject({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-.+Z$/),
    code: 'UPSTREAM_UNAVAILABLE',
  });
});
