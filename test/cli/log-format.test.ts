import { spawnSync } from 'node:child_process';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { CHILD_ENV } from '../support/child-env.ts';
import { startNotigraph } from '../support/process.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';

const ROOT = new URL('../../src/', import.meta.url);

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';

/** Line of an operation in the readable format. */
const READABLE =
  /^\d\d:\d\d:\d\d\.\d{3}(?: \[\d+\])? {2}query Groups {2}200 {2}[\d.]+ ms, 1 call {2}server [\da-f]{8}$/m;

let cwd: string;

beforeEach(async () => {
  const folder = await createTemporaryFolder();
  cwd = folder.path();
  onTestFinished(() => folder[Symbol.asyncDispose]());
});

/** Starts a gateway whose output is no terminal, sends an operation, and returns the gateway. */
async function logOperation(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const notigraph = await startNotigraph({ cwd, args: ['--sandbox', ':memory:', ...args], env });
  onTestFinished(() => notigraph[Symbol.asyncDispose]());
  await fetch(notigraph.url, {
    method: 'POST',
    headers: {
      authorization: 'ApiKey sandbox-development-key',
      'content-type': 'application/json',
      traceparent: `00-${TRACE_ID}-${SPAN_ID}-01`,
    },
    body: JSON.stringify({ query: 'query Groups { notificationGroups { id } }' }),
  });
  return notigraph;
}

it.each(['auto', 'json'])('lines have the fields that log stores look for, with logFormat %s', async (format) => {
  const notigraph = await logOperation(['--log-format', format, '--log-level', 'debug']);
  const [line] = await notigraph.printed('stdout', /^\{.*"msg":"operation"\}$/m);
  expect(JSON.parse(line)).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    pid: notigraph.pid,
    hostname: expect.any(String),
    requestId: expect.any(String),
    trace_id: TRACE_ID,
    span_id: SPAN_ID,
    operation: 'Groups',
    type: 'query',
    httpStatus: 200,
    ms: expect.any(Number),
    upstreamCalls: 1,
    clientKind: 'server',
    tenant: expect.any(String),
    calls: [{ method: 'GET', route: '/v1/notification-groups', attempt: 1, httpStatus: 200, ms: expect.any(Number) }],
    msg: 'operation',
  });
});

describe('the setting logFormat', () => {
  it.each([
    [['--log-format', 'text'], {}],
    [['--workers', '2'], { NOTIGRAPH_LOG_FORMAT: 'text', NODE_ENV: 'production' }],
  ] as const)('prints readable lines although the output is no terminal (%s)', async (args, env) => {
    const notigraph = await logOperation(args, env);
    await notigraph.printed('stdout', READABLE);
    const { stdout } = await notigraph.stop('SIGTERM');
    expect(stdout).not.toContain('"msg"');
  });
});

it('the default logger of createGateway has the same format', () => {
  const program = `
    const { createGateway } = await import('${new URL('gateway.ts', ROOT).href}');
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
