import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { VERSION } from '../../../src/lib/installation.ts';
import { SHIPPED_MODULES } from '../../../src/modules/shipped.ts';
import { CHILD_ENV } from '../../../test/support/child-env.ts';
import { runCommand, startServing } from '../../../test/support/command.ts';
import { readDockerfile } from '../../../test/support/deploy.ts';
import { ROOT } from '../../../test/support/docs.ts';
import { listen } from '../../../test/support/listen.ts';
import { MAIN, runNotigraph, startNotigraph } from '../../../test/support/process.ts';
import { findPrograms } from '../../../test/support/programs.ts';
import { createTestFolder } from '../../../test/support/sandbox-files.ts';
import { sendOperation } from '../../../test/support/send-operation.ts';
import { startService } from '../../../test/support/service.ts';
import { findWorkers } from '../../../test/support/worker-load.ts';
import { SANDBOX_KEYS } from '../../sandbox/src/sandbox.ts';
import { COMMANDS } from '../src/commands/index.ts';
import { writeHelp } from '../src/help.ts';

const GROUPS = '{ notificationGroups { id name } }';

const CREATE_FEED = `mutation ($name: String!) {
  createFeed(input: { name: $name }) {
    ... on CreateFeedSuccess { feed { name } }
  }
}`;

/** Configuration for browsers only, which get tokens from the gateway. */
const BROWSER_CONFIG = `
clients:
  server: off
  browser:
    scopes: [groups:read]
    tenants: { acme: { env: ACME_KEY } }
clientTokens: { secrets: [{ env: TOKEN_SECRET }] }
`;

const CURL = findPrograms('curl');
const BASH = findPrograms('bash');

/** Runs the commands that the banner prints in a shell, and returns the response. */
function runExample(output: string): unknown {
  const [, commands = ''] = /^Try it[^\n]*:\n\n((?: {2}[^\n]+\n)+)\n/m.exec(output) ?? [];
  return JSON.parse(spawnSync('sh', ['-ec', commands], { encoding: 'utf8' }).stdout);
}

/** Returns the result of a process that only prints an error. */
const failure = (code: number, stderr: string) => ({ code, signal: null, stdout: '', stderr });

