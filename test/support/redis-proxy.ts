// Starts a proxy of Redis that can make commands fail, and hold replies back.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Each connection leads to the server that was the primary when it was opened. */
export async function startRedisProxy(primary: { url: string }) {
  let target = primary;
  let isHeld = false;
  let broken = 0;
  let holdAt: { key: string; reached: () => void } | undefined;
  let releaseAll = () => {};
  const sockets = new Set<Socket>();
  const state = { /** Whether SET and HSET fail. */ breaksWrites: false };
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(target.url).port), '127.0.0.1');
    const held: Buffer[] = [];
    releaseAll = () => {
      isHeld = false;
      client.write(Buffer.concat(held.splice(0)));
    };
    client.on('data', (data: Buffer) => {
      const text = data.toString('latin1');
      if (holdAt !== undefined && text.includes(holdAt.key)) {
        isHeld = true;
        holdAt.reached();
        holdAt = undefined;
      }
      const sent = state.breaksWrites
        ? text.replace(/(\$[34]\r\n)(?:H?SET)\r\n/g, (command) => command.replace(/SET/, 'XXX'))
        : text;
      broken += sent === text ? 0 : 1;
      upstream.write(Buffer.from(sent, 'latin1'));
    });
    upstream.on('data', (data: Buffer) => void (isHeld ? held.push(data) : client.write(data)));
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket.on('error', () => {}).on('close', () => other.destroy()));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(state, {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Leads later connections to another server. */
    moveTo(redis: { url: string }) {
      target = redis;
    },
    /** Keeps open connections open, but passes nothing on. */
    partition() {
      for (const socket of sockets) {
        socket.removeAllListeners('data').pause();
      }
    },
    /** Returns how often commands were made to fail. */
    broken: () => broken,
    /** Resolves when a command names the key. From then on, replies are held back. */
    holdReplies: (key: string) => new Promise<void>((reached) => (holdAt = { key, reached })),
    release: () => releaseAll(),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) {
        socket.destroy();
      }
      server.close();
      await once(server, 'close');
    },
  });
}
