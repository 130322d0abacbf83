import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { findPrograms } from './programs.ts';

/** Whether `redis-server` is installed, and the end of the titles of tests that need it. */
export const { areThere: hasRedis, note: redisOnly } = findPrograms('redis-server');

/** Redis server of a test, without persistence. */
export interface TestRedis extends AsyncDisposable {
  readonly url: string;
  /** Kills the server, as a crash would. */
  kill(): Promise<void>;
  /** Restarts the server, empty, on the same port. */
  start(): Promise<void>;
  /** Keeps the server from doing anything until it is resumed. */
  pause(): void;
  resume(): void;
  /** Sends a command and returns its reply. */
  command(...args: string[]): Promise<unknown>;
  /** Sends a command with another URL, such as after a change of the password. */
  commandAt(url: string, ...args: string[]): Promise<unknown>;
}

/** Options of `startRedis`. */
export interface TestRedisOptions {
  password?: string;
  /** Whether it accepts only TLS, with the certificates in `args`. @default false */
  tls?: boolean;
  /** More arguments of the command line. @default none */
  args?: readonly string[];
}

export async function startRedis({ password, tls = false, args = [] }: TestRedisOptions = {}): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'notigraph-redis-'));
  const port = await findFreePort();
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    const secret = password === undefined ? [] : ['--requirepass', password];
    const ports = tls ? ['--port', '0', '--tls-port', String(port)] : ['--port', String(port)];
    const isSentinel = args.includes('--sentinel');
    const options = isSentinel ? [] : ['--save', '', '--appendonly', 'no'];
    const config = join(folder, 'redis.conf'); // A Sentinel writes to it.
    await writeFile(config, '');
    const started = spawn('redis-server', [config, ...ports, '--bind', '127.0.0.1', ...options, ...secret, ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child = started;
    const ended = once(started, 'exit').then(() => [undefined]);
    let printed = '';
    while (!/Ready to accept connections|Sentinel ID is/.test(printed)) {
      const [chunk] = await Promise.race([once(started.stdout, 'data'), ended]);
      if (chunk === undefined) {
        throw new Error(`Redis ended before it was ready:\n${printed}`);
      }
      printed += String(chunk);
    }
    started.stdout.resume();
  }

  async function kill(): Promise<void> {
    if (child?.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
  }

  async function commandAt(address: string, ...words: string[]): Promise<unknown> {
    const client = createClient({ url: address });
    await client.connect();
    try {
      return await client.sendCommand(words);
    } finally {
      client.destroy();
    }
  }

  await start();
  const url = `redis${tls ? 's' : ''}://${password === undefined ? '' : `:${password}@`}127.0.0.1:${port}`;
  return {
    url,
    kill,
    start,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    command: (...words) => commandAt(url, ...words),
    commandAt,
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns a port that no server listens on. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
