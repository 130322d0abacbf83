// Starts services that tests script, down to the bytes of their responses.

import { EventEmitter, once } from 'node:events';
import { request as sendRequest } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { listenOnKeptPort } from './listen.ts';

/** Request as received over the wire. */
export interface ServiceRequest {
  method: string;
  /** Target of the request line, byte for byte. */
  path: string;
  /** Headers by lowercase name; repeated headers are joined with a comma. */
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Request line and headers as received. */
  head: string;
  /** Number of the connection that carried the request, counted from 1. */
  connection: number;
  /** Status and body of the response, once a proxy has received them. */
  status?: number;
  responseBody?: string;
}

export interface ServiceResponse {
  /** @default 200 */
  status?: number;
  headers?: Readonly<Record<string, string>>;
  /** Text or bytes; everything else is sent as JSON. */
  body?: unknown;
}

/** Connection that carried a request. */
export interface Connection {
  /** Sends a complete response and keeps the connection open. */
  answer(response?: ServiceResponse): void;
  /** Sends arbitrary bytes. */
  send(bytes: string | Uint8Array): void;
  /** Sends one byte per interval until the connection closes. */
  drip(byte: string, everyMs: number): void;
  /** Sends the same bytes repeatedly, as fast as the peer reads them, until the connection closes. */
  flood(bytes: Uint8Array): void;
  /** Closes the connection gracefully. */
  end(): void;
  /** Resets the connection (RST). */
  reset(): void;
  /** Returns the number of bytes written. */
  written(): number;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
}

/** Response of a script. Without one, the request stays pending, and the script can write to the connection itself. */
// biome-ignore lint/suspicious/noConfusingVoidType: a script that writes to the connection returns nothing
export type ScriptResult = ServiceResponse | void;

/** Returns the response to a request. */
export type Script = (request: ServiceRequest, connection: Connection) => ScriptResult | Promise<ScriptResult>;

/** Service that a test scripts. */
export type ScriptedService = Awaited<ReturnType<typeof startService>>;

/**
 * Starts a service that responds as scripted, on a socket, so that it can violate HTTP in any way.
 *
 * @param onConnect called for each connection before anything is read from it
 */
export async function startService(
  script: Script,
  { onConnect }: { onConnect?: (connection: Connection) => void } = {},
) {
  const requests: ServiceRequest[] = [];
  const sockets = new Set<Socket>();
  const changes = new EventEmitter().setMaxListeners(0);
  const holds = new Set<{ matches(request: ServiceRequest): boolean; take(): Promise<void> }>();
  let [connections, mostOpen] = [0, 0];
  const create = () => createServer({ noDelay: true }, accept);
  const kept = await listenOnKeptPort(create);
  const { port } = kept;
  let { server } = kept;

  async function respond(request: ServiceRequest, connection: Connection): Promise<void> {
    requests.push(request);
    changes.emit('change');
    const hold = [...holds].find(({ matches }) => matches(request));
    const released = hold?.take();
    const response = await service.script(request, connection);
    await released;
    if (response) {
      connection.answer(response);
    }
  }

  function accept(socket: Socket): void {
    connections += 1;
    const number = connections;
    const connection = connect(socket);
    sockets.add(socket);
    mostOpen = Math.max(mostOpen, sockets.size);
    socket.on('error', () => {}); // Many scripts reset the connection.
    socket.on('close', () => {
      sockets.delete(socket);
      changes.emit('change');
    });
    onConnect?.(connection);
    readRequests(socket, (request) => void respond({ ...request, connection: number }, connection));
  }

  async function until(what: string, isTrue: () => boolean, withinMs: number): Promise<void> {
    const signal = AbortSignal.timeout(withinMs);
    while (!isTrue()) {
      await once(changes, 'change', { signal }).catch(() => {
        throw new Error(
          `not within ${withinMs} ms: ${what}; ${requests.length} requests, ${sockets.size} open sockets`,
        );
      });
    }
  }

  async function listen(): Promise<void> {
    server = create().listen(port, '127.0.0.1');
    await once(server, 'listening');
  }

  async function refuse(): Promise<void> {
    if (server.listening) {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) {
        socket.destroy();
      }
      await closed;
    }
  }

  const service = {
    url: `http://127.0.0.1:${port}`,
    requests,
    /** Script for subsequent requests. */
    script,
    /** Returns method and path of the requests so far. */
    calls: () => requests.map(({ method, path }) => `${method} ${path}`),
    /** Discards the requests so far. */
    forget: () => void requests.splice(0),
    /**
     * Holds back the responses to requests that have a key, by default to the next one. The script runs when a request arrives, so that a
     * response shows the data of that moment.
     *
     * @param endpoint method and path. @default any
     */
    hold(endpoint?: string, count = 1) {
      const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
      const { promise: released, resolve } = Promise.withResolvers<void>();
      let left = count;
      const hold = {
        matches: ({ method, path, headers }: ServiceRequest) =>
          headers.authorization !== undefined && (endpoint === undefined || endpoint === `${method} ${path}`),
        take() {
          left -= 1;
          if (left === 0) {
            holds.delete(hold);
          }
          arrive();
          return released;
        },
      };
      holds.add(hold);
      return {
        /** Resolves when the first request has arrived. */
        arrived,
        /** Sends the responses, and holds no more. */
        release() {
          holds.delete(hold);
          resolve();
        },
      };
    },
    /** Returns the number of connections accepted so far. */
    connections: () => connections,
    /** Returns the number of open connections. */
    open: () => sockets.size,
    /** Returns the maximum number of connections that were open at once. */
    mostOpen: () => mostOpen,
    arrived: (count: number, withinMs = 20_000) => until(`${count} requests`, () => requests.length >= count, withinMs),
    allClosed: (withinMs = 20_000) => until('every socket closed', () => sockets.size === 0, withinMs),
    /** Stops listening, so that new connections are refused. */
    refuse,
    /** Listens again on the same port. */
    listen,
    [Symbol.asyncDispose]: refuse,
  };
  return service;
}

