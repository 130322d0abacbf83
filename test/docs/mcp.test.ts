import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { SANDBOX_KEYS } from '../../src/sandbox/sandbox.ts';
import { connectAgent } from '../support/agent.ts';
import { blocks, load, read } from '../support/docs.ts';
import { startSandboxedGateway } from '../support/gateway.ts';

const PAGE = read('docs/mcp.md');

it('the tools of docs/mcp.md are valid, and a call returns what it shows', async () => {
  const [manifest = '', desktop = '', result = ''] = blocks(PAGE, 'json');
  const [settings = ''] = blocks(PAGE, 'yaml');
  expect(load(settings).mcp?.manifest).toBe(resolve('tools.json'));
  const mcp = { ...parse(settings).mcp, manifest: JSON.parse(manifest) };
  await using gateway = await startSandboxedGateway({ options: { mcp } });
  await using agent = await connectAgent(gateway, `ApiKey ${SANDBOX_KEYS.development}`);
  expect(await agent.names()).toEqual(['Groups', 'AddFeed']);
  const call = await agent.client.callTool({ name: 'Groups', arguments: {} });
  expect(call).toEqual(JSON.parse(result));
  expect(JSON.parse(desktop).mcpServers.notifications.args.slice(0, 2)).toEqual(['notigraph', 'mcp']);
});
