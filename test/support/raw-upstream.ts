import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** Request as received over the wire. */
export interface RawRequest {
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
}

export interface RawResponse {
  status?: number;
  headers?: Readonly<Record<string, string>>;
  /** Response body; an object is sent as JSON. */
  body?: unknown;
}

/** Connection that carried a request. A script that ignores it leaves the request pending. */
export interface RawConnection {
  /** Sends a complete response and keeps the connection open. */
  answer(answer?: RawResponse): void;
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
}

export type RawScript = (request: RawRequest, connection: RawConnection) => void;

export interface RawUpstreamOptions {
  /** Called for each connection before anything is read from it. */
  onConnect?: (connection: RawConnection) => void;
}

/** Upstream on a raw socket, whose script can violate HTTP in any way. */
export interface RawUpstream extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly RawRequest[];
  /** Script for subsequent requests. */
  script: RawScript;
  /** Returns the number of connections accepted so far. */
  connections(): number;
  /** Returns the number of open connections. */
  open(): number;
  /** Returns the maximum number of connections that were open at once. */
  mostOpen(): number;
  /** Waits until the given number of requests have arrived. */
  arrived(count: number): Promise<void>;
  /** Waits until no connection is open. */
  allClosed(withinMs?: number): Promise<void>;
  /** Stops listening, so that new connections are refused. */
  refuse(): Promise<void>;
  /** Listens again on the same port. */
  listen(): Promise<void>;
}

export async function startRawUpstream(
  script: RawScript,
  { onConnect }: RawUpstreamOptions = {},
): Promise<RawUpstream> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  const changes = new EventEmitter().setMaxListeners(0);
  let [connections, mostOpen, port] = [0, 0, 0];
  let server: Server | undefined;

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
    readRequests(socket, (request) => {
      const numbered = { ...request, connection: number };
      requests.push(numbered);
      changes.emit('change');
      upstream.script(numbered, connection);
    });
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
    server = createServer({ noDelay: true }, accept).listen(port, '127.0.0.1');
    await once(server, 'listening');
    port = portOf(server.address());
  }

  async function refuse(): Promise<void> {
    if (server?.listening) {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) {
        socket.destroy();
      }
      await closed;
    }
  }

  await listen();
  const upstream: RawUpstream = {
    url: `http://127.0.0.1:${port}`,
    requests,
    script,
    connections: () => connections,
    open: () => sockets.size,
    mostOpen: () => mostOpen,
    arrived: (count) => until(`${count} requests`, () => requests.length >= count, 20_000),
    allClosed: (withinMs = 20_000) => until('every socket closed', () => sockets.size === 0, withinMs),
    refuse,
    listen,
    [Symbol.asyncDispose]: refuse,
  };
  return upstream;
}

