import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { runCommand, startServing } from '../../../test/support/command.ts';
import { measureCpu } from '../../../test/support/cpu-time.ts';
import { ROOT } from '../../../test/support/docs.ts';
import { runNotigraph, startNotigraph } from '../../../test/support/process.ts';
import { createFolderOfEachTest } from '../../../test/support/sandbox-files.ts';
import { sendOperation } from '../../../test/support/send-operation.ts';
import { startService } from '../../../test/support/service.ts';
import { clientsOf, createSigner } from '../../../test/support/tokens.ts';
import { findWorkerPids, waitForLogLines } from '../../../test/support/worker-load.ts';
import { logUndeclaredCalls } from '../src/logger.ts';

const folder = createFolderOfEachTest();

const write = (file: string, text: string) => writeFile(folder.path(file), text);

/** Module in TypeScript whose field returns a text of a file that it imports. */
const MODULE = `import { defineModule } from 'notigraph/modules';
import { greeting } from './greeting.ts';

interface GreetingBody { name: string }

export default defineModule('greetings', ({ builder, declareCalls, endpoint, requireScopes }) => {
  const get = endpoint('GET /v1/greetings/{id}').returns<GreetingBody>();
  builder.queryField('greeting', (t) =>
    t.string({
      nullable: true,
      extensions: { ...requireScopes('greetings:read'), ...declareCalls('1') },
      description: 'Greets.\\n\\nREST: \`GET /v1/greetings/{id}\`.',
      resolve: async (_root, _args, ctx) => greeting + (await ctx.upstream.read(get, { id: 'a b' }))?.name,
    }),
  );
});
`;

async function writeModule(greeting = 'Hello ', text = MODULE): Promise<void> {
  await write('package.json', '{ "type": "commonjs" }'); // As npm init writes it.
  await write('greetings.ts', text);
  await write('greeting.ts', `export const greeting: string = '${greeting}';`);
}

const run = (...args: string[]) => runCommand({ cwd: folder.path(), args });

