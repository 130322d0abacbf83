import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { ROOT } from '../support/docs.ts';
import { startGateway } from '../support/gateway.ts';
import { ofFile } from '../support/lifetime.ts';
import { listen } from '../support/listen.ts';

/** The conformance suite of the Model Context Protocol, which `npm --prefix test/tools ci` installs. */
const SUITE = join(ROOT, 'test/tools/node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** Tools with the names that the suite calls. */
const TOOLS = {
  test_simple_text: '{ __typename }',
  test_error_handling: '{ workflow(idOrIdentifier: "") { id } }',
};

const manifest = Object.fromEntries(Object.entries(TOOLS).map(([name, body]) => [name, `query ${name} ${body}`]));
const gateway = ofFile(await startGateway({ service: 'sandbox', mcp: { manifest } }));
const target = new URL(gateway.url);

/** The suite sends no credential, so a proxy adds one. */
const proxy = await listen(
  createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `ApiKey ${SANDBOX_KEYS.development}` };
    const { url: path, method } = incoming;
    incoming.pipe(
      request({ hostname: target.hostname, port: target.port, path, method, headers }, (response) => {
        outgoing.writeHead(response.statusCode ?? 500, response.headers);
        response.pipe(outgoing);
      }),
    );
  }),
);
afterAll(() => proxy.close());

it
  .runIf(existsSync(SUITE) || process.env.CI !== undefined)
  .each([
    'server-initialize',
    'ping',
    'tools-list',
    'tools-call-simple-text',
    'tools-call-error',
    'dns-rebinding-protection',
  ])('%s', async (scenario) => {
  const args = [SUITE, 'server', '--url', `${proxy.url}/mcp`, '--scenario', scenario];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(stdout + stderr).toMatch(/Passed: (\d+)\/\1, 0 failed, 0 warnings/);
});
