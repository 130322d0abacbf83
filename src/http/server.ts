import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import type { OverloadMonitor } from './overload.ts';

export interface ServerOptions {
  host: string;
  /** 0 picks a free port. */
  port: number;
  /** Answers everything but the health paths and the metrics. */
  listener: RequestListener;
  /** Requests that run at a time; one more is shed. @default 512 */
  maxRunning?: number;
  /** Says when this process can take no more. @default never */
  overload?: Pick<OverloadMonitor, 'reason'>;
  /** The text that is answered at `/metrics`. @default none: the path is nothing special */
  metrics?: ((load: ServerLoad) => Promise<string>) | undefined;
  /** How long a client may take for the headers, in milliseconds. @default 10000 */
  headersTimeoutMs?: number;
  /** How long a client may take for the whole request, in milliseconds. @default 30000 */
  requestTimeoutMs?: number;
  /** How long a connection may stand still while something is due on it, in milliseconds: a client that does not read, for one. @default 30000 */
  stallTimeoutMs?: number;
  /** How long connections are still answered, with 503, once the server closes, in milliseconds. @default 0 */
  lameDuckMs?: number;
  /** How long requests that run may take once the server closes, in milliseconds. @default 20000 */
  drainTimeoutMs?: number;
}

/** Larger headers are refused with 431. */
const MAX_HEADER_BYTES = 16 * 1024;

/** Prometheus' text format. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Longer than the idle time of common load balancers (60 s), so that they do not send to a connection that is being closed. */
const KEEP_ALIVE_MS = 65_000;

/** Why a request is shed. */
export type ShedReason = 'stopping' | 'running' | NonNullable<ReturnType<OverloadMonitor['reason']>>;

/** How a server is doing. */
export interface ServerLoad {
  /** Requests that run. */
  running: number;
  /** Why requests are shed at present; undefined: they are not. */
  shedding: ShedReason | undefined;
  /** Requests that were shed so far. */
  shed: Readonly<Record<ShedReason, number>>;
}

