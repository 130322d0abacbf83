import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runCommand, startServing } from '../../../test/support/command.ts';
import { problemsOf as findProblems, loadFrom } from '../../../test/support/configuration.ts';
import { sendOperation } from '../../../test/support/send-operation.ts';
import { SANDBOX_KEYS, startSandbox } from '../../sandbox/src/sandbox.ts';
import { COMMANDS } from '../src/commands/index.ts';
import { type Config, VARIABLE_NAMES } from '../src/config/load-config.ts';
import { optionOf, variableOf } from '../src/config/settings.ts';
import { writeHelp } from '../src/help.ts';

const UPSTREAM = 'https://notifications.example.com/prefix';

const load = (env: Record<string, string>, ...argv: string[]): Config => loadFrom({ env, argv });
const problemsOf = (env: Record<string, string>, ...argv: string[]) => findProblems({ env, argv });

/** Returns where a configuration sends calls. */
const targetOf = ({ upstream, sandbox }: Config) => ({ upstream, sandbox });
const SERVICE = { upstream: UPSTREAM };
const SANDBOX = { sandbox: '.notigraph/sandbox.db' };

describe('the configuration', () => {
  it('serves the sandbox with GraphiQL on the loopback interface by default', () => {
    expect(load({})).toMatchObject({
      host: '127.0.0.1',
      port: 4000,
      workers: 1,
      sandbox: '.notigraph/sandbox.db',
      graphiql: true,
    });
  });

  it('is read from the environment, where an empty variable counts as unset, and from options in either notation', () => {
    const env = { NOTIGRAPH_UPSTREAM: UPSTREAM, NOTIGRAPH_SANDBOX: '', NOTIGRAPH_PORT: '0', NOTIGRAPH_GRAPHIQL: 'off' };
    expect(load(env)).toMatchObject({ port: 0, upstream: UPSTREAM, graphiql: false });
    expect(load({ NOTIGRAPH_PORT: '', NOTIGRAPH_HOST: '', NOTIGRAPH_GRAPHIQL: '' })).toEqual(load({}));
    const more = {
      NOTIGRAPH_HOSTS: 'a.example, b.example',
      NOTIGRAPH_RELOAD_SECONDS: '0.5',
      NOTIGRAPH_LOG_SECRET: 'x'.repeat(16),
    };
    expect(load(more)).toMatchObject({
      hosts: ['a.example', 'b.example'],
      reloadSeconds: 0.5,
      logSecret: more.NOTIGRAPH_LOG_SECRET,
    });
    const other = [
      '--upstream',
      'https://other.example.com',
      '--port=65535',
      '--host',
      'gateway.internal',
      '--graphiql=on',
    ];
    expect(load(env, ...other)).toMatchObject({
      host: 'gateway.internal',
      port: 65_535,
      upstream: 'https://other.example.com/',
      graphiql: true,
    });
  });

  it('ignores a variable that an option overrides', () => {
    expect(load({ NOTIGRAPH_PORT: 'web' }, '--port', '1').port).toBe(1);
    expect(targetOf(load({ NOTIGRAPH_SANDBOX: '1' }, '--upstream', UPSTREAM))).toEqual(SERVICE);
    expect(targetOf(load({ NOTIGRAPH_UPSTREAM: 'nonsense' }, '--sandbox'))).toEqual(SANDBOX);
  });

  it.each([
    ['--sandbox', '.notigraph/sandbox.db'],
    ['--sandbox --port 1', '.notigraph/sandbox.db'],
    ['--sandbox data/mine.db', 'data/mine.db'],
    ['--sandbox=data/mine.db', 'data/mine.db'],
    ['--sandbox :memory:', ':memory:'],
  ])('keeps the data of %s in %s', (argv, file) => {
    expect(load({}, ...argv.split(' ')).sandbox).toBe(file);
  });

  it('turns the sandbox on or off with words in NOTIGRAPH_SANDBOX, which are not taken for files', () => {
    expect(targetOf(load({ NODE_ENV: 'production', NOTIGRAPH_SANDBOX: '1' }))).toEqual(SANDBOX);
    expect(targetOf(load({ NODE_ENV: 'production', NOTIGRAPH_SANDBOX: 'on' }))).toEqual(SANDBOX);
    expect(targetOf(load({ NOTIGRAPH_UPSTREAM: UPSTREAM, NOTIGRAPH_SANDBOX: 'off' }))).toEqual(SERVICE);
  });

  it('reports all problems together, with the names of the options and variables', () => {
    const env = { NOTIGRAPH_UPSTREAM: 'nonsense', NOTIGRAPH_SANDBOX: '1', NOTIGRAPH_GRAPHIQL: 'perhaps' };
    expect(problemsOf(env, '--port', '65536', '--colour', 'blue', '--host')).toMatchInlineSnapshot(`
      [
        "Unknown option "--colour". See notigraph serve --help.",
        "--host requires a value.",
        "NOTIGRAPH_UPSTREAM (environment) must be a URL such as https://notifications.example.com.",
        "NOTIGRAPH_GRAPHIQL (environment) must be on or off (true or false).",
        "--port must be a whole number from 0 to 65535.",
        "Use either NOTIGRAPH_UPSTREAM or NOTIGRAPH_SANDBOX, not both.",
      ]
    `);
  });

  it('accepts a number of workers, or auto', () => {
    expect(load({}, '--workers', '64').workers).toBe(64);
    expect(load({ NOTIGRAPH_WORKERS: 'auto' }).workers).toBe('auto');
  });

  it.each([
    ['port', ['web', '65536', '1e3', '80 '], 'must be a whole number from 0 to 65535.'],
    ['workers', ['0', '65', '1.5', '2x', 'AUTO'], 'must be a whole number from 1 to 64, or auto.'],
  ])('rejects values of %s', (name, values, problem) => {
    for (const value of values) {
      expect(problemsOf({}, `--${name}=${value}`)).toEqual([`--${name} ${problem}`]);
    }
  });

  it('rejects variables that only a primary process may set for its workers', () => {
    const env = { NOTIGRAPH_WORKER_ID: '1', NOTIGRAPH_WORKER_ADDRESS: '1' };
    expect(problemsOf(env)).toEqual([
      expect.stringContaining('NOTIGRAPH_WORKER_ID'),
      expect.stringContaining('NOTIGRAPH_WORKER_ADDRESS'),
    ]);
  });

  it.each([
    ['https://admin:hunter2@example.com', 'user name or password'],
    ['https://example.com/?key=hunter2', 'query or fragment'],
    ['https://example.com/hunter2/v1/', 'must not end in /v1'],
    ['ftp://example.com/hunter2', 'must begin with http:// or https://'],
    ['hunter2', 'must be a URL such as'],
  ])('rejects the upstream %s and does not quote it', (upstream, reason) => {
    const problems = problemsOf({}, '--upstream', upstream);
    expect(problems).toEqual([expect.stringMatching(/^--upstream [^\n]+\.$/)]);
    expect(problems[0]).toContain(reason);
    expect(problems[0]).not.toContain('hunter2');
  });
});