/** Formats a complete HTTP response that keeps the connection open. */
export function formatResponse({ status = 200, headers = {}, body }: RawResponse = {}): string {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  const all = {
    'content-type': 'application/json',
    ...(status === 204 ? {} : { 'content-length': String(Buffer.byteLength(text)) }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n${text}`;
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

/** Misbehaving scripts by name. Each puts `echo` wherever a service could repeat the credential. */
export const MISBEHAVIORS = {
  'never responds': () => {},
  'drips its head': ({ send, drip }, echo) => {
    send(`HTTP/1.1 200 OK\r\nx-echo: ${echo}`);
    drip('a', 20);
  },
  'drips its body': ({ send, drip }) => {
    send(`${HEAD}content-length: 5000\r\n\r\n`);
    drip(' ', 20);
  },
  'drips an HTML page': ({ send, drip }, echo) => {
    send(`HTTP/1.1 200 OK\r\ncontent-type: text/html; echo=${echo}\r\ncontent-length: 5000\r\n\r\n`);
    drip(' ', 20);
  },
  'sends only a 103': ({ send }, echo) => {
    send(`HTTP/1.1 103 Early Hints\r\nlink: <${echo}>\r\n\r\n`);
  },
  'closes at once': ({ end }) => end(),
  'resets at once': ({ reset }) => reset(),
  'resets after its head': ({ send, reset }, echo) => {
    send(`${HEAD}x-echo: ${echo}\r\ncontent-length: 5000\r\n\r\n{`);
    setTimeout(reset, 10); // At once, the reset would overtake the head.
  },
  'sends less than Content-Length and closes': ({ send, end }, echo) => {
    send(`${HEAD}content-length: 5000\r\n\r\n${JSON.stringify({ data: { _id: echo, name: echo } })}`);
    end();
  },
  'sends less than Content-Length and waits': ({ send }, echo) => {
    send(`${HEAD}content-length: 5000\r\n\r\n${JSON.stringify({ data: { _id: echo, name: echo } })}`);
  },
  'sends more than Content-Length': ({ send }, echo) => {
    send(`${HEAD}content-length: 5\r\n\r\n${JSON.stringify({ data: { _id: echo, name: echo } })}`);
  },
  'leaves its chunks unfinished': ({ send, end }) => {
    send(`${HEAD}transfer-encoding: chunked\r\n\r\nb\r\n{"_id":"x"}\r\n`);
    end();
  },
  'leaves its last chunks unfinished': ({ send, end }) => {
    send(`${HEAD}connection: close\r\ntransfer-encoding: chunked\r\n\r\nb\r\n{"_id":"x"}\r\n`);
    end();
  },
  'sends chunks without a size': ({ send }, echo) => {
    send(`${HEAD}transfer-encoding: chunked\r\n\r\n${echo}\r\n{"_id":"x"}\r\n`);
  },
  'sends a chunk size that overflows': ({ send }, echo) => {
    send(`${HEAD}transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n${echo}`);
  },
  'sends two lengths': ({ send }) => send(`${HEAD}content-length: 11\r\ncontent-length: 5\r\n\r\n{"_id":"x"}`),
  'sends a length and chunks': ({ send }) =>
    send(`${HEAD}content-length: 11\r\ntransfer-encoding: chunked\r\n\r\nb\r\n{"_id":"x"}\r\n0\r\n\r\n`),
  'speaks another protocol': ({ send }, echo) => send(`SSH-2.0-OpenSSH_9.0 ${echo}\r\n`),
  'speaks HTTP/2': ({ send }) => send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  'sends an invalid status': ({ send }, echo) => send(`HTTP/1.1 2x0 ${echo}\r\n\r\n`),
  'sends a status below 100': ({ send }, echo) => send(`HTTP/1.1 099 ${echo}\r\ncontent-length: 0\r\n\r\n`),
  'ends lines without CR': ({ send }, echo) => send(`HTTP/1.1 200 ${echo}\ncontent-length: 0\n\n`),
  'sends a header with a NUL': ({ send }, echo) => send(`${HEAD}x-\0echo: ${echo}\r\ncontent-length: 0\r\n\r\n`),
  'sends 20 KiB of headers': ({ send }, echo) =>
    send(`${HEAD}x-echo: ${echo.padEnd(20 * 1024, 'x')}\r\ncontent-length: 0\r\n\r\n`),
  'sends eleven interim responses': ({ send }) => send('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(11)),
  'sends a 100 that was not requested': ({ send }) =>
    send(`HTTP/1.1 100 Continue\r\n\r\n${formatResponse({ body: {} })}`),
  'switches the protocol': ({ send }) =>
    send('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
  'responds with 304': ({ send }) => send('HTTP/1.1 304 Not Modified\r\n\r\n'),
  'sends an HTML page': ({ answer }, echo) =>
    answer({ headers: { 'content-type': 'text/html' }, body: `<p>${echo}</p>` }),
  'sends an unknown content type': ({ answer }, echo) =>
    answer({ headers: { 'content-type': `application/${echo.replace(/\W/g, '')}` }, body: {} }),
  'sends an unknown content encoding': ({ answer }, echo) =>
    answer({ headers: { 'content-encoding': echo }, body: {} }),
  'sends invalid JSON': ({ answer }, echo) => answer({ body: `{"${echo}` }),
  'sends invalid UTF-8': ({ send }) =>
    send(Buffer.concat([Buffer.from(`${HEAD}content-length: 3\r\n\r\n"`), Buffer.from([0xff, 0x22])])),
} satisfies Record<string, (connection: RawConnection, echo: string) => void>;

export type Misbehavior = keyof typeof MISBEHAVIORS;

function connect(socket: Socket): RawConnection {
  return {
    answer: (answer) => void socket.write(formatResponse(answer)),
    send: (bytes) => void socket.write(bytes),
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
  };
}

/** Parses incoming bytes into requests. Supports bodies with Content-Length only, which is what the gateway sends. */
function readRequests(socket: Socket, onRequest: (request: Omit<RawRequest, 'connection'>) => void): void {
  let unread = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk]);
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

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') {
    throw new Error('The server has no port.');
  }
  return address.port;
}
