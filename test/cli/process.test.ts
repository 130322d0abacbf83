import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, readFileSync } from 'node:fs';
import { rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { COMMANDS } from '../../src/cli/commands/index.ts';
import { writeHelp } from '../../src/cli/help.ts';
import { VERSION } from '../../src/lib/version.ts';
import { SANDBOX_KEYS } from '../../src/sandbox/sandbox.ts';
import { CHILD_ENV } from '../support/child-env.ts';
import { listen } from '../support/listen.ts';
import { MAIN, runNotigraph, startNotigraph } from '../support/process.ts';
import { copyProject } from '../support/project-copy.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { sendOperation } from '../support/send-operation.ts';
import { startService } from '../support/service.ts';

const GROUPS = '{ notificationGroups { id name } }';

const CREATE_FEED = `mutation ($name: String!) {
  createFeed(input: { name: $name }) {
    ... on CreateFeedSuccess { feed { name } }
    ... on ConflictError { reason }
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

/** Runs the commands that the banner prints in a shell, and returns the response. */
function runExample(output: string): unknown {
  const [, commands = ''] = /^Try it[^\n]*:\n\n((?: {2}[^\n]+\n)+)\n/m.exec(output) ?? [];
  return JSON.parse(spawnSync('sh', ['-ec', commands], { encoding: 'utf8' }).stdout);
}

/** Working directory of the processes of one test. */
let cwd: string;

beforeEach(async () => {
  const folder = await createTemporaryFolder();
  cwd = folder.path();
  onTestFinished(() => folder[Symbol.asyncDispose]());
});

describe('the printed banner', () => {
  it('names the endpoint, GraphiQL and the data file in the working directory', async () => {
    await using notigraph = await startNotigraph({ cwd });
    expect(notigraph.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/graphql$/);
    const output = notigraph.output();
    expect(output).toContain(`Notigraph ${VERSION}\n`);
    expect(output).toContain(`GraphiQL   ${notigraph.url} in a browser\n`);
    expect(output).toContain('Upstream   built-in sandbox, data is kept in .notigraph/sandbox.db\n');
    expect(readFileSync(`${cwd}/.notigraph/sandbox.db`).subarray(0, 6).toString()).toBe('SQLite');
  });

  it('names the upstream, says that callers send the key, and names what is off', async () => {
    await using upstream = await startService(() => ({ status: 401 }));
    const args = ['--upstream', upstream.url, '--graphiql', 'off'];
    const tools = '{"mcp":{"manifest":{"a":"query Groups { notificationGroups { id } }"}}}';
    const env = { NOTIGRAPH_METRICS: 'off', NOTIGRAPH_CACHE: 'on', NOTIGRAPH_CONFIG_TEXT: tools };
    await using notigraph = await startNotigraph({ cwd, args, env });
    const output = notigraph.output();
    expect(output).toContain(`Upstream   ${upstream.url}/\n`);
    expect(output).toContain(`Tools      ${new URL('/mcp', notigraph.url).href} for AI agents\n`);
    expect(output).toContain('Cache      in memory\n');
    expect(output).toContain('Workers    one process\n'); // The cache in memory requires it.
    expect(output).toContain('GraphiQL   off (--graphiql on)\n');
    expect(output).toContain('Metrics    off (NOTIGRAPH_METRICS=on)\n');
    expect(output).toContain("-H 'Authorization: ApiKey <your key>'");
    expect(output).not.toContain(SANDBOX_KEYS.development);
  });

  it('names the configuration, workers, clients and metrics', async () => {
    await writeFile(`${cwd}/gateway.yaml`, BROWSER_CONFIG);
    await using notigraph = await startNotigraph({
      cwd,
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
      Config: 'gateway.yaml',
      Workers: '2 processes',
      Clients: 'browsers with a token',
      Metrics: `${origin}/metrics`,
      Health: `${origin}/livez, ${origin}/readyz`,
    });
    expect(notigraph.output()).toContain('\nTo try it, send a query with a token: see docs/frontend.md.\n');
  });

  it('prints a command that works with the sandbox', async () => {
    await using notigraph = await startNotigraph({ cwd, args: ['--sandbox', ':memory:'] });
    expect(runExample(notigraph.output())).toMatchObject({ data: { notificationGroups: { length: 4 } } });
  });

  it('says how to try it with trusted documents only', async () => {
    const env = {
      NOTIGRAPH_CONFIG_TEXT:
        '{ clients: { server: { trustedDocuments: enforce } }, trustedDocuments: { manifests: [documents.json] } }',
    };
    await writeFile(
      `${cwd}/documents.json`,
      JSON.stringify({ a: 'query ($id: ID!) { workflow(idOrIdentifier: $id) { id } }' }),
    );
    await using notigraph = await startNotigraph({ cwd, args: ['--sandbox', ':memory:'], env });
    expect(notigraph.output()).toContain('\nTo try it, send the id of a trusted document as "documentId", ');
  });
});

describe('a process whose output is closed', () => {
  it('prints no stack trace if it only prints something', async () => {
    for (const args of ['--help', '--version', 'completion zsh', '--nonsense 2>&1']) {
      const { stdout, stderr } = spawnSync(
        'bash',
        ['--norc', '-c', `{ "$0" "$1" ${args}; echo "exit $?" >&2; } | true`, process.execPath, MAIN],
        {
          cwd,
          env: CHILD_ENV,
          encoding: 'utf8',
        },
      );
      expect([args, stdout, stderr]).toEqual([args, '', args.startsWith('--nonsense') ? 'exit 2\n' : 'exit 0\n']);
    }
  });

  it('keeps serving, without its log', async () => {
    await using notigraph = await startNotigraph({ cwd, args: ['--sandbox', ':memory:'] });
    notigraph.closeOutput();
    for (let i = 0; i < 3; i += 1) {
      expect(await sendOperation(notigraph.url, '{ __typename }')).toEqual({ data: { __typename: 'Query' } });
    }
    expect(await notigraph.stop('SIGTERM')).toMatchObject({ code: 0, signal: null });
  });
});

it.each([['1'], ['2']])('reports an error that nobody expects in one line, with %s workers', async (workers) => {
  const fault = `
    import http from 'node:http';
    import { syncBuiltinESMExports } from 'node:module';
    http.createServer = () => { throw new TypeError('It is broken\\nin two lines'); };
    setInterval(() => {}, 1000);
    syncBuiltinESMExports();`;
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}` };
  const args = ['--port', '0', '--upstream', 'http://127.0.0.1:9', '--workers', workers];
  expect(await runNotigraph({ cwd, args, env })).toEqual({
    code: 1,
    signal: null,
    stdout: '',
    stderr: expect.stringMatching(/^Unexpected error: TypeError: It is broken \(.+:\d+:\d+\)\n$/),
  });
});