it('modules in TypeScript are served by workers, and applied when they or a file that they import change', async () => {
  await using service = await startService(() => ({ body: { data: { name: 'Ada' } } }));
  await writeModule();
  await mkdir(folder.path('config'));
  await write('config/notigraph.yaml', `upstream: ${service.url}\nmodules: [../greetings.ts]\nreloadSeconds: 0.05\n`);
  await using notigraph = await startNotigraph({
    cwd: folder.path(),
    args: ['--config', 'config/notigraph.yaml', '--workers', '2'],
  });
  expect(await sendOperation(notigraph.url, '{ greeting }')).toEqual({ data: { greeting: 'Hello Ada' } });
  expect(service.calls().at(-1)).toBe('GET /v1/greetings/a%20b');

  await write('greeting.ts', 'export const greeting: string = ');
  const [rejected] = await notigraph.printed('stdout', /\{[^\n]*was not reloaded[^\n]*/);
  expect(JSON.parse(rejected)).toMatchObject({
    problems: [
      { source: 'config/notigraph.yaml', line: 2, problem: expect.stringMatching(/^modules\.0: .*greeting\.ts:1/) },
    ],
  });
  expect(await sendOperation(notigraph.url, '{ greeting }')).toEqual({ data: { greeting: 'Hello Ada' } });

  // A worker that starts now doesn't read the rejected file either.
  const [pid = 0] = findWorkerPids(notigraph);
  process.kill(pid, 'SIGKILL');
  await waitForLogLines(notigraph, 'a worker listens in its place', 1);
  for (let i = 0; i < 4; i += 1) {
    expect(await sendOperation(notigraph.url, '{ greeting }')).toEqual({ data: { greeting: 'Hello Ada' } });
  }

  await writeModule('Bye ', MODULE.replace("'greeting'", "'lastGreeting'"));
  await notigraph.printed('stdout', /the configuration was reloaded/);
  for (let i = 0; i < 4; i += 1) {
    expect(await sendOperation(notigraph.url, '{ lastGreeting }')).toEqual({ data: { lastGreeting: 'Bye Ada' } });
  }
});

/** Names of the shipped modules, as the banner shows them, and what it says about them. */
const SHIPPED_ROW = `  Modules    notigraph/modules/events, /inbox, /messages, /subscribers, /topics, /workflows
             only with the sandbox; for a real service, set --modules notigraph/modules/events,…
`;

it('the sandbox starts with the shipped modules, also after a reload, unless modules is set; an invalid one is applied once it is corrected', async () => {
  const configure = (settings: string) =>
    write('notigraph.config.yaml', `sandbox: ":memory:"\nreloadSeconds: 0.05\n${settings}\n`);
  await configure('');
  await using notigraph = await startServing({ cwd: folder.path() });
  expect(notigraph.output()).toContain(SHIPPED_ROW);
  const reloaded = (times: number) => notigraph.printed('stdout', /the configuration was reloaded/, times);
  const hasFields = async () => {
    const answers: boolean[] = [];
    for (const query of ['{ workflowPage { page } }', '{ topics { totalCount } }']) {
      answers.push((await sendOperation(notigraph.url, query)).data !== undefined);
    }
    return answers;
  };
  expect(await hasFields()).toEqual([true, true]);
  await configure('maxDepth: 9');
  await reloaded(1);
  expect(await hasFields()).toEqual([true, true]);
  await configure('modules: [notigraph/modules/topics]');
  await reloaded(2);
  expect(await hasFields()).toEqual([false, true]);
  await configure('modules: []');
  await reloaded(3);
  expect(await hasFields()).toEqual([false, false]);

  await write('a.ts', 'export default {');
  await configure('modules: [./a.ts]');
  await notigraph.printed('stdout', /was not reloaded/);
  await write('a.ts', "export default { name: 'a', define: () => undefined };");
  await reloaded(4);
});

it('check names the shipped modules of the sandbox, but a service and the printed schema have none', async () => {
  const sandbox = ['--sandbox', ':memory:'];
  const { stdout } = await run('check', ...sandbox);
  expect(stdout).toBe('The configuration is valid. It starts the sandbox with the shipped modules.\n');
  for (const args of [
    ['check', ...sandbox, '--modules', 'off'],
    ['check', '--upstream', 'https://notifications.example.com'],
  ]) {
    expect((await run(...args)).stdout).toBe('The configuration is valid.\n');
  }
  await write('off.yaml', 'sandbox: ":memory:"\nmodules: []\n');
  expect((await run('check', '--config', 'off.yaml')).stdout).toBe('off.yaml is valid.\n');
  await write('built-in.graphql', (await run('schema', 'print')).stdout);
  expect((await run('schema', 'diff', 'built-in.graphql')).stdout).toContain('No breaking or dangerous changes');
  expect((await run('schema', 'print', '--modules', 'off')).stdout).not.toContain('triggerEvent');
  expect((await run('schema', 'print')).stdout).not.toContain('triggerEvent');

  // Scopes of modules need modules that are set: the same file is then valid with a service.
  const scopes = 'clients: { browser: { scopes: [events:write], tenants: { a: { env: A_KEY } } } }\n';
  for (const [modules, code] of [
    ['', 2],
    ['modules: [notigraph/modules/events]\n', 0],
  ] as const) {
    await write('scopes.yaml', `${scopes}clientTokens: { secrets: [{ env: A_SECRET }] }\n${modules}`);
    expect((await run('check', '--without-secrets', '--config', 'scopes.yaml')).code).toBe(code);
  }
});

/** Returns the operations that GraphiQL opens in tabs, in their order. */
async function readTabs(url: string): Promise<{ name: string; query: string; variables?: string }[]> {
  const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
  const { tabs, operations } = JSON.parse(/<script id="config"[^>]*>(.*?)<\/script>/s.exec(page)?.[1] ?? '');
  return tabs.flatMap((tab: string) => operations.filter(({ name }: { name: string }) => name === tab));
}

it('a service has no shipped modules, and the operations that GraphiQL opens first on it need no id of the sandbox', async () => {
  await using service = await startService(() => ({ body: { data: [] } }));
  await using notigraph = await startServing({ cwd: folder.path(), args: ['--upstream', service.url] });
  expect(notigraph.output()).not.toContain('Modules');
  expect(await sendOperation(notigraph.url, '{ workflowPage { page } }')).toMatchObject({
    errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }],
  });
  const [first, ...others] = await readTabs(notigraph.url);
  expect([first?.name, first?.variables]).toEqual(['NotificationGroups', undefined]);
  expect(others.map(({ name }) => name)).toEqual(['NotificationStats', 'Workflow', 'CreateNotificationGroup']);
  expect(await sendOperation(notigraph.url, first?.query ?? '')).toEqual({ data: { notificationGroups: [] } });
});