describe('the configuration for production', () => {
  it('requires an upstream, unless the sandbox is turned on', () => {
    expect(problemsOf({ NODE_ENV: 'production' })).toEqual([
      expect.stringMatching(/^No upstream is configured\. .+\.$/),
    ]);
    expect(targetOf(load({ NODE_ENV: 'production' }, '--sandbox'))).toEqual(SANDBOX);
    expect(targetOf(load({ NODE_ENV: 'production', NOTIGRAPH_UPSTREAM: UPSTREAM }))).toEqual(SERVICE);
    expect(targetOf(load({ NODE_ENV: 'development' }))).toEqual(SANDBOX);
  });

  it('turns GraphiQL off by default', () => {
    const env = { NODE_ENV: 'production', NOTIGRAPH_UPSTREAM: UPSTREAM };
    expect(load(env).graphiql).toBe(false);
    expect(load(env, '--graphiql', 'on').graphiql).toBe(true);
    expect(load({ ...env, NOTIGRAPH_GRAPHIQL: 'on' }).graphiql).toBe(true);
  });
});

describe('the settings that have variables', () => {
  const page = readFileSync(new URL('../../../docs/settings.md', import.meta.url), 'utf8');
  const groups = page.split(/^(?=#+ )/m).filter((part) => part.startsWith('## '));
  const documented = groups.flatMap((part) => [
    ...part.matchAll(/^\| `([a-z]\w+)`((?:\\\||[^|])*) \| ((?:\\\||[^|])*) \|/gm),
  ]);

  it('are the ones in the tables of docs/settings.md, and their names follow from its rule', () => {
    expect(documented.map(([, name]) => name).toSorted()).toEqual(VARIABLE_NAMES.toSorted());
    expect(page).toContain('`maxUpstreamCalls` is `NOTIGRAPH_MAX_UPSTREAM_CALLS`');
    expect(page).toContain('`logLevel` is `--log-level`');
    expect(variableOf('maxUpstreamCalls')).toBe('NOTIGRAPH_MAX_UPSTREAM_CALLS');
    for (const [, name = '', options] of documented) {
      const words = name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
      expect(variableOf(name)).toBe(`NOTIGRAPH_${words.join('_').toUpperCase()}`);
      expect(problemsOf({ [`NOTIGRAPH_${words.join('_').toUpperCase()}`]: '?' }).join()).not.toContain('is unknown');
      const isOption = COMMANDS[0].options.some((option) => option.name === words.join('-'));
      expect([name, /--[\w-]+/.exec(options ?? '')?.[0]]).toEqual([
        name,
        isOption ? `--${words.join('-')}` : undefined,
      ]);
    }
  });

  it('have the defaults of docs/settings.md', () => {
    const config: Record<string, unknown> = { ...load({}) };
    const numbers = documented.filter(([, , , value = '']) => /^`\d+`$/.test(value));
    expect(numbers.length).toBeGreaterThan(20);
    for (const [, name = '', , value = ''] of numbers) {
      expect([name, config[name]]).toEqual([name, Number(value.slice(1, -1))]);
    }
    expect(load({ NOTIGRAPH_MAX_RETRIES: '0', NOTIGRAPH_DRAIN_TIMEOUT_MS: '5' })).toMatchObject({
      maxRetries: 0,
      drainTimeoutMs: 5,
    });
  });

  it('are checked, and so are their names', () => {
    const env = {
      NOTIGRAPH_MAX_DEPTH: '0',
      NOTIGRAPH_MAX_RETRIES: '1.5',
      NOTIGRAPH_INTROSPECTION: 'yes',
      NOTIGRAPH_HOSTS: 'https://app.example.com/',
      NOTIGRAPH_ISOLATE_CONNECTIONS: 'on',
      NOTIGRAPH_LOG_SECRET: 'short',
      NOTIGRAPH_MAX_RETRYS: '1',
      NOTIGRAPH_MAX_IN_FLIGHT: '1',
      NOTIGRAPH_AUDITING: '1',
    };
    expect(problemsOf(env).toSorted()).toEqual([
      'NOTIGRAPH_AUDITING (environment) is unknown. See docs/settings.md.',
      'NOTIGRAPH_HOSTS.0 (environment) must be a host name such as eu.example.com, without a port.',
      'NOTIGRAPH_INTROSPECTION (environment) must be on or off (true or false).',
      'NOTIGRAPH_ISOLATE_CONNECTIONS (environment) must be none or credential.',
      'NOTIGRAPH_LOG_SECRET (environment) must have at least 16 characters.',
      'NOTIGRAPH_MAX_DEPTH (environment) must be a whole number from 1 to 1000.',
      'NOTIGRAPH_MAX_IN_FLIGHT (environment) is unknown. See docs/settings.md.',
      'NOTIGRAPH_MAX_RETRIES (environment) must be a whole number from 0 to 10.',
      'NOTIGRAPH_MAX_RETRYS (environment) is unknown (did you mean "NOTIGRAPH_MAX_RETRIES"?). See docs/settings.md.',
    ]);
  });
});

describe('variables that Kubernetes sets for Services whose names begin with "notigraph"', () => {
  const ofService = (prefix: string) => ({
    [`${prefix}_SERVICE_HOST`]: '10.96.0.7',
    [`${prefix}_SERVICE_PORT`]: '80',
    [`${prefix}_SERVICE_PORT_HTTP`]: '80',
    [`${prefix}_PORT`]: 'tcp://10.96.0.7:80',
    ...Object.fromEntries(
      ['TCP', 'UDP', 'SCTP'].flatMap((protocol) => [
        [`${prefix}_PORT_80_${protocol}`, `${protocol.toLowerCase()}://10.96.0.7:80`],
        [`${prefix}_PORT_80_${protocol}_PROTO`, protocol.toLowerCase()],
        [`${prefix}_PORT_80_${protocol}_PORT`, '80'],
        [`${prefix}_PORT_80_${protocol}_ADDR`, '10.96.0.7'],
      ]),
    ),
  });
  const env = { ...ofService('NOTIGRAPH'), ...ofService('NOTIGRAPH_ADMIN'), ...ofService('NOTIGRAPH_EU_1_CANARY') };

  it('are left out, so that .env and the file apply', () => {
    expect(load(env)).toEqual(load({}));
    const files = { '.env': 'NOTIGRAPH_PORT=4003', 'notigraph.config.yaml': 'adminPort: 4004' };
    expect(loadFrom({ env, files })).toMatchObject({ port: 4003, adminPort: 4004 });
  });

  it.each([
    ['NOTIGRAPH_PORT', 'tcp'],
    ['NOTIGRAPH_PORT', 'http://10.96.0.7:80'],
    ['NOTIGRAPH_ADMIN_PORT', ''.padEnd(3, '1 ')],
    ['NOTIGRAPH_SERVICE', '10.96.0.7'],
    ['NOTIGRAPH_SERVICE_NAME', 'a'],
    ['NOTIGRAPH_MAX_PORT', '80'],
    ['NOTIGRAPH_PORT_80', 'tcp://10.96.0.7:80'],
  ])('have a form that %s=%s does not have', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringContaining(`${name} (environment) `)]);
  });

  it('disturb no command', async () => {
    await using sandbox = await startSandbox();
    const config = { ...env, NOTIGRAPH_UPSTREAM: sandbox.url };
    for (const [args, expected] of [
      [['check'], { code: 0 }],
      [['schema', 'print'], { code: 0, stderr: '' }],
      [['doctor'], { code: 0 }],
      [['mcp'], { code: 0 }],
      [['subscribers', 'import', 'none.csv'], { code: 2, stderr: "The file none.csv doesn't exist.\n" }],
    ] as const) {
      const keys = Object.fromEntries(
        ['DOCTOR', 'MCP', 'IMPORT'].map((name) => [`NOTIGRAPH_${name}_KEY`, SANDBOX_KEYS.development]),
      );
      expect([args, await runCommand({ args, env: { ...config, ...keys } })]).toEqual([
        args,
        expect.objectContaining(expected),
      ]);
    }
    await using notigraph = await startServing({ env: config });
    expect(await sendOperation(notigraph.url, '{ __typename }')).toEqual({ data: { __typename: 'Query' } });
  });
});

