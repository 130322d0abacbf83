import { writeFile } from 'node:fs/promises';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MCP } from '../support/agent.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { MAIN, runNotigraph } from '../support/process.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { healthyService } from '../support/service.ts';

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;

beforeAll(async () => {
  folder = await createTemporaryFolder();
  await writeFile(folder.path('notigraph.config.json'), JSON.stringify({ mcp: MCP }));
});
afterAll(() => folder[Symbol.asyncDispose]());

it('notigraph mcp serves the official client over stdio, with nothing but the protocol on stdout', async () => {
  await using upstream = await startScriptedUpstream(healthyService);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', '--upstream', upstream.url],
    cwd: folder.path(),
    env: { PATH: String(CHILD_ENV.PATH), NOTIGRAPH_MCP_KEY: 'key-of-an-agent' },
    stderr: 'pipe',
  });
  let log = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    log += String(chunk);
  });
  const client = new Client({ name: 'desktop', version: '1' });
  const errors: Error[] = [];
  client.onerror = (error) => errors.push(error); // A line on stdout that is no message.
  await client.connect(transport);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['Groups', 'Flow', 'AddFeed', 'DropGroup']);
  const { isError, structuredContent } = await client.callTool({ name: 'Groups', arguments: {} });
  expect([isError, structuredContent]).toMatchObject([undefined, { data: { notificationGroups: [{ id: 'g1' }, {}] } }]);
  expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual(['ApiKey key-of-an-agent']);
  expect(JSON.parse(log)).toMatchObject({ msg: 'operation', operation: 'Groups', status: 200 });
  await client.close();
  expect(errors).toEqual([]);
});

it('it exits with one message without a key', async () => {
  const args = ['mcp', '--upstream', 'http://127.0.0.1:9'];
  expect(await runNotigraph({ cwd: folder.path(), args })).toMatchObject({
    code: 2,
    stdout: '',
    stderr: 'There is no API key. Set NOTIGRAPH_MCP_KEY or --key-file.\n',
  });
});
