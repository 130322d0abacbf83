// Serves HTTP: connections, health checks, load shedding, and the end of all of them.

import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { bodyTooLarge, gatewayOverloaded, type Refusal, refuse } from '../../../../src/errors/codes.ts';
import { Connections, MESSAGE_CLASSES } from './connections.ts';
import { acceptBacklog, announceClose, drain, turnEventLoop } from './drain.ts';
import { type Health, type Probes, respondProbe } from './health.ts';
import { listen } from './listen.ts';
import { createShedding, type SheddingDeps } from './load-shedding.ts';
import type { ServerLoad } from './process-metrics.ts';
import { sendRefusal } from './send-refusal.ts';
import { SERVER_TABLE, type ServerSettings } from './settings.ts';

/** Options of a server. Omitted settings have their defaults. */
export interface ServerOptions extends Partial<ServerSettings>, SheddingDeps {
  host: string;
  /** Port to listen on; 0 for any free port. */
  port: number;
  /** Listener for all requests except health checks and metrics. */
  listener: RequestListener;
  /** Returns the response body for `/metrics`. @default none: the listener handles the path */
  metrics?: ((load: ServerLoad) => Promise<string>) | undefined;
  /** Returns whether a request is answered even while load is shed. @default () => false */
  isNeverShed?: ((request: IncomingMessage) => boolean) | undefined;
  /** Returns headers for the responses of requests that the server refuses itself, such as those of CORS. @default none */
  refusalHeaders?: ((request: IncomingMessage) => Refusal['headers']) | undefined;
  /** Returns what doesn't work although requests are served, for `/readyz`: lines by name. @default () => ({}) */
  degradations?: (() => Health['details']) | undefined;
  /** Returns the health checks and metrics that the server answers, given its own; undefined leaves their paths to the listener. @default its own */
  probes?: (own: Probes) => Probes | undefined;
  /** Waits until the next accepted connection, if there is one, has reached this process. @default two turns of the event loop */
  connectionsArrived?: () => Promise<void>;
  /** Called with the number of requests that are aborted because of the drain timeout. @default not called */
  onCutOff?: (requests: number) => void;
  /** Returns whether requests with this `Host` are answered; others get 421. @default () => true */
  isKnownHost?: (host: string | undefined) => boolean;
  /** Option of the command that sets the port, for error messages. @default --port */
  portOption?: string;
  /** Time limit for receiving the headers of a request, in milliseconds. @default 10_000 */
  headersTimeoutMs?: number;
  /** Time limit for receiving a whole request, in milliseconds. @default 30_000 */
  requestTimeoutMs?: number;
  /** Time limit for reading a response, without what the operating system buffers, in milliseconds. @default 60_000 */
  responseTimeoutMs?: number;
}

/** Maximum size of the headers; larger ones are rejected with 431. */
const MAX_HEADER_BYTES = 16 * 1024;

/** Headers are at most 16 KiB, which slow mobile networks (16 kbit/s) send in 8 s. */
const HEADERS_TIMEOUT_MS = 10_000;

/** Bodies of the default size arrive in time at 70 kbit/s. Slower clients would keep memory for longer than an operation takes. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Responses of the default maximum, 4 MiB, are read in time at 600 kbit/s. A client that reads nothing keeps memory for as long. */
const RESPONSE_TIMEOUT_MS = 60_000;

/** Longer than the idle timeout of common load balancers (60 s), so that they don't reuse a connection that is being closed. */
const KEEP_ALIVE_MS = 65_000;

export interface RunningServer extends AsyncDisposable {
  /** Address without a trailing slash, such as `http://127.0.0.1:4000`. */
  readonly url: string;
  /** Its own health checks and metrics. */
  readonly probes: Probes;
  load(): ServerLoad;
  /** Returns why the server should get no requests, in a word; undefined if it should. */
  problem(): string | undefined;
  /** Stops accepting connections at once and closes, for servers that share their port: new connections go to the others. */
  retire(): Promise<void>;
  /**
   * Reports that it is not ready, and with each response that the connection closes. Serves as before for the drain delay, stops accepting connections,
   * and closes; see `drain`.
   */
  close(): Promise<void>;
}