it('the operations that GraphiQL opens first on the sandbox are the life of a notification, and work alone, in any order and twice', async () => {
  await using notigraph = await startServing({ cwd: folder.path(), args: ['--sandbox', ':memory:'] });
  const tabs = await readTabs(notigraph.url);
  const names = ['TriggerEvent', 'Inbox', 'MarkMessages', 'DeleteMessagesByTransaction', 'NotificationStats'];
  expect(tabs.map(({ name }) => name)).toEqual(names);
  let isSent = false;
  for (const tab of [...tabs.toReversed(), ...tabs, ...tabs.flatMap((each) => [each, each]), ...tabs.toReversed()]) {
    const { data, errors } = await sendOperation(notigraph.url, tab.query, JSON.parse(tab.variables ?? '{}'));
    const isMissing = tab.name === 'DeleteMessagesByTransaction' && !isSent; // Nothing is left to delete.
    isSent = tab.name === 'TriggerEvent' || (isSent && tab.name !== 'DeleteMessagesByTransaction');
    const text = JSON.stringify(data);
    expect([tab.name, errors, text.includes('"NOT_FOUND"')]).toEqual([tab.name, undefined, isMissing]);
    if (tab.name === 'Inbox') {
      expect(text.includes('Your payment of 12.00 EUR failed.')).toBe(isSent);
    }
  }
});

it('check reports what each module adds', async () => {
  await writeModule();
  await write('empty.mjs', "export default { name: 'empty', define() {} };");
  const { code, stdout } = await run('check', '--modules', './greetings.ts,notigraph/modules/events,./empty.mjs');
  expect([code, ...stdout.split('\n').filter((line) => /^(?: .*greeting|\S|$)/.test(line))]).toEqual([
    0,
    'The configuration is valid.',
    'Module greetings adds 0 types, 1 field and 1 endpoint:',
    '  Query.greeting (greetings:read)',
    '  GET /v1/greetings/{id}',
    expect.stringMatching(/^Module notigraph\/modules\/events adds \d+ types, \d+ fields and \d endpoints:$/),
    'Module empty adds nothing to the schema.',
    '',
  ]);
  expect(stdout).toContain('\n  Mutation.triggerEvent (events:write)\n');
  expect(stdout).toContain('\n  TriggerEventInput\n');
});

it('what a module prints is on standard error, unless the standard output is the log of a gateway', async () => {
  await writeModule();
  const schema = (await run('schema', 'print', '--modules', './greetings.ts')).stdout;
  const logging = `console.log('imported'); console.table(['a table']); process.stdout.write('written\\n');
import { stdout } from 'node:process'; stdout.write('written to a stream\\n');
${MODULE.replace('builder.queryField', "console.info('defined');\n  builder.queryField")}`;
  await write('greetings.ts', logging);
  await write('preload.mjs', "console.log('preloaded');"); // Binds the console to the stream before the command starts.
  await write('built-in.graphql', (await run('schema', 'print')).stdout);
  const print = async (...args: string[]) => {
    const options = {
      cwd: folder.path(),
      args: [...args, '--modules', './greetings.ts'],
      env: { NOTIGRAPH_MCP_KEY: 'k' },
    };
    const { stdout, stderr } = await runNotigraph({ ...options, nodeArgs: ['--import', folder.path('preload.mjs')] });
    for (const text of ['imported', 'a table', 'written', 'written to a stream', 'defined']) {
      expect(stderr).toContain(text);
    }
    const first = 'preloaded\n';
    expect(stdout.slice(0, first.length)).toBe(first);
    return stdout.slice(first.length);
  };
  expect(await print('schema', 'print')).toBe(schema);
  expect(JSON.parse(await print('schema', 'diff', 'built-in.graphql', '--format', 'json'))).toHaveProperty('breaking');
  expect(JSON.parse(await print('check', '--format', 'json'))).toMatchObject({ valid: true });
  expect(JSON.parse(await print('doctor', '--upstream', 'http://127.0.0.1:9', '--format', 'json'))).toHaveProperty(
    'findings',
  );

  await using serving = await startNotigraph({
    cwd: folder.path(),
    args: ['--upstream', 'http://127.0.0.1:9', '--modules', './greetings.ts'],
  });
  expect(serving.outputOf('stdout')).toContain('imported\n');
});

