import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { defaultSettings } from '../settings/parse-settings.ts';
import type { ServerSettings } from '../settings/settings.ts';
import type { ServerLoad } from '../telemetry/process-metrics.ts';
import { createConnections } from './connections.ts';
import { drain } from './drain.ts';
import { createExchanges } from './exchanges.ts';
import { refuseExpectation, refuseLargeBody } from './expectation.ts';
import { respondHealth, respondMetrics } from './health.ts';
import { listen } from './listen.ts';
import { createShedding, type SheddingDeps } from './load-shedding.ts';
import { sendRefusal } from './send-refusal.ts';

export { ListenError } from './listen.ts';

/** Options of a server. Settings that are left out have their defaults. */
export interface ServerOptions extends Partial<ServerSettings>, SheddingDeps {
  host: string;
  /** Port, or 0 for a free one. */
  port: number;
  /** Answers everything but health checks and metrics. */
  listener: RequestListener;
  /** Returns the text to answer at `/metrics`. @default none: the path goes to the listener */
  metrics?: ((load: ServerLoad) => Promise<string>) | undefined;
}

/** Size above which headers are refused with 431. */
const MAX_HEADER_BYTES = 16 * 1024;

/** Longer than the idle time of common load balancers (60 s), so that they do not send to a connection that is being closed. */
const KEEP_ALIVE_MS = 65_000;

/** Listening server. */
export interface RunningServer extends AsyncDisposable {
  /** Address such as `http://127.0.0.1:4000`, without a slash at the end. */
  readonly url: string;
  load(): ServerLoad;
  /** Stops accepting, lets in-flight requests finish within the drain timeout, and cuts off the rest. */
  close(): Promise<void>;
}

/**
 * Starts a server. It answers `/livez`, `/readyz` and `/metrics` itself, sheds requests before their bodies are read, and closes slow
 * connections.
 *
 * @throws {ListenError}
 */
export async function startServer({
  host,
  port,
  listener,
  metrics,
  ...options
}: ServerOptions): Promise<RunningServer> {
  const settings: ServerSettings = { ...defaultSettings(), ...options };
  const { maxBodyBytes, clientHeadersTimeoutMs } = settings;
  let isDraining = false;

  const exchanges = createExchanges((socket) => connections.of(socket));
  const server = createServer({
    ...exchanges.classes,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: clientHeadersTimeoutMs,
    requestTimeout: settings.clientRequestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(clientHeadersTimeoutMs, 2_000),
  });
  const connections = createConnections(server, settings, () => shedding.relieve());
  const shedding = createShedding(exchanges, connections, settings, options);
  const whyShedding = () => (isDraining ? 'stopping' : shedding.reason());
  const load = (): ServerLoad => ({
    running: exchanges.running(),
    connections: connections.size,
    bufferedBytes: shedding.bufferedBytes(),
    shedding: whyShedding(),
    shed: { ...shedding.counts },
    closed: { ...connections.closed },
  });

  /** Answers what the server itself answers. Returns whether the request is left to the listener. */
  function admit(request: IncomingMessage, response: ServerResponse): boolean {
    if (isDraining) {
      response.setHeader('Connection', 'close');
    }
    shedding.relieve();
    switch (request.url?.split('?', 1)[0]) {
      case '/livez':
        respondHealth(response, undefined);
        return false;
      case '/readyz':
        respondHealth(response, isDraining ? 'stopping' : shedding.reason() && 'overloaded');
        return false;
      case '/metrics':
        if (metrics !== undefined) {
          void respondMetrics(response, metrics(load()));
          return false;
        }
    }
    const reason = whyShedding();
    if (reason !== undefined) {
      shedding.counts[reason] += 1;
      const message = isDraining
        ? 'This process is stopping. Send the request again, to another one.'
        : 'Too many requests are running. Send the request again in a moment.';
      sendRefusal(response, { status: 503, code: 'OVERLOADED', message, retryAfterSeconds: 1 });
    }
    return reason === undefined;
  }

  server.on('request', (request, response) => {
    if (admit(request, response)) {
      listener(request, response);
    }
  });
  server.on('checkContinue', (request, response) => {
    if (admit(request, response) && !refuseLargeBody(request, response, maxBodyBytes)) {
      response.writeContinue();
      listener(request, response);
    }
  });
  server.on('checkExpectation', refuseExpectation);

  async function close(): Promise<void> {
    isDraining = true;
    await drain(server, connections, exchanges, settings);
  }

  const url = await listen(server, host, port);
  return { url, load, close, [Symbol.asyncDispose]: close };
}