/**
 * Starts a server. It handles `/livez`, `/readyz` and `/metrics` itself, sheds requests before reading their bodies, and closes slow
 * connections.
 *
 * @throws {ListenError}
 */
export async function startServer({
  host,
  port,
  listener,
  metrics,
  isNeverShed = () => false,
  refusalHeaders = () => ({}),
  degradations,
  probes: selectProbes = (own) => own,
  connectionsArrived = turnEventLoop,
  onCutOff = () => {},
  isKnownHost = () => true,
  portOption,
  headersTimeoutMs = HEADERS_TIMEOUT_MS,
  requestTimeoutMs = REQUEST_TIMEOUT_MS,
  responseTimeoutMs = RESPONSE_TIMEOUT_MS,
  ...options
}: ServerOptions): Promise<RunningServer> {
  const settings: ServerSettings = { ...SERVER_TABLE.parse({}), ...options };
  let isStopping = false;
  let drained: Promise<void> | undefined;

  const server = createServer({
    ...MESSAGE_CLASSES,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(headersTimeoutMs, 2_000),
  });
  const connections = new Connections(server, { ...settings, responseTimeoutMs }, () => shedding.freeMemory());
  const shedding = createShedding(connections, settings, options);
  const load = (): ServerLoad => ({
    running: connections.running,
    connections: connections.open.size,
    bufferedBytes: shedding.bufferedBytes(),
    shedding: shedding.excess()?.reason,
    shed: { ...shedding.counts },
    closed: { ...connections.closed },
  });

  // Not the requests in flight: while a service hangs, an instance that is removed takes nothing off those that remain.
  const problem = () => (isStopping ? 'stopping' : shedding.overloadExcess() && 'overloaded');
  const probes: Probes = {
    alive: () => ({}),
    ready: () => ({ problem: problem(), details: degradations?.() ?? {} }),
    metrics: metrics && (() => metrics(load())),
  };
  const answered = selectProbes(probes);

  const reject = (request: IncomingMessage, response: ServerResponse, refusal: Refusal, closes = true) =>
    sendRefusal(response, refusal, { closes, headers: refusalHeaders(request) });

  /** Handles health checks and metrics, and sheds load. Returns whether the listener should handle the request. */
  function admit(request: IncomingMessage, response: ServerResponse): boolean {
    if (isStopping || drained !== undefined) {
      connections.open.get(request.socket)?.announceClose();
    }
    shedding.freeMemory();
    const isKnown = isKnownHost(request.headers.host);
    if (isKnown && answered !== undefined && respondProbe(request, response, answered)) {
      return false;
    }
    if (request.method === 'OPTIONS') {
      return true; // Without a preflight, a page can't read why its request is refused.
    }
    if (!isKnown) {
      const message =
        'The gateway has no such host name. Use the address that it printed, or add the name to its setting hosts.';
      reject(request, response, refuse('MISDIRECTED_REQUEST', message));
      return false;
    }
    const excess = shedding.excess();
    if (excess === undefined || isNeverShed(request)) {
      return true;
    }
    shedding.shed(excess);
    reject(request, response, gatewayOverloaded(), false);
    return false;
  }

  server.on('request', (request, response) => {
    if (admit(request, response)) {
      listener(request, response);
    }
  });
  server.on('checkContinue', (request, response) => {
    if (!admit(request, response)) {
      return;
    }
    if (Number(request.headers['content-length'] ?? 0) > settings.maxBodyBytes) {
      reject(request, response, bodyTooLarge(settings.maxBodyBytes));
      return;
    }
    response.writeContinue();
    listener(request, response);
  });
  server.on('checkExpectation', (request, response) => {
    reject(request, response, refuse('EXPECTATION_FAILED', 'The Expect header must be 100-continue.'));
  });

  function retire(): Promise<void> {
    drained ??= drain(server, connections, settings.drainTimeoutMs, onCutOff);
    return drained;
  }

  async function close(): Promise<void> {
    isStopping = true;
    if (drained === undefined) {
      announceClose(connections);
      await sleep(settings.drainDelayMs);
      await acceptBacklog(server, connectionsArrived);
    }
    await retire();
  }

  const url = await listen(server, host, port, portOption);
  return { url, probes, load, problem, retire, close, [Symbol.asyncDispose]: close };
}