describe('a suggestion', () => {
  const suggestionFor = (problems: readonly string[]) => /\(did you mean "(.*)"\?\)/.exec(problems.join())?.[1];
  const forVariable = (name: string) => suggestionFor(problemsOf({ [name]: '1' }));
  const forSetting = (name: string) =>
    suggestionFor(findProblems({ files: { 'notigraph.config.yaml': `${name}: 1` } }));
  const forOption = (name: string) => suggestionFor(problemsOf({}, name));

  it.each([
    ['connectTimeoutMs', 'NOTIGRAPH_CONNECT_TIMEOUT_MS', '--connect-timeout'],
    ['maxDirectives', 'NOTIGRAPH_MAX_DIRECTIVES', '--max-directives'],
    ['headersTimeoutMs', 'NOTIGRAPH_HEADERS_TIMEOUT_MS', '--level'],
    ['maxAliases', 'NOTIGRAPH_MAX_ALIASES', '--ports-file'],
    ['maxRequests', 'NOTIGRAPH_MAX_REQUESTS', '--logging'],
    ['timeout', 'NOTIGRAPH_LOG', '--admin'],
    ['operationTimeoutSec', 'NOTIGRAPH_OPERATION_TIMEOUT_SEC', '--log-format-json'],
    ['proto', 'NOTIGRAPH_TEXT', '--mode'],
    ['a', 'NOTIGRAPH_A', '--ab'],
  ])('is not made for names that can mean something else: %s, %s, %s', (setting, variable, option) => {
    expect([forSetting(setting), forVariable(variable), forOption(option)]).toEqual([undefined, undefined, undefined]);
  });

  it('is made for every name with one or two wrong letters, in another case or with other separators', () => {
    const flags = COMMANDS[0].options.map((option) => option.name);
    for (const name of VARIABLE_NAMES) {
      const [words, dashed] = [variableOf(name).replace('NOTIGRAPH_', ''), optionOf(name)];
      const swapped = words.replace(/^(.)(.)/, '$2$1');
      for (const wrong of [`_${words}`, name, words.slice(1), words.charAt(0) + words, swapped]) {
        expect([wrong, forVariable(`NOTIGRAPH_${wrong}`)]).toEqual([wrong, variableOf(name)]);
      }
      for (const wrong of [`${name}_`, words, dashed.toUpperCase(), name.charAt(0) + name, name.slice(1)]) {
        expect([wrong, forSetting(wrong)]).toEqual([wrong, name]);
      }
      for (const wrong of flags.includes(dashed) ? [dashed.toUpperCase(), dashed.slice(1), `${dashed}-`] : []) {
        expect([wrong, forOption(`--${wrong}`)]).toEqual([wrong, `--${dashed}`]);
      }
    }
  });
});

describe('the help', () => {
  it('of each command lists its options in lines that fit into a terminal', () => {
    for (const command of COMMANDS) {
      const text = writeHelp(command, COMMANDS);
      for (const { name, short, value } of command.options) {
        expect(text).toContain(`  ${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`);
      }
      expect(text).toContain('  -h, --help  ');
      expect(text).toContain('  -v, --version  ');
      expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    }
  });

  it('of notigraph lists every command with a summary of one line, four examples, and no settings', () => {
    const text = writeHelp(undefined, COMMANDS);
    for (const { name, summary } of COMMANDS) {
      expect(text).toContain(`\n  ${name.padEnd(22)}${summary}\n`);
    }
    expect(text.match(/^ {2}notigraph\b/gm)).toHaveLength(4);
    expect(text.match(/^ +(?:-\w, )?--[\w-]+/gm)).toEqual(['  -h, --help', '  -v, --version']);
    expect(text).not.toContain('NOTIGRAPH_');
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('of notigraph serve lists the variable of every option', () => {
    const [first] = COMMANDS;
    const text = writeHelp(first, COMMANDS);
    for (const { name } of first.options) {
      expect(text).toContain(`NOTIGRAPH_${name.toUpperCase().replace('-', '_')}\n`);
    }
  });
});
