// Starts the service from a built clone of its repository, with a Redis and a database of its own, so that tests can kill and restart its parts.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { findFreePort } from '../support/listen.ts';
import { hasRedis, startRedis, type TestRedis } from '../support/redis.ts';
import { type Account, signUp } from './account.ts';

/** Part of the service that runs in a process of its own. */
export type Part = 'api' | 'worker';

/** Programs and servers that the service is started with. */
export interface Source {
  /** Folder of a clone in which `apps/api` and `apps/worker` are built. */
  clone: string;
  /** Address of MongoDB, such as `mongodb://127.0.0.1:27017`. */
  mongo: string;
  /** Program of Node.js, which must have a version that the service supports. @default the first on the PATH outside of packages */
  node?: string | undefined;
  /** Options of Node.js for the service only. @default none */
  nodeOptions?: string | undefined;
}

export interface StartOptions {
  source?: Source;
  /** Settings of the service that differ from `SETTINGS`. */
  settings?: Readonly<Record<string, string>>;
  /** More arguments of its Redis, such as for persistence. @default none, so a restarted one is empty */
  redisArgs?: readonly string[];
}

/** Service that a test started. */
export interface RunningService extends Account, AsyncDisposable {
  url: string;
  /** Its Redis, with the queues of events, the idempotency keys and the cache. It can be killed, paused and started again. */
  redis: TestRedis;
  /** Sends SIGKILL, and resolves when the process has ended. */
  kill(part: Part): Promise<void>;
  /** Starts a part that was killed, and resolves when it is healthy. */
  start(part: Part): Promise<void>;
  restart(part: Part): Promise<void>;
  /** Stops the process without ending it, until `resume`. */
  pause(part: Part): void;
  resume(part: Part): void;
  /** Returns the end of what a part has printed: its errors. */
  output(part: Part): string;
  /** Connects to its database, with the client that the service uses. */
  openDatabase(): Promise<Database & AsyncDisposable>;
}

