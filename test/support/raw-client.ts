// Connects to servers on raw sockets.

import { once } from 'node:events';
import { connect } from 'node:net';

/** Client on a raw socket that sends arbitrary bytes and can leave responses unread. */
export type RawClient = Awaited<ReturnType<typeof connectRaw>>;

/** Connects to the server of a URL. @param options `reads`: whether the client reads what the server sends */
export async function connectRaw(url: string, { reads = true } = {}) {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, noDelay: true });
  const closed = Promise.withResolvers<void>();
  let text = '';
  socket.on('error', () => {}); // Servers disconnect these clients.
  socket.on('close', () => closed.resolve());
  if (reads) {
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
  } else {
    socket.pause();
  }
  await Promise.race([once(socket, 'connect'), closed.promise]);
  return {
    socket,
    /** Resolves when the server has closed the connection. */
    closed: closed.promise,
    isClosed: () => socket.destroyed,
    /** Sends bytes and waits until the operating system has accepted them. */
    send: (bytes: string) => new Promise<void>((resolve) => socket.write(bytes, () => resolve())),
    /** Returns everything received so far. */
    received: () => text,
    /** Waits until the received text matches the pattern. */
    async receives(pattern: RegExp): Promise<RegExpExecArray> {
      for (;;) {
        const found = pattern.exec(text);
        if (found !== null) {
          return found;
        }
        if (socket.destroyed) {
          throw new Error(`The connection was closed first, after ${JSON.stringify(text)}.`);
        }
        await Promise.race([once(socket, 'data'), closed.promise]);
      }
    },
  };
}

/** Returns the request line and headers of a POST request. */
export const postHead = (path: string, ...headers: readonly string[]): string =>
  [`POST ${path} HTTP/1.1`, 'Host: localhost', 'Content-Type: application/json', ...headers, '', ''].join('\r\n');

/** Reads with a pause after each chunk until the server closes the connection. Returns the number of bytes received. */
export async function readSlowly({ socket, closed }: RawClient, pauseMs: number): Promise<number> {
  let received = 0;
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length;
    socket.pause();
    setTimeout(() => socket.resume(), pauseMs);
  });
  socket.resume();
  await closed;
  return received;
}

/** Options of `expect.poll` for conditions that take longer on a busy machine. */
export const EVENTUALLY = { timeout: 20_000 };