it('check reports what a module adds with its own name, also if one before it uses it, or it is not configured', async () => {
  await write(
    'boxes.mjs',
    `import { defineModule } from 'notigraph/modules';
export const boxes = defineModule('boxes', ({ builder, declareCalls, endpoint, requireScopes }) => {
  endpoint('GET /v1/boxes');
  const Box = builder.objectRef('Box').implement({
    extensions: requireScopes('boxes:read'),
    fields: (t) => ({ name: t.exposeString('name') }),
  });
  builder.queryField('box', (t) => t.field({ type: Box, extensions: declareCalls('0'), resolve: () => ({ name: 'red' }) }));
  return { Box };
});
export default boxes;`,
  );
  await write(
    'links.mjs',
    `import { defineModule } from 'notigraph/modules';
import { boxes } from './boxes.mjs';
export default defineModule('links', ({ builder, declareCalls, endpoint, requireScopes, use }) => {
  const { Box } = use(boxes);
  endpoint('GET /v1/links');
  builder.objectField(Box, 'link', (t) => t.string({ resolve: () => 'x' }));
  builder.queryField('link', (t) =>
    t.string({ extensions: { ...declareCalls('0'), ...requireScopes('links:read') }, resolve: () => 'x' }),
  );
});`,
  );
  const reports = [
    ['Module links adds 0 types, 2 fields and 1 endpoint:', ['Box.link', 'Query.link (links:read)', 'GET /v1/links']],
    [
      'Module boxes adds 1 type, 2 fields and 1 endpoint:',
      ['Box (boxes:read)', 'Box.name', 'Query.box (boxes:read)', 'GET /v1/boxes'],
    ],
  ] as const;
  for (const modules of ['./links.mjs,./boxes.mjs', './links.mjs']) {
    const { stdout } = await run('check', '--modules', modules);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(10);
    expect(lines[0]).toBe('The configuration is valid.');
    for (const [title, elements] of reports) {
      const start = lines.indexOf(title) + 1;
      const names = lines.slice(start, start + elements.length).map((line) => line.trim());
      expect([title, names.toSorted()]).toEqual([title, elements.toSorted()]);
    }
  }
});

it('schema print and schema diff have the modules of the configuration, without its secrets and without a service', async () => {
  await writeModule();
  const config =
    'modules: [./greetings.ts]\nlogSecret: { env: NO_SUCH_SECRET }\ntrustedDocuments: { manifests: [./none.json] }\n';
  await write('notigraph.config.yaml', config);
  const inProduction = (env: Record<string, string>, ...args: string[]) =>
    runCommand({ cwd: folder.path(), args, env: { NODE_ENV: 'production', ...env } });
  const printed = await inProduction({}, 'schema', 'print');
  expect(printed).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('  greeting: String\n') });
  expect((await inProduction({}, 'schema', 'print', '--federation')).stdout).toContain('  greeting: String\n');
  await write('printed.graphql', printed.stdout);
  expect((await inProduction({}, 'schema', 'diff', 'printed.graphql')).stdout).toBe(
    'No breaking or dangerous changes, additions or deprecations.\n',
  );
  const events = 'notigraph/modules/events';
  const fromVariable = await inProduction({ NOTIGRAPH_MODULES: events }, 'schema', 'print');
  expect(fromVariable.stdout).toContain('triggerEvent');
  expect(fromVariable.stdout).not.toContain('greeting');
  const fromFlags = await run('schema', 'print', '--modules', events, '--modules', './greetings.ts');
  expect(fromFlags.stdout).toContain('triggerEvent');
  expect(fromFlags.stdout).toContain('  greeting: String\n');
  await write('other.yaml', 'modules: [./none.ts]\n');
  expect(await run('schema', 'print', '--config', 'other.yaml')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^other\.yaml:1:11: modules\.0: Cannot find module '.*none\.ts'\.\n$/),
  });
});

