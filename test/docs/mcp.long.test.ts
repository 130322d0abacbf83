import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { connectAgent } from '../support/agent.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { blocks, load, ROOT, read } from '../support/docs.ts';
import { startGateway } from '../support/gateway.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';

const PAGE = read('docs/mcp.md');

it('the tools of docs/mcp.md are valid, and a call returns what it shows', async () => {
  const [manifest = '', , , result = ''] = blocks(PAGE, 'json');
  const [, settings = ''] = blocks(PAGE, 'yaml');
  expect(load(settings).mcp?.manifest).toBe(resolve('tools.json'));
  const mcp = { ...parse(settings).mcp, manifest: JSON.parse(manifest) };
  await using gateway = await startGateway({ service: 'sandbox', mcp });
  await using agent = await connectAgent(gateway, `ApiKey ${SANDBOX_KEYS.development}`);
  expect(await agent.names()).toEqual(['Groups', 'AddFeed']);
  const call = await agent.client.callTool({ name: 'Groups', arguments: {} });
  expect(call).toEqual(JSON.parse(result));
});

it('the configuration of a desktop client in docs/mcp.md works with a clone, in any folder', async () => {
  const [, desktop = ''] = blocks(PAGE, 'json');
  const { command, args } = JSON.parse(desktop.replaceAll('/home/ada/notigraph/', ROOT)).mcpServers.notifications;
  await using folder = await createTemporaryFolder();
  const env = { PATH: String(CHILD_ENV.PATH) };
  const client = new Client({ name: 'desktop', version: '1' });
  await client.connect(new StdioClientTransport({ command, args, cwd: folder.path(), env, stderr: 'ignore' }));
  const { structuredContent } = await client.callTool({ name: 'NotificationGroups', arguments: {} });
  expect(structuredContent).toHaveProperty('data.notificationGroups');
  await client.close();
});

it('the command of docs/mcp.md makes a manifest of files, with their comments', async () => {
  const command = blocks(PAGE, 'sh').find((block) => block.includes('tools/*.graphql')) ?? '';
  await using folder = await createTemporaryFolder();
  await mkdir(folder.path('tools'));
  await writeFile(folder.path('tools/groups.graphql'), '# Lists them.\nquery Groups { notificationGroups { id } }\n');
  await writeFile(folder.path('tools/stats.graphql'), '# Counts them.\nquery Stats { __typename }\n');
  await promisify(execFile)('sh', ['-c', command], { cwd: folder.path(), env: CHILD_ENV });
  await using gateway = await startGateway({ service: 'sandbox', mcp: { manifest: folder.path('tools.json') } });
  await using agent = await connectAgent(gateway, `ApiKey ${SANDBOX_KEYS.development}`);
  const { tools } = await agent.client.listTools();
  expect(tools).toMatchObject([
    { name: 'Groups', description: 'Lists them.' },
    { name: 'Stats', description: 'Counts them.' },
  ]);
});
