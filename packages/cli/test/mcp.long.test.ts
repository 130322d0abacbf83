import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EMPTY_LISTS, MCP } from '../../../test/support/agent.ts';
import { CHILD_ENV } from '../../../test/support/child-env.ts';
import { runCommand } from '../../../test/support/command.ts';
import { guards } from '../../../test/support/guards.ts';
import { healthyService } from '../../../test/support/healthy-service.ts';
import { MAIN } from '../../../test/support/process.ts';
import { createTemporaryFolder } from '../../../test/support/sandbox-files.ts';
import { type Script, startService } from '../../../test/support/service.ts';

guards('src/mcp/mcp.ts', 'serveStreams.readInput');
guards('src/http/message.ts', 'RunningRequests.track');
guards('src/mcp/protocol/tool-server.ts', 'toRequest.body');

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;

beforeAll(async () => {
  folder = await createTemporaryFolder();
  await writeFile(folder.path('notigraph.config.yaml'), JSON.stringify({ mcp: MCP }));
});
afterAll(() => folder[Symbol.asyncDispose]());

it('notigraph mcp serves the official client over stdio, with nothing but the protocol on stdout', async () => {
  await using upstream = await startService(healthyService);
  const logging = `console.log('imported');
import { defineModule } from 'notigraph/modules';
export default defineModule('logging', ({ builder, declareCalls, requireScopes }) => {
  builder.queryField('log', (t) =>
    t.string({
      extensions: { ...declareCalls('0'), ...requireScopes('groups:read') },
      resolve() {
        console.log('resolved');
        process.stdout.write('written\\n');
        return 'logged';
      },
    }),
  );
});`;
  await writeFile(folder.path('logging.mjs'), logging);
  const mcp = { ...MCP, manifest: { ...MCP.manifest, Log: 'query Log { log }' } };
  await writeFile(folder.path('logging.json'), JSON.stringify({ mcp, modules: ['./logging.mjs'] }));
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', '--upstream', upstream.url, '--config', 'logging.json'],
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
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
    'Groups',
    'Flow',
    'AddFeed',
    'DropGroup',
    'Log',
  ]);
  const { isError, structuredContent } = await client.callTool({ name: 'Groups', arguments: {} });
  expect([isError, structuredContent]).toMatchObject([undefined, { data: { notificationGroups: [{ id: 'g1' }, {}] } }]);
  expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual(['ApiKey key-of-an-agent']);
  const { structuredContent: logged } = await client.callTool({ name: 'Log', arguments: {} });
  expect(logged).toEqual({ data: { log: 'logged' } });
  for (const [method, member] of EMPTY_LISTS) {
    expect(await client.request({ method })).toMatchObject({ [member]: [] }); // R49
  }
  await expect.poll(() => log).toContain('"operation":"Log"');
  const [imported, operation, ...lines] = log.split('\n');
  expect(imported).toBe('imported');
  expect(JSON.parse(operation ?? '')).toMatchObject({ msg: 'operation', operation: 'Groups', httpStatus: 200 });
  expect(lines).toEqual(expect.arrayContaining(['resolved', 'written']));
  await client.close();
  expect(errors).toEqual([]);
});

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'script', version: '1' } },
};
const callOf = (name: string, id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } });
const CHILD = { PATH: String(CHILD_ENV.PATH), NOTIGRAPH_MCP_KEY: 'key-of-an-agent' };

