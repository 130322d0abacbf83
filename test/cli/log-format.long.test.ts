import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { CHILD_ENV } from '../support/child-env.ts';
import { startNotigraph } from '../support/process.ts';
import { sendOperation } from '../support/send-operation.ts';

const ROOT = new URL('../../src/', import.meta.url);

/** Line of an operation in the readable format. */
const READABLE = /^\d\d:\d\d:\d\d\.\d{3} \[\d+\] {2}query Groups {2}200 {2}[\d.]+ ms, 1 call {2}server [\da-f]{8}$/m;

it('the setting logFormat prints readable lines although the output is no terminal, also from workers', async () => {
  await using notigraph = await startNotigraph({
    args: ['--sandbox', ':memory:', '--workers', '2'],
    env: { NOTIGRAPH_LOG_FORMAT: 'text', NODE_ENV: 'production' },
  });
  await sendOperation(notigraph.url, 'query Groups { notificationGroups { id } }');
  await notigraph.printed('stdout', READABLE);
  const { stdout } = await notigraph.stop('SIGTERM');
  expect(stdout).not.toContain('"msg"');
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
