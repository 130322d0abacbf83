import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Client on a bare socket: it sends what it is told, and reads only if it is told to. */
export interface RawClient {
  readonly socket: Socket;
  /** Fulfilled when the server has closed the connection. */
  readonly closed: Promise<void>;
  /** Whether the server has closed the connection. */
  isClosed(): boolean;
  /** Sends bytes and waits until the system has taken them. */
  send(bytes: string): Promise<void>;
  /** Everything received so far. */
  received(): string;
  /** Waits until it has received this. */
  receives(pattern: RegExp): Promise<RegExpExecArray>;
}

export interface RawClientOptions {
  /** Whether it reads what the server sends. @default true */
  reads?: boolean;
}

/** Connects to the server of a URL. */
export async function connectRaw(url: string, { reads = true }: RawClientOptions = {}): Promise<RawClient> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, noDelay: true });
  const closed = Promise.withResolvers<void>();
  let text = '';
  socket.on('error', () => {}); // Being cut off is what these clients are for.
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
    closed: closed.promise,
    isClosed: () => socket.destroyed,
    send: (bytes) => new Promise((resolve) => socket.write(bytes, () => resolve())),
    received: () => text,
    async receives(pattern) {
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

/** Returns the head of a POST to a path. */
export const postHead = (path: string, ...headers: readonly string[]): string =>
  [`POST ${path} HTTP/1.1`, 'Host: localhost', 'Content-Type: application/json', ...headers, '', ''].join('\r\n');

/** Reads what the server sends with a pause after each part, until the server closes the connection. Returns how many bytes came. */
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

/** Options of `expect.poll` for what takes as long as the machine is busy. */
export const EVENTUALLY = { timeout: 10_000 };
