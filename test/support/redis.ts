// Starts servers of Redis.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createClient } from '@redis/client';
import { findFreePort } from './listen.ts';
import { findPrograms } from './programs.ts';
import { createTemporaryFolder } from './sandbox-files.ts';

/** Whether `redis-server` is installed, and the end of the titles of tests that need it. */
export const { areThere: hasRedis, note: redisOnly } = findPrograms('redis-server');

/** Redis server of a test. */
export type TestRedis = Awaited<ReturnType<typeof startRedis>>;

/**
 * Starts a server without persistence.
 *
 * @param options `tls`: whether it accepts only TLS, with the certificates in `args`, which are more arguments of the command line
 */
export async function startRedis({
  password,
  tls = false,
  args = [],
}: {
  password?: string;
  tls?: boolean;
  args?: readonly string[];
} = {}) {
  const folder = await createTemporaryFolder();
  const port = await findFreePort();
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    const secret = password === undefined ? [] : ['--requirepass', password];
    const ports = tls ? ['--port', '0', '--tls-port', String(port)] : ['--port', String(port)];
    const isSentinel = args.includes('--sentinel');
    const options = isSentinel ? [] : ['--save', '', '--appendonly', 'no'];
    const config = folder.path('redis.conf'); // A Sentinel writes to it.
    await writeFile(config, '');
    const started = spawn('redis-server', [config, ...ports, '--bind', '127.0.0.1', ...options, ...secret, ...args], {
      cwd: folder.path(),
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

  /** Sends a command with another URL, such as after a change of the password. */
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
    /** Kills the server, as a crash would. */
    kill,
    /** Restarts the server, empty, on the same port. */
    start,
    /** Keeps the server from doing anything until it is resumed. */
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    /** Sends a command and returns its reply. */
    command: (...words: string[]) => commandAt(url, ...words),
    commandAt,
    async [Symbol.asyncDispose]() {
      await kill();
      await folder[Symbol.asyncDispose]();
    },
  };
}
