// Runs the tests that ask a running service: `npm run test:service -- --help`. Exits with 1 if one fails, and says what it left out.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { arrayOf, recordOf } from '../../src/lib/is-record.ts';
import { ROOT } from '../support/docs.ts';
import { redisOnly } from '../support/redis.ts';
import { signUp } from './account.ts';
import { SERVICE } from './implementations.ts';
import { addHistory, seed } from './seed.ts';
import { type Source, startService } from './start-service.ts';

const USAGE = `Runs the tests that ask a running service.

  npm run test:service -- --clone FOLDER [--mongo mongodb://127.0.0.1:27017] [--node PROGRAM]
      starts the API and the worker from a clone in which apps/api and apps/worker are built, with a Redis
      (redis-server) and a database of their own. PROGRAM is the Node.js that runs them, by default that of the
      system. NODE_OPTIONS is passed to them.
  npm run test:service -- --url URL
      asks a service that is running, with the key of an environment for tests in NOTIGRAPH_TEST_KEY, and that
      of its production environment in NOTIGRAPH_TEST_PRODUCTION_KEY. Records stay in it.
  npm run test:service -- --url URL --sign-up
      creates an account in it first, and uses its keys.

Tests that kill the service or change its settings need --clone.
`;

/** Tests by what they need: an address, or a service that the test starts itself. */
const FILES = {
  url: ['test/upstream/contract.test.ts', 'test/service/endpoints.test.ts', 'test/service/deliveries.test.ts'],
  clone: ['test/service/settings.long.test.ts', 'test/service/faults.long.test.ts'],
};

const NEEDS_CLONE = 'it starts the service itself: use --clone';

const NO_FILE = 'there is no such file';

/** Line about one part at the end of the run. */
interface Result {
  name: string;
  /** Figures, or why it was left out. */
  text: string;
  failed: boolean;
}

const { values: options } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    clone: { type: 'string' },
    mongo: { type: 'string', default: process.env.NOTIGRAPH_TEST_MONGO ?? 'mongodb://127.0.0.1:27017' },
    node: { type: 'string', default: process.env.NOTIGRAPH_TEST_NODE },
    url: { type: 'string', default: process.env.NOTIGRAPH_TEST_UPSTREAM },
    'sign-up': { type: 'boolean', default: false },
  },
});

/** Starts one service for the tests that only ask, and then lets the others start theirs. */
async function runWithClone(clone: string): Promise<Result[]> {
  const missing = ['api', 'worker'].filter((part) => !existsSync(join(clone, 'apps', part, 'dist/main.js')));
  if (missing.length > 0 || redisOnly !== '') {
    return exit(redisOnly === '' ? `Build apps/${missing.join(' and apps/')} in ${clone} first.` : redisOnly.trim());
  }
  const { NODE_OPTIONS, ...rest } = process.env;
  const source: Source = { clone, mongo: options.mongo, node: options.node, nodeOptions: NODE_OPTIONS };
  const results: Result[] = [];
  {
    await using service = await startService({ source });
    const seeded = await seed(service);
    await using database = await service.openDatabase();
    await addHistory(database, seeded);
    results.push(...(await askService({ ...rest, ...variables(service.url, service, seeded) })));
  }
  const env = {
    ...rest,
    NOTIGRAPH_TEST_CLONE: clone,
    NOTIGRAPH_TEST_MONGO: options.mongo,
    ...(options.node !== undefined && { NOTIGRAPH_TEST_NODE: options.node }),
    ...(NODE_OPTIONS !== undefined && { NOTIGRAPH_TEST_NODE_OPTIONS: NODE_OPTIONS }),
  };
  return [...results, ...(await runTests(FILES.clone, env))];
}

async function runWithUrl(url: string): Promise<Result[]> {
  const { NOTIGRAPH_TEST_KEY: key, NOTIGRAPH_TEST_PRODUCTION_KEY: productionKey = '' } = process.env;
  const account = options['sign-up'] ? await signUp(url) : { key, productionKey };
  if (account.key === undefined) {
    return exit('Set NOTIGRAPH_TEST_KEY to a key of an environment for tests, or use --sign-up.');
  }
  const access = { url, key: account.key, productionKey: account.productionKey };
  const seeded = process.env.NOTIGRAPH_TEST_WORKFLOW ?? (await seed(access));
  return askService({ ...process.env, ...variables(url, access, seeded) });
}