/** Returns the levels of the log's warnings of the sandbox, after a line that says what has started. */
function expectStarted(stdout: string, modules: readonly string[], upstreams: readonly string[]): unknown[] {
  const lines = (stdout.match(/^\{.*$/gm) ?? []).map((line) => JSON.parse(line));
  expect(lines.filter(({ msg }) => msg === 'started')).toMatchObject([
    { level: 'info', version: VERSION, modules, upstreams },
  ]);
  const sentence = 'the sandbox serves sample records with public API keys in production';
  return lines.filter(({ msg }) => msg.includes(sentence)).map(({ level }) => level);
}

it('one line of the log names what has started, also with workers, and one warns of the sandbox in production', async () => {
  const modules = ['notigraph/modules/events'];
  const env = { NODE_ENV: 'production', NOTIGRAPH_CONFIG_TEXT: JSON.stringify({ modules }) };
  const args = ['--sandbox', ':memory:', '--workers', '2'];
  await using notigraph = await startNotigraph({ args, env });
  const { stdout } = await notigraph.stop('SIGTERM');
  expect(expectStarted(stdout, modules, ['sandbox'])).toEqual(['warn']);
});

it('the line of the log that names what has started names several services', async () => {
  const upstreams = { eu: { url: 'http://127.0.0.1:9/path', default: true }, us: { url: 'http://127.0.0.1:9' } };
  await using notigraph = await startServing({ env: { NOTIGRAPH_CONFIG_TEXT: JSON.stringify({ upstreams }) } });
  const { stdout } = await notigraph.stop('SIGTERM');
  expect(expectStarted(stdout, [], ['eu: 127.0.0.1:9', 'us: 127.0.0.1:9'])).toEqual([]);
});

describe('the printed banner', () => {
  it.runIf(CURL.areThere)(
    `names the endpoint, GraphiQL and the data file in the working directory, which survives a process that is killed${CURL.note}`,
    async () => {
      const name = 'Made before the end';
      const { path } = await createTestFolder();
      await using killed = await startNotigraph({ cwd: path() });
      expect(killed.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/graphql$/);
      const output = killed.output();
      expect(output).toContain(`Notigraph ${VERSION}\n`);
      expect(output).toContain(`GraphiQL   ${killed.url} in a browser\n`);
      expect(output).toContain('Upstream   built-in sandbox, data is kept in .notigraph/sandbox.db\n');
      expect(runExample(output)).toMatchObject({ data: { notificationGroups: { length: 4 } } });
      expect(await sendOperation(killed.url, CREATE_FEED, { name })).toEqual({
        data: { createFeed: { feed: { name } } },
      });
      expect(await killed.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });

      using database = new DatabaseSync(path('.notigraph', 'sandbox.db'));
      expect(database.prepare('SELECT name FROM feeds').all()).toContainEqual({ name });
    },
  );

  it('names the upstream, says that callers send the key, and names what is off', async () => {
    await using upstream = await startService(() => ({ status: 401 }));
    const args = ['--upstream', upstream.url, '--graphiql', 'off'];
    const tools = '{"mcp":{"manifest":{"a":"query Groups { notificationGroups { id } }"}}}';
    const env = { NOTIGRAPH_CACHE: 'on', NOTIGRAPH_CONFIG_TEXT: tools };
    await using notigraph = await startServing({ args, env });
    const output = notigraph.output();
    expect(output).toContain(`Upstream   ${upstream.url}/\n`);
    expect(output).toContain(`Tools      ${new URL('/mcp', notigraph.url).href} for AI agents\n`);
    expect(output).toContain('Cache      in memory\n');
    expect(output).toContain('Workers    one process\n'); // The cache in memory requires it.
    expect(output).toContain('GraphiQL   off (--graphiql on)\n');
    expect(output).toContain("-H 'Authorization: ApiKey <your key>'");
    expect(output).not.toContain(SANDBOX_KEYS.development);
  });

  it('names the configuration, workers, clients and metrics', async () => {
    const folder = await createTestFolder();
    await writeFile(folder.path('gateway.yaml'), BROWSER_CONFIG);
    await using notigraph = await startNotigraph({
      cwd: folder.path(),
      args: ['--config', 'gateway.yaml', '--workers', '2', '--sandbox', ':memory:'],
      env: { ACME_KEY: SANDBOX_KEYS.development, TOKEN_SECRET: 'x'.repeat(32) },
    });
    const { origin } = new URL(notigraph.url);
    const rows = [...notigraph.output().matchAll(/^ {2}([A-Z]\w+) {2,}(.+)$/gm)].map(([, name, value]) => [
      name,
      value,
    ]);
    expect(Object.fromEntries(rows)).toEqual({
      GraphQL: notigraph.url,
      GraphiQL: `${notigraph.url} in a browser`,
      Upstream: 'built-in sandbox, data is kept in memory',
      Modules: 'notigraph/modules/events, /inbox, /messages, /subscribers, /topics, /workflows',
      Config: 'gateway.yaml',
      Workers: '2 processes',
      Clients: 'browsers with a token',
      Metrics: `${origin}/metrics`,
      Health: `${origin}/livez, ${origin}/readyz`,
    });
    expect(notigraph.output()).toContain('\nTo try it, send a query with a token: see docs/frontend.md.\n');
  });

  it('says how to try it with trusted documents only', async () => {
    const manifest = { a: 'query ($id: ID!) { workflow(idOrIdentifier: $id) { id } }' };
    const config = {
      clients: { server: { trustedDocuments: 'enforce' } },
      trustedDocuments: { manifests: [manifest] },
    };
    const env = { NOTIGRAPH_CONFIG_TEXT: JSON.stringify(config) };
    await using notigraph = await startServing({ args: ['--sandbox', ':memory:'], env });
    expect(notigraph.output()).toContain('\nTo try it, send the id of a trusted document as "documentId", ');
    const { stdout } = await notigraph.stop('SIGTERM');
    expect(expectStarted(stdout, SHIPPED_MODULES, ['sandbox'])).toEqual([]); // Only production warns of the sandbox.
  });
});

