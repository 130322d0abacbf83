// Makes an address of this machine lose the first packet of connections, as networks do. Needs Linux.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/** Length of the queue of connections. Linux drops the first packets of others once it holds one more. */
const BACKLOG = 1;

interface Shared {
  host: string;
  port: number;
  /** Whether connections are accepted, and whether one has lost a packet since they weren't: 0 or 1 each. */
  state: Int32Array<SharedArrayBuffer>;
}

/** Forwards connections to an address to the server that has the same port on 127.0.0.1. Loses nothing at first. */
export async function startLossyAddress(host: string, port: number) {
  const state = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(new URL(import.meta.url), { workerData: { host, port, state } satisfies Shared });
  const fillers: Socket[] = [];
  await once(worker, 'message');

  async function block(mode: 'one' | 'all'): Promise<void> {
    state.fill(0);
    worker.postMessage(mode);
    await once(worker, 'message');
    for (let filled = 0; filled <= BACKLOG; filled += 1) {
      const filler = connect(port, host).on('error', () => {});
      fillers.push(filler);
      await once(filler, 'connect');
    }
  }

  return {
    /** Loses the first packet of the next connection. The system of its client repeats it after a second. */
    loseOne: () => block('one'),
    /** Loses all packets from now on. */
    loseAll: () => block('all'),
    hasLost: () => state[1] === 1,
    /** Returns the number of connections that wait for an answer to their first packet. */
    waiting: () => countWaiting(host, port),
    async [Symbol.asyncDispose]() {
      Atomics.store(state, 0, 1);
      Atomics.notify(state, 0);
      for (const filler of fillers) {
        filler.destroy();
      }
      await worker.terminate();
    },
  };
}

/** Counts sockets in the state SYN_SENT (02) to an IPv4 address. */
function countWaiting(host: string, port: number): number {
  const address = Buffer.from(host.split('.').map(Number)).reverse().toString('hex'); // On a little-endian machine.
  const peer = `${address}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
  return readFileSync('/proc/net/tcp', 'latin1').split(`${peer} 02 `).length - 1;
}

if (!isMainThread) {
  const { host, port, state }: Shared = workerData;
  const server = createServer((client) => {
    const target = connect(port, '127.0.0.1');
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      socket.on('error', () => other.destroy()).on('close', () => other.destroy());
      socket.pipe(other);
    }
  });
  parentPort?.on('message', (mode) => {
    parentPort?.postMessage('blocked');
    while (state[0] === 0 && (mode === 'all' || state[1] === 0)) {
      Atomics.wait(state, 0, 0, 5);
      state[1] ||= countWaiting(host, port) > 0 ? 1 : 0;
    }
  });
  server.listen({ host, port, backlog: BACKLOG }, () => parentPort?.postMessage('listening'));
}
