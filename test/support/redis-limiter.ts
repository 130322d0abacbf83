// Creates rate limiters on Redis, and servers that respond in its place.

import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { pino } from 'pino';
import { createRedisRateLimiter } from '../../src/rate-limits/rate-limiter.ts';
import type { RedisStoreOptions } from '../../src/redis/redis.ts';
import type { RateLimit } from '../../src/settings/settings.ts';

/** Limit that refills one call per hour, so that nothing is refilled during a test. */
export const HOURLY: RateLimit = { calls: 100, perSeconds: 360_000 };

/** Creates a limiter with its log. */
export function createLimiter(url: RedisStoreOptions['url'], options: Partial<RedisStoreOptions> = {}) {
  const log: { msg: string; reason?: string }[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => log.push(JSON.parse(line)) });
  const limiter = createRedisRateLimiter({ url, logger, prefix: 'notigraph:limit:', ...options });
  return {
    limiter,
    log,
    messages: () => log.map(({ msg }) => msg),
    take: async (key = 'a') => limiter.take(key, HOURLY, 1),
    [Symbol.asyncDispose]: () => limiter[Symbol.asyncDispose](),
  };
}

/** Starts a server that accepts connections and responds as the test says. */
export async function startListener(onData: (socket: Socket, chunk: Buffer) => void) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => onData(socket, chunk));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return {
    url: `redis://127.0.0.1:${port}`,
    /** Returns the number of connections made so far. */
    connections: () => connections,
    open: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) {
        socket.destroy();
      }
      server.close();
      await once(server, 'close');
    },
  };
}

/** Returns a reply `OK` for each command in a chunk. */
export const replyOk = (chunk: Buffer): string => '+OK\r\n'.repeat(String(chunk).match(/^\*\d+\r$/gm)?.length ?? 0);