describe('an incomplete installation', () => {
  const args = ['--port', '0', '--sandbox', ':memory:', '--graphiql', 'on'];

  it('without the operations of GraphiQL is reported by the start', async () => {
    await using copy = await copyProject();
    await rm(copy.path('schema', 'operations'), { recursive: true });
    const main = copy.path('bin', 'notigraph.js');
    const reason = `the installation is incomplete, because ${copy.path('schema', 'operations')}/ can't be read (ENOENT). Install Notigraph again.\n`;
    expect(await runNotigraph({ cwd, main, args })).toEqual({
      code: 2,
      signal: null,
      stdout: '',
      stderr: `Notigraph can't start: ${reason}`,
    });
  });

  it('without dependencies names the command that installs them', async () => {
    await using copy = await copyProject();
    await rm(copy.path('node_modules'));
    expect(await runNotigraph({ cwd, main: copy.path('bin', 'notigraph.js'), args })).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr: expect.stringMatching(/^Cannot find package '.+' imported from .+\. Run "npm ci" first\.\n$/),
    });
  });
});

describe('the file .env', () => {
  it('is read from the working directory; the environment overrides it, and an option overrides both', async () => {
    await writeFile(`${cwd}/.env`, 'NOTIGRAPH_SANDBOX=of-the-file.db\nNOTIGRAPH_GRAPHIQL="off" # not here\n');
    const env = { NOTIGRAPH_SANDBOX: 'of-the-environment.db' };
    for (const [options, file] of [
      [{}, 'of-the-file.db'],
      [{ env }, 'of-the-environment.db'],
      [{ env, args: ['--sandbox', 'of-the-option.db'] }, 'of-the-option.db'],
    ] as const) {
      await using notigraph = await startNotigraph({ cwd, ...options });
      expect(notigraph.output()).toContain(`data is kept in ${file}\n`);
      expect(notigraph.output()).toContain('GraphiQL   off');
    }
  });

  it('stops the start if it cannot be read', async () => {
    await symlink('.env', `${cwd}/.env`);
    expect(await runNotigraph({ cwd, args: ['--port', '0'] })).toEqual({
      code: 2,
      signal: null,
      stdout: '',
      stderr: 'The file .env is a symbolic link that leads back to itself.\n',
    });
  });
});