/** Collections of the service's database, as far as tests use them. */
export interface Database {
  find(collection: string, filter: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>[]>;
  insert(collection: string, documents: readonly Readonly<Record<string, unknown>>[]): Promise<void>;
  drop(): Promise<void>;
}

/** Settings without which the service doesn't start, and those that tests rely on. */
const SETTINGS = {
  NODE_ENV: 'local',
  TZ: 'UTC',
  JWT_SECRET: 'secret-of-tests',
  STORE_ENCRYPTION_KEY: '01234567890123456789012345678901', // 32 characters.
  STORE_NOTIFICATION_CONTENT: 'true',
  AUTO_CREATE_INDEXES: 'true',
  MONGO_MIN_POOL_SIZE: '1',
  MONGO_MAX_POOL_SIZE: '20',
  REDIS_HOST: '127.0.0.1',
  REDIS_DB_INDEX: '0',
  REDIS_CACHE_SERVICE_HOST: '127.0.0.1',
  REDIS_CACHE_DB_INDEX: '1',
  REDIS_CACHE_PASSWORD: '',
  S3_BUCKET_NAME: 'none',
  S3_REGION: 'none',
  AWS_ACCESS_KEY_ID: 'none',
  AWS_SECRET_ACCESS_KEY: 'none',
  NEW_RELIC_ENABLED: 'false',
  NEW_RELIC_NO_CONFIG_FILE: 'true',
  LOGGING_LEVEL: 'error',
  LOG_LEVEL: 'error',
  FLEET_NAME: 'default',
  SUBSCRIBER_WIDGET_JWT_EXPIRATION_TIME: '1 day',
  IS_API_IDEMPOTENCY_ENABLED: 'true',
  IS_API_RATE_LIMITING_ENABLED: 'false',
  IS_WORKFLOW_PREFERENCES_ENABLED: 'true',
};

/** Time in which a part is healthy, also on a busy machine. */
const START_MS = 120_000;

/** Characters of a part's output that an error shows. */
const SHOWN_OUTPUT = 4_000;

/** `npm` puts the project's own version first, with which the worker of 2024 crashes at long ids. */
const findNode = (): string =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .map((folder) => join(folder, 'node'))
    .find(existsSync) ?? process.execPath;

const { NOTIGRAPH_TEST_CLONE, NOTIGRAPH_TEST_MONGO = 'mongodb://127.0.0.1:27017' } = process.env;

/** Clone that `npm run test:service` was given, if it can be started. */
export const SOURCE: Source | undefined =
  NOTIGRAPH_TEST_CLONE === undefined || !hasRedis
    ? undefined
    : {
        clone: NOTIGRAPH_TEST_CLONE,
        mongo: NOTIGRAPH_TEST_MONGO,
        node: process.env.NOTIGRAPH_TEST_NODE,
        nodeOptions: process.env.NOTIGRAPH_TEST_NODE_OPTIONS,
      };

/** End of the titles of tests that start the service. */
export const cloneOnly =
  SOURCE === undefined ? ' (left out: no clone of the service, see npm run test:service -- --help)' : '';

/** Starts Redis, the API and the worker, and creates an account. Disposing ends them and removes the database. */
export async function startService({
  source: given = SOURCE,
  settings = {},
  redisArgs = [],
}: StartOptions = {}): Promise<RunningService> {
  if (given === undefined) {
    throw new Error('There is no clone of the service: use npm run test:service -- --clone FOLDER.');
  }
  const source = given;
  await using stack = new AsyncDisposableStack();
  const redis = stack.use(await startRedis({ args: redisArgs }));
  const redisPort = new URL(redis.url).port;
  const ports = { api: await findFreePort(), worker: await findFreePort() };
  const url = `http://127.0.0.1:${ports.api}`;
  const mongoUrl = new URL(source.mongo);
  mongoUrl.pathname = `/notigraph-test-${randomBytes(4).toString('hex')}`;
  const env = {
    ...process.env,
    ...SETTINGS,
    NODE_OPTIONS: source.nodeOptions ?? '',
    MONGO_URL: mongoUrl.href,
    REDIS_PORT: redisPort,
    REDIS_CACHE_SERVICE_PORT: redisPort,
    API_ROOT_URL: url,
    FRONT_BASE_URL: url,
    ...settings,
  };
  const children = new Map<Part, ChildProcess>();
  const outputs = { api: '', worker: '' };

  async function start(part: Part): Promise<void> {
    const child = spawn(source.node ?? findNode(), ['dist/main.js'], {
      cwd: join(source.clone, 'apps', part),
      env: { ...env, PORT: String(ports[part]) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.set(part, child);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => (outputs[part] = `${outputs[part]}${chunk}`.slice(-SHOWN_OUTPUT)));
    }
    const isRunning = () => child.exitCode === null && child.signalCode === null;
    for (const until = Date.now() + START_MS; !(await isHealthy(ports[part])); await pause(100)) {
      if (!isRunning() || Date.now() > until) {
        throw new Error(`The service's ${part} ${isRunning() ? 'is not healthy' : 'has ended'}:\n${outputs[part]}`);
      }
    }
  }

  async function kill(part: Part): Promise<void> {
    const child = children.get(part);
    children.delete(part);
    if (child?.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
  }

  const openDatabase = () => connect(source.clone, mongoUrl.href);

  stack.defer(async () => {
    await Promise.all([kill('api'), kill('worker')]);
    await using database = await openDatabase();
    await database.drop();
  });
  await start('api');
  await start('worker');
  const account = await signUp(url);
  const parts = stack.move();
  return {
    url,
    ...account,
    redis,
    kill,
    start,
    async restart(part) {
      await kill(part);
      await start(part);
    },
    output: (part) => outputs[part],
    pause: (part) => void children.get(part)?.kill('SIGSTOP'),
    resume: (part) => void children.get(part)?.kill('SIGCONT'),
    openDatabase,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

async function isHealthy(port: number): Promise<boolean> {
  try {
    const { ok } = await fetch(`http://127.0.0.1:${port}/v1/health-check`, { signal: AbortSignal.timeout(2_000) });
    return ok;
  } catch {
    return false;
  }
}

/** Members of the service's own MongoDB client that tests use. */
interface Mongoose {
  createConnection(url: string): {
    asPromise(): Promise<unknown>;
    collection(name: string): {
      find(filter: object): { toArray(): Promise<Readonly<Record<string, unknown>>[]> };
      insertMany(documents: readonly object[]): Promise<unknown>;
    };
    dropDatabase(): Promise<unknown>;
    close(): Promise<unknown>;
  };
}

/** Connects with the client that is installed in the clone, so that the project needs none. */
async function connect(clone: string, url: string): Promise<Database & AsyncDisposable> {
  const mongoose: Mongoose = createRequire(join(clone, 'libs/dal/package.json'))('mongoose');
  const connection = mongoose.createConnection(url);
  await connection.asPromise();
  return {
    find: (collection, filter) => connection.collection(collection).find(filter).toArray(),
    insert: async (collection, documents) => void (await connection.collection(collection).insertMany(documents)),
    drop: async () => void (await connection.dropDatabase()),
    [Symbol.asyncDispose]: async () => void (await connection.close()),
  };
}