describe('a process whose output is closed', () => {
  it.runIf(BASH.areThere)(`prints no stack trace if it only prints something${BASH.note}`, async () => {
    for (const args of ['--help', '--nonsense 2>&1']) {
      const { stdout, stderr } = spawnSync(
        'bash',
        ['--norc', '-c', `{ "$0" "$1" ${args}; echo "exit $?" >&2; } | true`, process.execPath, MAIN],
        {
          cwd: tmpdir(),
          env: CHILD_ENV,
          encoding: 'utf8',
        },
      );
      expect([args, stdout, stderr]).toEqual([args, '', args.startsWith('--nonsense') ? 'exit 2\n' : 'exit 0\n']);
    }
  });

  it('keeps serving, without its log, and then does not wait for a connection without a request', async () => {
    await using notigraph = await startNotigraph({ args: ['--sandbox', ':memory:'], maxOpenFiles: 256 });
    const [line] = await notigraph.printed('stdout', /\{.*limit of open files.*/); // Permits fewer than maxConnections.
    expect(JSON.parse(line)).toMatchObject({ level: 'warn', maxConnections: 128 });
    notigraph.closeOutput();
    for (let i = 0; i < 3; i += 1) {
      expect(await sendOperation(notigraph.url, '{ __typename }')).toEqual({ data: { __typename: 'Query' } });
    }
    const connection = connect(Number(new URL(notigraph.url).port), '127.0.0.1');
    onTestFinished(() => void connection.destroy());
    await once(connection, 'connect');
    await sendOperation(notigraph.url, '{ __typename }'); // The process has accepted the connection by now.
    const stoppedAt = performance.now();
    expect(await notigraph.stop('SIGTERM')).toMatchObject({ code: 0, signal: null });
    expect(performance.now() - stoppedAt).toBeLessThan(10_000);
  });
});

it.each([['1'], ['2']])('reports an error that nobody expects in one line, with %s workers', async (workers) => {
  const fault = `
    import http from 'node:http';
    import { syncBuiltinESMExports } from 'node:module';
    http.createServer = () => { throw new TypeError('It is broken by ApiKey canary-1\\nin two lines'); };
    setInterval(() => {}, 1000);
    syncBuiltinESMExports();`;
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}` };
  const args = ['--port', '0', '--upstream', 'http://127.0.0.1:9', '--workers', workers];
  expect(await runNotigraph({ args, env })).toEqual(
    failure(1, expect.stringMatching(/^Unexpected error: TypeError: It is broken by ApiKey \*\*\* \(.+:\d+:\d+\)\n$/)),
  );
});

it('a process that cannot start says in one sentence why, once for all workers', async () => {
  const other = await listen(createServer());
  onTestFinished(() => other.close());
  const args = ['--port', new URL(other.url).port, '--sandbox', ':memory:'];
  const inUse = failure(1, expect.stringMatching(/^Port \d+ on 127\.0\.0\.1 is already in use\. [^\n]+\.\n$/));
  expect(await runNotigraph({ args: [...args, '--workers', '2'] })).toEqual(inUse);
  expect(await runCommand({ args })).toEqual(inUse);
  expect(await runCommand({ args: [...args, '--host', '192.0.2.1'] })).toEqual(
    failure(1, expect.stringMatching(/^This machine has no address 192\.0\.2\.1\. [^\n]+\.\n$/)),
  );
  expect(await runCommand({ args: [...args, '--sandbox', import.meta.filename] })).toEqual(
    failure(1, expect.stringMatching(/^\S+ is not a SQLite database\.\n$/)),
  );
});

describe('an option of Node.js', () => {
  it('--frozen-intrinsics changes no response', async () => {
    await using notigraph = await startNotigraph({
      args: ['--sandbox', ':memory:'],
      nodeArgs: ['--frozen-intrinsics'],
    });
    const send = (query: string) => sendOperation(notigraph.url, query);
    expect(await send(GROUPS)).toMatchObject({ data: { notificationGroups: { length: 4 } } });
    expect(await send('{ workflow(idOrIdentifier: "missing") { id } }')).toEqual({ data: { workflow: null } });
    expect(await send('mutation { createFeed(input: { name: "" }) { __typename } }')).toEqual({
      data: { createFeed: { __typename: 'InvalidInputError' } },
    });
    for (const [query, code] of [
      ['{', 'GRAPHQL_PARSE_FAILED'],
      ['{ nope }', 'GRAPHQL_VALIDATION_FAILED'],
      [`{ ${'a '.repeat(20_000)} }`, 'DOCUMENT_LIMIT_EXCEEDED'],
    ] as const) {
      expect(await send(query)).toMatchObject({ errors: [{ extensions: { code } }] });
    }
  });

  it.each(['notigraph.js', 'import.js', 'require.cjs', 'import-testing.js', 'require-testing.cjs'])(
    '--jitless is refused by bin/%s, because no call could be read',
    async (file) => {
      const { code, stderr } = await runNotigraph({ main: join(ROOT, 'bin', file), nodeArgs: ['--jitless'] });
      expect(code).toBe(1);
      expect(stderr).toContain('Remove its option --jitless, also from NODE_OPTIONS.');
      expect(stderr.split('\n').length === 2).toBe(file === 'notigraph.js'); // Others throw the error.
    },
  );

  it.each([['1'], ['2']])('of the image keeps SIGUSR1 from opening the inspector, with %s workers', async (workers) => {
    const entrypoints = readDockerfile().flatMap(({ name, text }): string[][] =>
      name === 'ENTRYPOINT' ? [JSON.parse(text)] : [],
    );
    const options = entrypoints.map(([, ...words]) =>
      words.slice(
        0,
        words.findIndex((word) => /^--import$|^\//.test(word)),
      ),
    );
    expect(options).toEqual([['--disable-sigusr1'], ['--disable-sigusr1']]);
    await using notigraph = await startNotigraph({
      args: ['--sandbox', ':memory:', '--workers', workers],
      nodeArgs: options[0] ?? [],
    });
    const pids = workers === '1' ? [notigraph.pid] : [notigraph.pid, ...(await findWorkers(notigraph, 2))];
    for (const pid of pids) {
      process.kill(pid, 'SIGUSR1');
    }
    expect(await sendOperation(notigraph.url, GROUPS)).toHaveProperty('data.notificationGroups');
    const { code, stderr } = await notigraph.stop('SIGTERM');
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('Debugger listening')]);
  });
});

it('prints the version of the package, and its help', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  expect(VERSION).toBe(version);
  const printed = (stdout: string) => ({ code: 0, signal: null, stdout, stderr: '' });
  const help = writeHelp(undefined, COMMANDS);
  for (const [args, expected] of [
    [['--version'], printed(`${version}\n`)],
    [['--help'], printed(help)],
    [['help', 'serve'], printed(writeHelp(COMMANDS[0], COMMANDS))],
  ] as const) {
    expect(await runNotigraph({ args })).toEqual(expected);
  }
  expect(await runCommand({ args: ['help', 'foo'] })).toEqual(
    failure(2, 'Unknown command "foo". See notigraph --help.\n'),
  );
});

it('in production, nothing is printed for a person at a terminal, and an unreachable upstream is a warning', async () => {
  const unreachable = await listen(createServer());
  await unreachable.close();
  const env = { NODE_ENV: 'production' };
  await using notigraph = await startNotigraph({ args: ['--upstream', unreachable.url], env });
  await notigraph.printed('stderr', /^The upstream is unreachable \(ECONNREFUSED\)\. .+\.\n$/);
  expect(await sendOperation(notigraph.url, '{ __typename }')).toEqual({ data: { __typename: 'Query' } });
  const answer = await sendOperation(notigraph.url, GROUPS);
  expect(answer.errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);

  const { stdout, stderr } = await notigraph.stop('SIGTERM');
  expect(expectStarted(stdout, [], [new URL(unreachable.url).host])).toEqual([]);
  expect(stdout).toContain(`Upstream   ${unreachable.url}/\n`);
  expect(stdout).toMatch(/\nShutting down: finishing in-flight requests\.\n(?:\{.+\n)*$/);
  expect(stdout + stderr).not.toMatch(/curl|ctrl|try it/i);
});

it('a nearly idle process that gets no CPU time sheds nothing', async () => {
  const env = { NOTIGRAPH_MAX_EVENT_LOOP_DELAY_MS: '200' };
  await using notigraph = await startNotigraph({ args: ['--sandbox', ':memory:'], env });
  const send = () => sendOperation(notigraph.url, '{ __typename }');
  const readiness = async () => (await fetch(new URL('/readyz', notigraph.url))).status;
  const results: unknown[] = [];
  for (let stop = 0; stop < 8; stop += 1) {
    process.kill(notigraph.pid, 'SIGSTOP');
    await sleep(1_000);
    process.kill(notigraph.pid, 'SIGCONT');
    results.push(await send(), await send());
    results.push(await readiness());
  }
  const result = { data: { __typename: 'Query' } };
  expect(results).toEqual(Array.from({ length: 8 }, () => [result, result, 200]).flat());
});

describe('a process that is stopped', () => {
  it('serves GraphiQL while it sheds load, finishes in-flight requests on SIGINT, and accepts no new ones', async () => {
    await using upstream = await startService(() => ({ body: { data: [] } }));
    const held = upstream.hold(undefined, Infinity);
    const env = { NOTIGRAPH_MAX_IN_FLIGHT_REQUESTS: '1' };
    await using notigraph = await startNotigraph({ env, args: ['--upstream', upstream.url] });
    const answer = sendOperation(notigraph.url, GROUPS);
    await held.arrived;
    expect(await sendOperation(notigraph.url, GROUPS)).toMatchObject({
      errors: [{ extensions: { code: 'OVERLOADED' } }],
    });
    const page = await fetch(notigraph.url, { headers: { accept: 'text/html' } });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>Notigraph</title>')]);

    const ended = notigraph.stop('SIGINT');
    await notigraph.printed('stdout', /^Shutting down: .+$/m);
    for (const path of ['/readyz', '/graphql?query={__typename}']) {
      const status = await fetch(new URL(path, notigraph.url)).then(
        (response) => response.status,
        () => 'refused',
      );
      expect([503, 'refused']).toContain(status);
    }
    held.release();
    expect(await answer).toEqual({ data: { notificationGroups: [] } });
    const answeredAt = performance.now();
    expect(await ended).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(performance.now() - answeredAt).toBeLessThan(10_000); // The process does not wait for the caller's keep-alive connection.
  });

  it.runIf(existsSync('/dev/full'))('finishes in-flight requests although its output is on a full disk', async () => {
    await using upstream = await startService(() => ({ body: { data: [] } }));
    const held = upstream.hold(undefined, Infinity);
    const free = await listen(createServer());
    await free.close();
    const { origin, port } = new URL(free.url);
    const child = spawn(process.execPath, [MAIN, '--port', port, '--upstream', upstream.url], {
      cwd: tmpdir(),
      env: CHILD_ENV,
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'close');
    const [stderr] = await once(child.stderr ?? child, 'data');
    expect(String(stderr)).toBe("The output can't be written, because the disk is full (ENOSPC).\n");

    const answer = sendOperation(`${origin}/graphql`, GROUPS);
    await held.arrived;
    child.kill('SIGTERM');
    await expect
      .poll(() =>
        fetch(`${origin}/readyz`).then(
          ({ status }) => status,
          () => 'refused',
        ),
      )
      .not.toBe(200);
    held.release();
    expect(await answer).toEqual({ data: { notificationGroups: [] } });
    expect(await ended).toEqual([0, null]);
  });

  it.each(['1', '2'])('exits immediately on a second signal, with %s workers', async (workers) => {
    await using upstream = await startService(() => ({ body: { data: [] } }));
    const held = upstream.hold(undefined, Infinity);
    await using notigraph = await startNotigraph({ args: ['--upstream', upstream.url, '--workers', workers] });
    const answer = sendOperation(notigraph.url, GROUPS);
    answer.catch(() => {}); // The request is cut off.
    await held.arrived;
    const ended = notigraph.stop('SIGTERM');
    await notigraph.printed('stdout', /^Shutting down: .+$/m);
    await notigraph.stop('SIGTERM');
    expect(await ended).toMatchObject({ code: 1, signal: null }); // The output ends only after all processes have exited.
    await expect(answer).rejects.toThrow();
  });
});