/** A listening server. */
export interface RunningServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:4000`, without a slash at the end. */
  readonly url: string;
  load(): ServerLoad;
  /** Stops accepting, lets what runs finish within the drain time, and cuts off the rest. */
  close(): Promise<void>;
}

/** Why a server could not listen: one sentence for the person who started it. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/**
 * Listens; answers `/livez`, `/readyz` and `/metrics` itself and sheds what is too much before its body is read. Throws `ListenError`
 * when the address cannot be had.
 */
export async function startServer({
  host,
  port,
  listener,
  maxRunning = 512,
  overload,
  metrics,
  headersTimeoutMs = 10_000,
  requestTimeoutMs = 30_000,
  stallTimeoutMs = 30_000,
  lameDuckMs = 0,
  drainTimeoutMs = 20_000,
}: ServerOptions): Promise<RunningServer> {
  const running = createRunning();
  let isDraining = false;
  const shedCounts: Record<ShedReason, number> = { stopping: 0, running: 0, 'event loop': 0, heap: 0 };
  const whyBusy = () => (isFull(running, maxRunning) ? 'running' : overload?.reason());
  const whyShedding = () => (isDraining ? 'stopping' : whyBusy());
  const load = (): ServerLoad => ({ running: running.size, shedding: whyShedding(), shed: { ...shedCounts } });

  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: Math.min(headersTimeoutMs, 2_000),
    },
    (request, response) => {
      if (isDraining) {
        response.setHeader('Connection', 'close');
      }
      switch (request.url?.split('?', 1)[0]) {
        case '/livez':
          return answerHealth(response, undefined);
        case '/readyz':
          return answerHealth(response, isDraining ? 'stopping' : whyBusy() && 'overloaded');
        case '/metrics':
          if (metrics !== undefined) {
            return void answerMetrics(response, metrics(load()));
          }
      }
      const reason = whyShedding();
      if (reason !== undefined) {
        shedCounts[reason] += 1;
        return shed(response, isDraining);
      }
      running.add(response);
      listener(request, response);
    },
  );
  server.setTimeout(stallTimeoutMs); // Destroys the connection: nobody listens to the event.
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, host, resolve);
  try {
    await listening;
  } catch (error) {
    throw new ListenError(explain(error, host, port), { cause: error });
  }

  async function close(): Promise<void> {
    isDraining = true;
    for (const response of running.all()) {
      if (!response.headersSent) {
        response.setHeader('Connection', 'close');
      }
    }
    const fuse = setTimeout(() => server.closeAllConnections(), drainTimeoutMs);
    await sleep(lameDuckMs);
    await takeWaiting(server);
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    server.close(() => resolve());
    while (running.size > 0) {
      await Promise.all(running.all().map((response) => new Promise((resolve) => response.once('close', resolve))));
    }
    // What is left are connections that nothing was asked on yet: a request may be on its way, or a browser opened them ahead of time.
    await Promise.race([closed, sleep(lameDuckMs)]);
    server.closeAllConnections();
    await closed;
    clearTimeout(fuse);
  }

  return { url: urlOf(server.address(), host), load, close, [Symbol.asyncDispose]: close };
}

/** So many times as many requests may be on their way here. */
const ARRIVING = 4;

/** Requests that have not come whole do nothing yet: whoever sends many of them slowly does not take the others' places. */
const isFull = (running: ReturnType<typeof createRunning>, max: number): boolean =>
  running.size >= max &&
  (running.size >= ARRIVING * max || running.all().filter(({ req }) => req.complete).length >= max);

/**
 * The answers that are being made, in slots that are used again: a `Set` whose members come and go with every request makes garbage
 * that the young generation's collector cannot see as such, for each table it leaves behind points to the next one.
 */
function createRunning() {
  const slots: (ServerResponse | undefined)[] = [];
  const free: number[] = [];
  return {
    get size() {
      return slots.length - free.length;
    },
    all: () => slots.filter((response) => response !== undefined),
    /** Until it is closed. */
    add(response: ServerResponse): void {
      const slot = free.pop() ?? slots.length;
      slots[slot] = response;
      response.once('close', () => {
        slots[slot] = undefined;
        free.push(slot);
      });
    },
  };
}

/** Clients that come back at once could make it last for ever. */
const MAX_TAKING_MS = 250;

/**
 * Takes the connections that the system has made and this process not yet taken, one each turn of the event loop: closing the server
 * would reset them, with requests that may be on them.
 */
async function takeWaiting(server: Server): Promise<void> {
  const until = performance.now() + MAX_TAKING_MS;
  let hasTaken = true;
  const onConnection = () => {
    hasTaken = true;
  };
  server.on('connection', onConnection);
  while (hasTaken && performance.now() < until) {
    hasTaken = false;
    await immediate(); // Turns begin with the timers and end here, after connections were taken.
    await immediate();
  }
  server.off('connection', onConnection);
}

function answerHealth(response: ServerResponse, problem: string | undefined): void {
  response.writeHead(problem === undefined ? 200 : 503, { 'content-type': 'text/plain', 'cache-control': 'no-store' });
  response.end(`${problem ?? 'ok'}\n`);
}

async function answerMetrics(response: ServerResponse, metrics: Promise<string>): Promise<void> {
  try {
    const text = await metrics;
    response.writeHead(200, { 'content-type': METRICS_TYPE, 'cache-control': 'no-store' });
    response.end(text);
  } catch {
    response.writeHead(500, { 'content-type': 'text/plain' });
    response.end('The metrics cannot be had.\n');
  }
}

/** The same shape as every other error, without the cost of getting there. */
function shed(response: ServerResponse, isDraining: boolean): void {
  const message = isDraining
    ? 'This process is stopping; send the request again, to another one.'
    : 'Too many requests are running; send the request again in a moment.';
  const extensions = { code: 'OVERLOADED', retryable: true, retryAfterSeconds: 1 };
  response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' });
  response.end(JSON.stringify({ errors: [{ message, extensions }] }));
}

function urlOf(address: AddressInfo | string | null, host: string): string {
  if (address === null || typeof address === 'string') {
    throw new ListenError('The server has no network address.');
  }
  // The wildcard addresses accept connections but cannot be connected to everywhere.
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${address.port}`;
}

function explain(error: unknown, host: string, port: number): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use: stop the program that listens there, or choose another port with --port.`;
    case 'EACCES':
      return `Port ${port} needs rights that this process does not have: choose one above 1023 with --port.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `This machine has no address ${host}: choose another with --host, such as 127.0.0.1 or 0.0.0.0.`;
    default:
      return `Listening on ${host}, port ${port}, failed: ${error instanceof Error ? error.message : String(error)}.`;
  }
}