describe('a process that cannot start', () => {
  it('says in one sentence that its port is in use', async () => {
    const other = await listen(createServer());
    onTestFinished(() => other.close());
    const { port } = new URL(other.url);
    const ending = await runNotigraph({ cwd, args: ['--port', port, '--sandbox', ':memory:'] });
    expect(ending).toMatchObject({ code: 1, stdout: '' });
    expect(ending.stderr).toMatch(new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is already in use\\. [^\\n]+\\.\\n$`));
  });

  it('says in one sentence that its host is not an address of the machine', async () => {
    const args = ['--port', '0', '--host', '192.0.2.1', '--sandbox', ':memory:'];
    const ending = await runNotigraph({ cwd, args });
    expect(ending).toMatchObject({ code: 1, stdout: '' });
    expect(ending.stderr).toMatch(/^This machine has no address 192\.0\.2\.1\. [^\n]+\.\n$/);
  });

  it('says in one sentence that its database file is broken', async () => {
    await writeFile(`${cwd}/broken.db`, 'This is no database. '.repeat(1000));
    expect(await runNotigraph({ cwd, args: ['--port', '0', '--sandbox', 'broken.db'] })).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr: 'broken.db is not a SQLite database.\n',
    });
  });

  it('reports all problems of its configuration', async () => {
    const env = { NOTIGRAPH_UPSTREAM: 'ftp://example.com', NOTIGRAPH_GRAPHIQL: 'perhaps' };
    const ending = await runNotigraph({ cwd, env, args: ['--port', 'web', '--nonsense'] });
    expect(ending).toMatchObject({ code: 2, stdout: '' });
    expect(ending.stderr.split('\n')).toEqual([
      expect.stringContaining('--nonsense'),
      expect.stringContaining('NOTIGRAPH_UPSTREAM'),
      expect.stringContaining('NOTIGRAPH_GRAPHIQL'),
      expect.stringContaining('--port'),
      '',
    ]);
  });

  it('requires an upstream in production', async () => {
    const ending = await runNotigraph({ cwd, env: { NODE_ENV: 'production' } });
    expect(ending).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('No upstream is configured') });
  });
});

describe('a process with an informational option', () => {
  it('prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(VERSION).toBe(version);
    const ending = await runNotigraph({ cwd, args: ['--version'] });
    expect(ending).toEqual({ code: 0, signal: null, stdout: `${version}\n`, stderr: '' });
  });

  it('prints its options', async () => {
    const ending = await runNotigraph({ cwd, args: ['--help'] });
    expect(ending).toEqual({ code: 0, signal: null, stdout: writeHelp(COMMANDS[0], COMMANDS), stderr: '' });
  });
});

describe('a process whose upstream is unreachable', () => {
  it('prints a warning and serves', async () => {
    const unreachable = await listen(createServer());
    await unreachable.close();
    await using notigraph = await startNotigraph({ cwd, args: ['--upstream', unreachable.url] });
    await notigraph.printed('stderr', /^The upstream is unreachable \(ECONNREFUSED\)\. .+\.\n$/);

    expect(await sendOperation(notigraph.url, '{ __typename }')).toEqual({ data: { __typename: 'Query' } });
    const answer = await sendOperation(notigraph.url, GROUPS);
    expect(answer.errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
  });
});

it.each([[], ['--workers', '2']])('in production, nothing is printed for a person at a terminal', async (...args) => {
  await using upstream = await startService(() => ({ status: 401 }));
  const env = { NODE_ENV: 'production' };
  await using notigraph = await startNotigraph({ cwd, args: ['--upstream', upstream.url, ...args], env });
  const { stdout, stderr } = await notigraph.stop('SIGTERM');
  expect(stdout).toContain(`Upstream   ${upstream.url}/\n`);
  expect(stdout).toMatch(/\nShutting down: finishing in-flight requests\.\n$/);
  expect(stdout + stderr).not.toMatch(/curl|ctrl|try it/i);
});

describe('a process that is stopped', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'finishes in-flight requests on %s and accepts no new ones',
    async (signal) => {
      await using upstream = await startService(() => ({ body: { data: [] } }));
      const held = upstream.hold(undefined, Infinity);
      await using notigraph = await startNotigraph({ cwd, args: ['--upstream', upstream.url] });
      const answer = sendOperation(notigraph.url, GROUPS);
      await held.arrived;
      const ended = notigraph.stop(signal);
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
    },
  );

  it('serves GraphiQL while it sheds load', async () => {
    await using upstream = await startService(() => ({ body: { data: [] } }));
    const held = upstream.hold(undefined, Infinity);
    const env = { NOTIGRAPH_MAX_IN_FLIGHT_REQUESTS: '1' };
    await using notigraph = await startNotigraph({ cwd, env, args: ['--upstream', upstream.url] });
    const answer = sendOperation(notigraph.url, GROUPS);
    await held.arrived;
    expect(await sendOperation(notigraph.url, GROUPS)).toMatchObject({
      errors: [{ extensions: { code: 'OVERLOADED' } }],
    });
    const page = await fetch(notigraph.url, { headers: { accept: 'text/html' } });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>Notigraph</title>')]);
    held.release();
    await answer;
  });

  it.runIf(existsSync('/dev/full'))('finishes in-flight requests although its output is on a full disk', async () => {
    await using upstream = await startService(() => ({ body: { data: [] } }));
    const held = upstream.hold(undefined, Infinity);
    const free = await listen(createServer());
    await free.close();
    const { origin, port } = new URL(free.url);
    const child = spawn(process.execPath, [MAIN, '--port', port, '--upstream', upstream.url], {
      cwd,
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
    expect(await ended).toEqual([1, null]);
  });

  it('exits immediately on a second signal', async () => {
    await using upstream = await startService(() => ({ body: { data: [] } }));
    const held = upstream.hold(undefined, Infinity);
    await using notigraph = await startNotigraph({ cwd, args: ['--upstream', upstream.url] });
    const answer = sendOperation(notigraph.url, GROUPS);
    answer.catch(() => {}); // The request is cut off.
    await held.arrived;
    const ended = notigraph.stop('SIGTERM');
    await notigraph.printed('stdout', /^Shutting down: .+$/m);
    await notigraph.stop('SIGTERM');
    expect(await ended).toMatchObject({ code: 1, signal: null });
    await expect(answer).rejects.toThrow();
  });

  it('stops cleanly even right after it has printed that it listens', async () => {
    await using upstream = await startService(() => {});
    await using notigraph = await startNotigraph({ cwd, args: ['--upstream', upstream.url] });
    expect(await notigraph.stop('SIGTERM')).toMatchObject({ code: 0, signal: null });
  });

  it('does not wait for a connection without a request', async () => {
    await using notigraph = await startNotigraph({ cwd, args: ['--sandbox', ':memory:'] });
    const connection = connect(Number(new URL(notigraph.url).port), '127.0.0.1');
    onTestFinished(() => void connection.destroy());
    await once(connection, 'connect');
    await sendOperation(notigraph.url, '{ __typename }'); // The process has accepted the connection by now.
    const stoppedAt = performance.now();
    expect(await notigraph.stop('SIGTERM')).toMatchObject({ code: 0 });
    expect(performance.now() - stoppedAt).toBeLessThan(10_000);
  });
});

describe('an API key', () => {
  it('is never printed, whatever the outcome of the request', async () => {
    const key = 'hunter2-secret-key';
    const answers = [
      { status: 401, body: { statusCode: 401, message: `no key ${key}`, error: 'Unauthorized' } },
      { status: 500, body: { statusCode: 500, message: 'failed', headers: { authorization: `ApiKey ${key}` } } },
      { status: 200, body: `ApiKey ${key} is not JSON` },
      { status: 302, headers: { location: `http://127.0.0.1:1/?key=${key}` } },
    ];
    await using upstream = await startService(({ method, path }, { end }) => {
      const [, feed] = /feeds\/(\d+)/.exec(path) ?? [];
      if (method === 'DELETE' && feed === undefined) {
        return end();
      }
      return answers[Number(feed)] ?? { status: 404 };
    });
    await using notigraph = await startNotigraph({ cwd, args: ['--upstream', upstream.url] });
    const deleteFeed = 'mutation ($id: ID!) { deleteFeed(input: { id: $id }) { __typename } }';
    for (const id of [...answers.keys(), 'cut-off']) {
      await sendOperation(notigraph.url, deleteFeed, { id: String(id) }, `ApiKey ${key}`);
    }
    for (const authorization of [`Bearer ${key}`, key, `ApiKey  ${key}`]) {
      const refused = await sendOperation(notigraph.url, GROUPS, {}, authorization);
      expect(refused.errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
    }
    expect(upstream.requests.filter(({ headers }) => headers.authorization === `ApiKey ${key}`)).toHaveLength(5);

    const { stdout, stderr } = await notigraph.stop('SIGTERM');
    expect(stdout).toContain('"level":');
    expect(stdout + stderr).not.toContain(key);
  });
});

describe('the data of the sandbox', () => {
  it('survives a process that is killed', async () => {
    const name = 'Made before the end';
    await using killed = await startNotigraph({ cwd });
    expect(await sendOperation(killed.url, CREATE_FEED, { name })).toEqual({
      data: { createFeed: { feed: { name } } },
    });
    expect(await killed.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });

    await using restarted = await startNotigraph({ cwd });
    expect(await sendOperation(restarted.url, CREATE_FEED, { name })).toEqual({
      data: { createFeed: { reason: 'ALREADY_EXISTS' } },
    });
  });
});