/** Asks a running service everything that needs only its address. */
async function askService(env: NodeJS.ProcessEnv): Promise<Result[]> {
  return [await compare(env), ...(await runTests(FILES.url, env))];
}

const variables = (url: string, { key, productionKey }: { key: string; productionKey: string }, seeded: string) => ({
  NOTIGRAPH_TEST_UPSTREAM: url,
  NOTIGRAPH_TEST_KEY: key,
  NOTIGRAPH_TEST_WORKFLOW: seeded,
  ...(productionKey !== '' && { NOTIGRAPH_TEST_PRODUCTION_KEY: productionKey }),
});

/** Compares the sandbox with the service. */
async function compare(env: NodeJS.ProcessEnv): Promise<Result> {
  const { code, output } = await run(['test/service/compare.ts'], env);
  return { name: 'test/service/compare.ts', text: output.trim().split('\n').at(-1) ?? '', failed: code !== 0 };
}

/** Runs test files, and counts the tests of the service in them: the others run in `npm test`. */
async function runTests(files: readonly string[], env: NodeJS.ProcessEnv): Promise<Result[]> {
  const [here, missing] = [
    files.filter((file) => existsSync(join(ROOT, file))),
    files.filter((file) => !existsSync(join(ROOT, file))),
  ];
  if (here.length === 0) {
    return leaveOut(missing, NO_FILE);
  }
  await using folder = await mkdtempDisposable(join(tmpdir(), 'notigraph-service-'));
  const json = join(folder.path, 'results.json');
  const reporters = ['./test/runner/progress-reporter.ts', 'json'].map((reporter) => `--reporter=${reporter}`);
  await run(
    ['node_modules/vitest/vitest.mjs', 'run', ...here, '--maxWorkers=1', ...reporters, `--outputFile.json=${json}`],
    env,
  );
  const found = recordOf(JSON.parse(await readFile(json, 'utf8')));
  const results = arrayOf(found.testResults).map((each): Result => {
    const { name, status, message, assertionResults } = recordOf(each);
    const tests = arrayOf(assertionResults)
      .map(recordOf)
      .filter(({ fullName }) => String(fullName).includes(SERVICE));
    const count = (...statuses: string[]) => tests.filter((test) => statuses.includes(String(test.status))).length;
    const [failed, leftOut] = [count('failed'), count('skipped', 'pending', 'todo')];
    const text = `${count('passed')} passed, ${failed} failed${leftOut > 0 ? `, ${leftOut} left out` : ''}`;
    return {
      name: String(name).slice(ROOT.length).replace(/^\//, ''),
      text: tests.length === 0 ? String(message).split('\n')[0] || 'no test ran' : text,
      failed: status !== 'passed' || tests.length === 0,
    };
  });
  return [...results, ...leaveOut(missing, NO_FILE)];
}

function leaveOut(files: readonly string[], reason: string): Result[] {
  return files.map((name) => ({ name, text: `left out: ${reason}`, failed: false }));
}

/** Runs a program of the project, and shows its output. */
async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<{ code: number; output: string }> {
  process.stdout.write(
    `\n${args[0] === 'node_modules/vitest/vitest.mjs' ? args.slice(2).join(' ') : args.join(' ')}\n`,
  );
  const child = spawn(process.execPath, [...args], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
    process.stdout.write(chunk);
  });
  const [code] = await once(child, 'close');
  return { code, output };
}

function report(results: readonly Result[]): void {
  process.stdout.write(
    `\n${results.map(({ name, text, failed }) => `${failed ? 'FAILED' : 'ok    '}  ${name}: ${text}`).join('\n')}\n`,
  );
  process.exitCode = results.some(({ failed }) => failed) ? 1 : 0;
}

function exit(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

if (options.help) {
  process.stdout.write(USAGE);
} else if (options.clone === undefined && options.url === undefined) {
  exit('There is no service: all tests of it are left out. Use --clone FOLDER or --url URL; see --help.');
} else if (options.clone === undefined) {
  report([...(await runWithUrl(options.url ?? '')), ...leaveOut(FILES.clone, NEEDS_CLONE)]);
} else {
  report(await runWithClone(options.clone));
}
