import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';

/** Whether `redis-server` is installed. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

/** Suffix for the titles of tests that are skipped without `redis-server`. */
export const redisOnly = hasRedis ? '' : ' (left out: there is no redis-server on the PATH)';

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
}

export async function startRedis({ password }: { password?: string } = {}): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'notigraph-redis-'));
  const port = await findFreePort();
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    const secret = password === undefined ? [] : ['--requirepass', password];
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    const started = spawn('redis-server', [...options, ...secret], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child = started;
    const ended = once(started, 'exit').then(() => [undefined]);
    let printed = '';
    while (!printed.includes('Ready to accept connections')) {
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

  await start();
  const url = `redis://${password === undefined ? '' : `:${password}@`}127.0.0.1:${port}`;
  return {
    url,
    kill,
    start,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    async command(...args) {
      const client = createClient({ url });
      await client.connect();
      try {
        return await client.sendCommand(args);
      } finally {
        client.destroy();
      }
    },
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
