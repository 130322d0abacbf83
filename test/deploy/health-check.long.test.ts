import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { environmentOfImage } from '../support/deploy.ts';
import { ROOT } from '../support/docs.ts';

/** Runs the health check of the image, and returns its exit code. */
async function checkHealth(env: Record<string, string>): Promise<unknown> {
  const child = execFile(process.execPath, [join(ROOT, 'deploy/healthcheck.js')], { env });
  const [code] = await once(child, 'exit');
  return code;
}

it('the image listens on every IPv6 and IPv4 address', () => {
  expect(environmentOfImage()).toMatchObject({ NOTIGRAPH_HOST: '::', NOTIGRAPH_ADMIN_HOST: '::' });
});

it.each([
  ['::', '::1', 0],
  ['::1', '::1', 0],
  ['0.0.0.0', '127.0.0.1', 0],
  ['127.0.0.1', '127.0.0.1', 0],
  [undefined, '127.0.0.1', 0],
  ['::', '127.0.0.1', 1],
  ['0.0.0.0', '::1', 1],
])('with the host %s, the health check asks %s', async (host, address, code) => {
  const asked: string[] = [];
  const server = createServer(({ url, headers }, response) => {
    asked.push(`${headers.host}${url}`);
    response.end();
  });
  await once(server.listen(0, address), 'listening');
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? String(bound.port) : '';
  try {
    const admin = { NOTIGRAPH_ADMIN_PORT: port, NOTIGRAPH_PORT: '1', NOTIGRAPH_HOST: '192.0.2.1' };
    expect(await checkHealth({ ...admin, ...(host !== undefined && { NOTIGRAPH_ADMIN_HOST: host }) })).toBe(code);
    const only = { NOTIGRAPH_PORT: port, NOTIGRAPH_ADMIN_HOST: '192.0.2.1' };
    expect(await checkHealth({ ...only, ...(host !== undefined && { NOTIGRAPH_HOST: host }) })).toBe(code);
    const expected = `${address.includes(':') ? `[${address}]` : address}:${port}/livez`;
    expect(asked).toEqual(code === 0 ? [expected, expected] : []);
  } finally {
    server.close();
  }
});