it('modules cost a line of the log for a promise that fails and that nothing awaits and, except in production, for a call that explanations do not list', async () => {
  await using service = await startService(() => ({ body: { data: { _id: 'b' } } }));
  await write(
    'careless.mjs',
    `import { defineModule } from 'notigraph/modules';
    export default defineModule('careless', ({ builder, declareCalls, requireScopes }) => {
      builder.queryField('careless', (t) => t.boolean({
        description: 'Fails later.',
        extensions: { ...requireScopes('a:read'), ...declareCalls('1') },
        resolve() {
          Promise.reject(new Error('nobody waits'));
          Promise.reject(Object.freeze({ odd: true }));
          const request = { headers: { authorization: 'ApiKey canary-of-acme' } };
          Promise.reject(Object.assign(new Error('sent ApiKey canary-of-acme'), { config: request }));
          return true;
        },
      }));
    });`,
  );
  await write(
    'notes.mjs',
    `import { defineModule } from 'notigraph/modules';
export default defineModule('notes', ({ builder, declareCalls, endpoint, requireScopes }) => {
  const get = endpoint('GET /v1/notes/{id}');
  builder.queryField('lastNote', (t) =>
    t.id({
      nullable: true,
      extensions: { ...requireScopes('notes:read'), ...declareCalls('1') },
      resolve: async (_root, _args, ctx) => {
        const first = await ctx.upstream.read(get, { id: 'a' });
        return first && (await ctx.upstream.read(get, { id: first._id }))._id;
      },
    }),
  );
});
`,
  );
  await using notigraph = await startNotigraph({
    cwd: folder.path(),
    args: ['--upstream', service.url, '--modules', './careless.mjs', '--modules', './notes.mjs'],
  });
  expect(notigraph.output()).toContain('  Modules    ./careless.mjs, ./notes.mjs\n');
  for (let i = 0; i < 2; i += 1) {
    expect(await sendOperation(notigraph.url, '{ careless lastNote }')).toEqual({
      data: { careless: true, lastNote: 'b' },
    });
  }
  const [line] = await notigraph.printed('stdout', /^.*nobody waits.*$/m);
  expect(JSON.parse(line)).toMatchObject({ level: 'error', msg: 'unexpected error', err: { message: 'nobody waits' } });
  await notigraph.printed('stdout', /"msg":"operation"/, 2);
  await notigraph.printed('stdout', /"message":"sent ApiKey \*\*\*"/);
  expect(notigraph.output()).not.toContain('canary');
  const { stdout } = await notigraph.stop('SIGTERM');
  const [warning, ...others] = stdout.split('\n').filter((each) => each.includes('explanations list only'));
  expect(others).toEqual([]);
  expect(JSON.parse(warning ?? '')).toMatchObject({
    level: 'warn',
    msg: expect.stringMatching(
      /^Query\.lastNote calls GET \/v1\/notes\/\{id\}, which explanations list only if it is declared\./,
    ),
  });
  expect(logUndeclaredCalls({ isProduction: true }, pino())).toEqual({});
});

it('an error of a module that ends the process is a line of the log without the credential, which Node.js would print', async () => {
  await write(
    'fatal.mjs',
    `import { defineModule } from 'notigraph/modules';
    export default defineModule('fatal', ({ builder, declareCalls, requireScopes }) => {
      builder.queryField('fatal', (t) => t.boolean({
        description: 'Fails later.',
        extensions: { ...requireScopes('a:read'), ...declareCalls('1') },
        resolve() {
          const config = { headers: { authorization: 'ApiKey canary-of-acme' } };
          setTimeout(() => { throw Object.assign(new Error('too late'), { config }); });
          return true;
        },
      }));
    });`,
  );
  await using notigraph = await startNotigraph({ cwd: folder.path(), args: ['--sandbox', '--modules', './fatal.mjs'] });
  await sendOperation(notigraph.url, '{ fatal }').catch(() => {});
  const { code, stdout, stderr } = await notigraph.ended;
  const lines = stdout.split('\n').filter((line) => line.includes('too late'));
  expect([code, lines.map((line) => JSON.parse(line))]).toMatchObject([
    1,
    [{ level: 'fatal', msg: 'unexpected error', err: { type: 'Error', message: 'too late' } }],
  ]);
  expect(stdout + stderr).not.toContain('canary');
});