/** Request and its response, as sent over the wire. */
export interface Exchange extends ServiceRequest {
  status: number;
  responseBody: string;
}

/** Creates the script of a proxy in front of a service. @param exchanges gets the requests with their responses */
export function forwardTo(target: string, exchanges: Exchange[] = []): Script {
  const { hostname, port } = new URL(target);
  return async (request, connection) => {
    const { method, path, headers, body } = request;
    const forwarded = sendRequest({ hostname, port, method, path, headers, agent: false });
    try {
      forwarded.end(body);
      const [response] = await once(forwarded, 'response');
      const responseBody = await buffer(response);
      exchanges.push(Object.assign(request, { status: response.statusCode, responseBody: String(responseBody) }));
      const { connection: _, 'transfer-encoding': __, 'content-length': ___, ...passed } = response.headers;
      return { status: response.statusCode, headers: passed, body: responseBody };
    } catch {
      return connection.end();
    }
  };
}

/** Status line and content type of a response whose body the script writes itself. */
export const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

/** Formats a complete HTTP response that keeps the connection open. */
export const formatResponse = (response: ServiceResponse = {}): string => String(toBytes(response));

function toBytes({ status = 200, headers = {}, body }: ServiceResponse = {}): Buffer {
  const isText = body === undefined || typeof body === 'string';
  const content = body instanceof Uint8Array ? body : Buffer.from(isText ? (body ?? '') : JSON.stringify(body));
  const all = {
    'content-type': 'application/json',
    ...(status === 204 || status === 304 ? {} : { 'content-length': String(content.byteLength) }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n`, 'latin1'), content]);
}

function connect(socket: Socket): Connection {
  const write = (bytes: string | Uint8Array) => void (socket.destroyed || socket.write(bytes));
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  socket.once('close', () => resolve());
  return {
    answer: (response) => write(toBytes(response)),
    send: write,
    drip(byte, everyMs) {
      const timer = setInterval(() => socket.write(byte), everyMs);
      socket.once('close', () => clearInterval(timer));
    },
    flood(bytes) {
      const pour = () => {
        while (!socket.destroyed && socket.write(bytes)) {}
      };
      socket.on('drain', pour);
      pour();
    },
    end: () => void socket.end(),
    reset: () => void socket.resetAndDestroy(),
    written: () => socket.bytesWritten,
    closed,
  };
}

/** Parses incoming bytes into requests. Supports bodies with Content-Length only, which is what the gateway sends. */
function readRequests(socket: Socket, onRequest: (request: Omit<ServiceRequest, 'connection'>) => void): void {
  let unread: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
    for (;;) {
      const headEnd = unread.indexOf('\r\n\r\n');
      if (headEnd < 0) {
        return;
      }
      const head = unread.toString('latin1', 0, headEnd);
      const [line = '', ...fields] = head.split('\r\n');
      const [method = '', path = ''] = line.split(' ');
      const headers: Record<string, string> = {};
      for (const field of fields) {
        const colon = field.indexOf(':');
        const name = field.slice(0, colon).toLowerCase();
        const value = field.slice(colon + 1).trim();
        headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
      }
      const bodyEnd = headEnd + 4 + Number(headers['content-length'] ?? 0);
      if (unread.length < bodyEnd) {
        return;
      }
      const body = unread.toString('utf8', headEnd + 4, bodyEnd);
      unread = unread.subarray(bodyEnd);
      onRequest({ method, path, headers, body, head });
    }
  });
}
