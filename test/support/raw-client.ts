import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Client on a raw socket that sends arbitrary bytes and can leave responses unread. */
export interface RawClient {
  readonly socket: Socket;
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>;
  /** Whether the server has closed the connection. */
  isClosed(): boolean;
  /** Sends bytes and waits until the operating system has accepted them. */
  send(bytes: string): Promise<void>;
  /** Returns everything received so far. */
  received(): string;
  /** Waits until the received text matches the pattern. */
  receives(pattern: RegExp): Promise<RegExpExecArray>;
}

export interface RawClientOptions {
  /** Whether the client reads what the server sends. @default true */
  reads?: boolean;
}

/** Connects to the server of a URL. */
export async function connectRaw(url: string, { reads = true }: RawClientOptions = {}): Promise<RawClient> {
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