/** Starts the command, writes lines to it and closes its input. Returns what it prints. */
async function pipe(lines: readonly (string | object)[], args: readonly string[]) {
  const child = spawn(process.execPath, [MAIN, 'mcp', ...args], { cwd: folder.path(), env: CHILD });
  const killTimer = setTimeout(() => child.kill('SIGKILL'), 50_000);
  child.stdin.on('error', () => {}); // It may stop reading.
  child.stdin.end(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  clearTimeout(killTimer);
  const toLines = (output: string): unknown[] => output.split('\n').flatMap((line) => (line ? JSON.parse(line) : []));
  return { code, messages: toLines(stdout), log: toLines(stderr) };
}

/** Takes longer than the command needs to end. */
const slowService: Script = async (request, connection) => {
  await sleep(300);
  return healthyService(request, connection);
};

it('it answers the calls of a script that has closed its standard input, from the service that --name selects', async () => {
  await using eu = await startService(slowService);
  await using us = await startService(healthyService);
  const upstreams = { eu: { url: eu.url }, us: { url: us.url, pathPrefix: '/us' } };
  await writeFile(folder.path('several.json'), JSON.stringify({ upstreams, mcp: MCP }));
  // Lines that are not JSON are ignored, and those that are no messages are logged.
  const lines = [INITIALIZE, 'hello', '[]', callOf('Nope', 2), callOf('Groups', 3)];
  const { code, messages, log } = await pipe(lines, ['--config', 'several.json', '--name', 'eu']);
  expect(code).toBe(0);
  expect(messages).toMatchObject([
    { id: 1 },
    { id: 2, error: { message: expect.stringContaining('"Nope"') } },
    { id: 3, result: { structuredContent: { data: {} } } },
  ]);
  expect(log).toContainEqual(expect.objectContaining({ msg: 'mcp message rejected' }));
  expect([eu.requests.length, us.requests.length]).toEqual([1, 0]);
});

it('it answers clients that ask for prompts and resources in any case with empty lists (R49)', async () => {
  const lists = EMPTY_LISTS.map(([method], index) => ({ jsonrpc: '2.0', id: index + 2, method }));
  const { messages, log } = await pipe([INITIALIZE, ...lists], ['--upstream', 'http://127.0.0.1:9']);
  const results = EMPTY_LISTS.map(([, member], index) => ({ jsonrpc: '2.0', id: index + 2, result: { [member]: [] } }));
  expect(messages).toEqual([expect.objectContaining({ id: 1 }), ...results]);
  expect(log).toEqual([]);
});

it('it ends at a line that is too long for any message', async () => {
  const { code, messages, log } = await pipe(['x'.repeat(11 * 1024 * 1024)], ['--upstream', 'http://127.0.0.1:9']);
  expect([code, messages]).toEqual([0, []]);
  expect(log).toMatchObject([{ problem: expect.stringContaining('exceeded maximum size') }]);
});

it('it refuses a call that is larger than a request may be', async () => {
  const params = { name: 'Flow', arguments: { id: 'x'.repeat(300_000) } };
  const lines = [INITIALIZE, { ...callOf('Flow', 2), params }];
  const { messages } = await pipe(lines, ['--upstream', 'http://127.0.0.1:9']);
  expect(messages).toMatchObject([
    { id: 1 },
    { id: 2, result: { isError: true, content: [{ text: expect.stringContaining('is larger than 262144 bytes') }] } },
  ]);
});

it('a signal ends it while a call is in flight', async () => {
  const called = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  await using silent = await startService((_, connection) => {
    void connection.closed.then(closed.resolve);
    called.resolve();
  });
  const child = spawn(process.execPath, [MAIN, 'mcp', '--upstream', silent.url], { cwd: folder.path(), env: CHILD });
  child.stdin.write(`${JSON.stringify(INITIALIZE)}\n${JSON.stringify(callOf('Groups', 2))}\n`);
  await called.promise;
  child.stdin.end();
  child.kill('SIGTERM');
  expect(await once(child, 'close')).toEqual([0, null]);
  await closed.promise;
});

it('it has tools of the shipped modules on the sandbox, unless modules is set', async () => {
  await writeFile(folder.path('default.json'), JSON.stringify({ sandbox: ':memory:' }));
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
  for (const [options, hasModules] of [
    [[], true],
    [['--modules', 'off'], false],
  ] as const) {
    const { code, stdout } = await runCommand({
      cwd: folder.path(),
      args: ['mcp', '--config', 'default.json', ...options],
      input: { text: `${JSON.stringify(INITIALIZE)}\n${JSON.stringify(list)}\n`, isTTY: false },
    });
    expect([code, stdout.includes('"NotificationGroups"')]).toEqual([0, true]);
    const found = ['"Subscribers"', '"Topics"', '"WorkflowPage"'].map((name) => stdout.includes(name));
    expect(found).toEqual([hasModules, hasModules, hasModules]);
  }
});

it.each([
  [
    'a key is missing',
    ['--upstream', 'http://127.0.0.1:9'],
    'There is no API key. Set NOTIGRAPH_MCP_KEY or --key-file.\n',
  ],
  [
    'a tool is invalid, also on the sandbox',
    ['--sandbox', ':memory:', '--config', 'invalid.json'],
    expect.stringMatching(
      /^Notigraph can.t start: mcp\.manifest: the document a is rejected: Cannot query field "nope".*\n$/,
    ),
  ],
])('it exits with one message if %s', async (_, args, stderr) => {
  await writeFile(folder.path('invalid.json'), JSON.stringify({ mcp: { manifest: { a: 'query A { nope }' } } }));
  expect(await runCommand({ cwd: folder.path(), args: ['mcp', ...args] })).toMatchObject({
    code: 2,
    stdout: '',
    stderr,
  });
});