it('an unexpected error is logged without what it quotes, if the log is to have no texts of errors', async () => {
  await write(
    'quoting.mjs',
    `import { defineModule } from 'notigraph/modules';
    export default defineModule('quoting', ({ builder, declareCalls, requireScopes }) => {
      builder.queryField('quoting', (t) => t.string({
        nullable: true,
        extensions: { ...requireScopes('a:read'), ...declareCalls('1') },
        resolve() {
          const cause = Object.assign(new TypeError('duplicate: ann@example.com\\n    at ann@example.com'), { code: '23505' });
          throw new Error('No user "ann@example.com": 1', { cause });
        },
      }));
    });`,
  );
  const env = { NOTIGRAPH_LOG_ERROR_TEXTS: 'off' };
  const args = ['--sandbox', '--modules', './quoting.mjs'];
  await using notigraph = await startNotigraph({ cwd: folder.path(), args, env });
  await sendOperation(notigraph.url, '{ quoting }');
  const [line = ''] = await notigraph.printed('stdout', /.*"unexpected error".*\n/);
  expect(line).not.toContain('ann@example.com');
  expect(JSON.parse(line)).toMatchObject({
    field: 'quoting',
    err: {
      type: 'Error',
      stack: expect.stringMatching(/^Error\n +at .*quoting\.mjs/),
      cause: { type: 'TypeError', code: '23505', stack: expect.stringMatching(/^TypeError\n +at .*quoting\.mjs/) },
    },
  });
});

it('check reports what a module adds below the root and to other types, and which scopes it changes', async () => {
  await write(
    'nested.mjs',
    `import { defineModule } from 'notigraph/modules';
export default defineModule('nested', ({ builder, declareCalls, endpoint, requireScopes }) => {
  const list = endpoint('GET /v1/notes', { expect: 'list' });
  const Note = builder.objectRef('Note').implement({
    extensions: { ...requireScopes('notes:read'), ...declareCalls('1') },
    fields: (t) => ({
      text: t.exposeString('text'),
      secret: t.exposeString('secret', { extensions: requireScopes('secrets:read') }),
    }),
  });
  builder.objectField('Workflow', 'notes', (t) =>
    t.field({
      type: [Note],
      nullable: true,
      extensions: declareCalls('1 per workflow'),
      resolve: (_root, _args, ctx) => ctx.upstream.read(list, {}),
    }),
  );
});
`,
  );
  const elements = [
    { name: 'Workflow.notes', scopes: ['notes:read'] },
    { name: 'Note', scopes: ['notes:read'] },
    { name: 'Note.text', scopes: [] },
    { name: 'Note.secret', scopes: ['secrets:read'] },
  ];
  const json = JSON.parse((await run('check', '--modules', './nested.mjs', '--format', 'json')).stdout);
  const [{ elements: reported, ...others }] = json.modules;
  expect(others).toEqual({ name: 'nested', endpoints: ['GET /v1/notes'], scopes: ['notes:read', 'secrets:read'] });
  expect(reported).toHaveLength(elements.length);
  expect(reported).toEqual(expect.arrayContaining(elements));
  expect((await run('check', '--modules', './nested.mjs')).stdout).toContain('\n  Note.secret (secrets:read)\n');
});

