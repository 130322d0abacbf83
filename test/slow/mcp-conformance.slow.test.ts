import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { ROOT } from '../support/docs.ts';
import { type SandboxedGateway, startSandboxedGateway } from '../support/gateway.ts';
import { listen } from '../support/listen.ts';

/** The conformance suite of the Model Context Protocol, which `npm --prefix test/tools ci` installs. */
const SUITE = join(ROOT, 'test/tools/node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** Tools with the names that the suite calls. */
const TOOLS = {
  test_simple_text: '{ __typename }',
  test_error_handling: '{ workflow(idOrIdentifier: "") { id } }',
};

let gateway: SandboxedGateway;
let proxy: Awaited<ReturnType<typeof listen>>;

/** The suite sends no credential, so a proxy adds one. */
beforeAll(async () => {
  const manifest = Object.fromEntries(Object.entries(TOOLS).map(([name, body]) => [name, `query ${name} ${body}`]));
  gateway = await startSandboxedGateway({ options: { mcp: { manifest } } });
  const target = new URL(gateway.url);
  proxy = await listen(
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
});

afterAll(async () => {
  await proxy.close();
  await gateway[Symbol.asyncDispose]();
});

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