it('check names writes that do not declare what they empty, although cached reads have their paths', async () => {
  await write(
    'drafts.mjs',
    `import { defineModule } from 'notigraph/modules';
const windows = { freshSeconds: 60, staleWhileRevalidateSeconds: 0, staleIfErrorSeconds: 0 };
export default defineModule('drafts', ({ endpoint }) => {
  endpoint('GET /v1/workflows/{id}/drafts', { expect: 'list', cached: { resource: 'drafts', windows } });
  endpoint('PUT /v1/workflows/{id}');
  endpoint('POST /v1/workflows/{id}/drafts', { empties: ['drafts'] });
  endpoint('POST /v1/workflows/{id}/preview', { empties: [] });
  endpoint('POST /v1/previews');
});
`,
  );
  await write('notigraph.config.yaml', 'sandbox: ":memory:"\nmodules: [./drafts.mjs, notigraph/modules/topics]\n');
  const { code, stdout } = await run('check');
  expect([code, stdout.split('\n').filter((line) => line.includes('warning'))]).toEqual([
    0,
    [
      'notigraph.config.yaml is valid, with 1 warning.',
      "notigraph.config.yaml:2:1: warning: modules: PUT /v1/workflows/{id} of the module drafts empties the cached reads 'workflows', 'drafts', because of its path; declare empties: ['workflows', 'drafts'], or [] if it changes none of them.",
    ],
  ]);
});

it('check names root fields that do not declare their calls', async () => {
  await write(
    'old.mjs',
    `import { defineModule } from 'notigraph/modules';
export default defineModule('old', ({ builder, declareCalls, endpoint, mutation, requireScopes }) => {
  const extensions = requireScopes('old:read');
  const resolve = () => 'old';
  builder.queryFields((t) => ({
    layouts: t.string({ extensions, resolve }),
    version: t.string({ extensions: { ...extensions, ...declareCalls('0') }, resolve }),
  }));
  mutation('save', {
    description: 'Saves.',
    scope: 'old:write',
    endpoint: endpoint('POST /v1/old'),
    resolve: async (_input, send) => ({ saved: String(await send({})) }),
    success: { description: 'Saved.', fields: (t) => ({ saved: t.exposeString('saved') }) },
  });
});
`,
  );
  await write('notigraph.config.yaml', 'sandbox: ":memory:"\nmodules: [./old.mjs, notigraph/modules/topics]\n');
  const { code, stdout } = await run('check');
  expect([code, stdout.split('\n').filter((line) => line.includes('warning'))]).toEqual([
    0,
    [
      'notigraph.config.yaml is valid, with 1 warning.',
      "notigraph.config.yaml:2:1: warning: modules: Query.layouts of the module old declares no calls, so each API key is tried with a read before it; add extensions: declareCalls('1'), or '0' if it makes none.",
    ],
  ]);
});

it('check takes no quadratic time in the number of endpoints', async () => {
  const times: number[] = [];
  for (const count of [1, 250, 1_000]) {
    const file = `many${count}.mjs`; // The first one also loads the command.
    const declare = `for (let i = 0; i < ${count}; i++) endpoint(\`DELETE /v1/many\${i}/{id}\`, { expect: 'nothing' });`;
    await write(file, `export default { name: 'many', define({ endpoint }) { ${declare} } };`);
    const { result, cpuMs } = await measureCpu(() => run('check', '--without-secrets', '--modules', `./${file}`));
    expect(result.stdout).toContain(`and ${count} endpoint${count === 1 ? '' : 's'}:`);
    times.push(cpuMs);
  }
  const [, few = 0, many = 0] = times;
  expect(many).toBeLessThan(few * 8);
}, 60_000);

it('a generated module requires its scopes of tokens, also as an entity', async () => {
  await cp(join(ROOT, 'packages/cli/test/documents/library.yaml'), folder.path('library.yaml'));
  await run('module', 'new', 'books', '--openapi', 'library.yaml');
  const signer = createSigner();
  const { browser } = clientsOf(signer, { scopes: ['groups:read', 'books:read'] });
  await using service = await startService(() => ({ body: { data: { _id: 'b1', title: 'Emma', status: 'on-loan' } } }));
  const config = {
    upstream: service.url,
    modules: ['./books.ts'],
    federation: true,
    clients: { browser: { ...browser, tenants: { acme: { env: 'ACME_KEY' } } } },
  };
  await write('notigraph.config.yaml', JSON.stringify(config));

  const type = /(Book\.implement\(\{\s+description: '.*',\s+extensions: )requireScopes\('books:read'\)/;
  const generated = await readFile(folder.path('books.ts'), 'utf8');
  expect(generated).toMatch(type);
  const asEntity = (extensions: string) =>
    generated.replace(type, `$1${extensions}`).replace('    builder,\n', '    builder,\n    entity,\n');
  await write('books.ts', asEntity('entity({ id: async () => ({}) })'));
  const refused = await run('check', '--without-secrets');
  expect([refused.code, refused.stdout]).toEqual([
    2,
    expect.stringMatching(
      /the type Book is an entity, .* requires no scope of its own; in the module books, declare one/,
    ),
  ]);

  await write(
    'books.ts',
    asEntity("{ ...requireScopes('books:read'), ...entity({ id: async () => ({ _id: 'b1' }) }) }"),
  );
  await using notigraph = await startNotigraph({ cwd: folder.path(), env: { ACME_KEY: 'k' } });
  const entity = '{ _entities(representations: [{ __typename: "Book", id: "b1" }]) { __typename } }';
  for (const query of ['{ book(bookId: "b1") { title } }', '{ books { books { title } } }', entity]) {
    const send = async (scope: string) => sendOperation(notigraph.url, query, {}, await signer.bearer({ scope }));
    expect(await send('groups:read')).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN', scope: 'books:read' } }],
    });
    expect((await send('books:read')).errors?.[0].extensions.code).not.toBe('FORBIDDEN');
  }
});

describe("a module that can't be used is one line with its place in the configuration and in its code:", () => {
  const define = (body: string) => `export default { name: 'a', define({ builder, endpoint }) {\n${body}\n} };`;

  it.each([
    [
      'a file that does not exist',
      './none.ts',
      '',
      /^notigraph\.config\.yaml:2:4: modules\.0: Cannot find module '.*none\.ts'\.$/,
    ],
    [
      'a package that does not exist',
      'no-such-package',
      '',
      /:2:4: modules\.0: Cannot find package 'no-such-package'\.$/,
    ],
    [
      'an unknown name',
      'notigraph/modules/event',
      '',
      /is not a module of Notigraph; use notigraph\/modules\/events, /,
    ],
    ['a syntax error', './a.ts', 'export default {', /:2:4: modules\.0: .*\(a\.ts:1\)\.$/],
    [
      'an error at import',
      './a.ts',
      '\nthrow new Error("No database.");',
      /:2:4: modules\.0: No database \(a\.ts:2:7\)\.$/,
    ],
    ['no error', './a.ts', 'throw undefined;', /: a\.ts throws undefined instead of an error\.$/],
    ['no default export', './a.ts', 'export const a = 1;', /: a\.ts has no module as its default export; use /],
    ['another default export', './a.ts', 'export default 1;', /: a\.ts has no module as its default export; use /],
    [
      'an import without an end',
      './a.ts',
      'await new Promise(() => undefined); export default 1;',
      /: a\.ts is not loaded after 10 seconds; does it wait for something at its top level\.$/,
    ],
    [
      'an error in its definition',
      './a.ts',
      define('throw new TypeError("Oops.");'),
      /modules: the module a fails: TypeError: Oops \(a\.ts:2:7\)\.$/,
    ],
  ])('%s', async (_, name, code, message) => {
    await write('a.ts', code);
    await write('notigraph.config.yaml', `modules:\n - ${name}\n`);
    const { code: exitCode, stdout } = await run('check');
    expect([exitCode, stdout.split('\n')[1]]).toEqual([2, expect.stringMatching(message)]);
    expect(stdout).not.toMatch(/^ +at /m);
  });

  it('an unknown scope of clients', async () => {
    await writeModule();
    await write(
      'notigraph.config.yaml',
      'modules: [./greetings.ts]\nclients:\n  browser:\n    scopes: [greetings:read, greeting:read]\n    tenants: { a: { env: A_KEY } }\nclientTokens: { secrets: [{ env: A_SECRET }] }\n',
    );
    const { stdout } = await run('check', '--without-secrets');
    expect(stdout.split('\n')[1]).toMatch(/^notigraph\.config\.yaml:4:30: clients\.browser\.scopes\.1 must be a scope/);
  });
});
