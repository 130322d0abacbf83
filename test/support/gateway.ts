// Starts gateways on real ports, in front of the sandbox, a healthy service, or one that the test scripts.

import type { IncomingMessage, RequestListener } from 'node:http';
import type { ExecutionResult } from 'graphql';
import { pino } from 'pino';
import { expect } from 'vitest';
import { processSnapshot } from '../../packages/cli/src/server/process-metrics.ts';
import { startServer as listen, type ServerOptions } from '../../packages/cli/src/server/server.ts';
import { SANDBOX_KEYS, startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import { createGateway, createGatewayState, type GatewayDeps, type GatewayOptions } from '../../src/gateway.ts';
import { formatMetrics } from '../../src/telemetry/metrics.ts';
import { createContractCheck } from './contract.ts';
import { healthyService } from './healthy-service.ts';
import { type Exchange, forwardTo, type Script, type ScriptedService, startService } from './service.ts';

/** Typed document from codegen, or document text. */
export type TestDocument<Data, Variables> = { toString(): string; __apiType?: (variables: Variables) => Data };

export interface TestRequest {
  /** `Authorization` header; null sends no header. @default the development key of the sandbox */
  authorization?: string | null;
  headers?: Record<string, string>;
  /** Parameter `extensions`. @default none */
  extensions?: Record<string, unknown>;
  /** Disconnects the client when it is aborted. @default never */
  signal?: AbortSignal;
  /** @default that of the endpoint */
  path?: string;
}

export interface TestResponse<Data = Record<string, unknown>> {
  status: number;
  headers: Headers;
  /** Parsed body. */
  body: ExecutionResult<Data>;
  /** Codes of `errors`, in order. */
  codes: unknown[];
}

/** Gateway on a real port. */
export type StartedGateway = Awaited<ReturnType<typeof startServer>>;

type Log = Record<string, unknown>[];

/** Entry point of a gateway that the test server uses. */
export type Entry = 'listener' | 'fetch';

/** Longest wait for Redis, in milliseconds. Long, because on a busy machine Redis may get no processor for a while. */
const REDIS_TIMEOUT_MS = 20_000;

/** Parts that tests can replace beside the options: clocks, random numbers, the log, and the following. */
export interface TestDeps extends GatewayDeps {
  /** @default listener */
  entry?: Entry;
  /** Settings of the server. @default without waiting before the drain */
  server?: Partial<ServerOptions>;
}

/** Options of a gateway, and the service behind it. */
export type ServiceOptions = Partial<GatewayOptions> & {
  /**
   * Service that is started with the gateway:
   * - `sandbox`: all requests are recorded, and disposing the gateway fails if one or its response violates the contract
   * - `healthy`: each request succeeds, also those of modules, with records and examples of the contract
   * - a script, which returns each response
   */
  service: 'sandbox' | 'healthy' | Script;
};

/** Starts a gateway in front of a service of its own, or of another one that is in `upstream`. */
export function startGateway(options: ServiceOptions, deps?: TestDeps): Promise<GatewayWithService>;
export function startGateway(options: GatewayOptions, deps?: TestDeps): Promise<StartedGateway>;
export function startGateway(options: ServiceOptions | GatewayOptions, deps?: TestDeps): Promise<StartedGateway> {
  return 'service' in options ? startWithService(options, deps) : startServer(options, deps);
}

/** Starts a gateway and the server of the command. */
async function startServer(
  options: GatewayOptions,
  { entry = 'listener', server: limits = {}, ...deps }: TestDeps = {},
) {
  const log: Log = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => log.push(JSON.parse(line)) });
  const state = createGatewayState(logger, deps.monotonicNow, REDIS_TIMEOUT_MS);
  const { maxInFlightRequests } = limits; // The command passes it to both. With 0, the server sheds everything.
  const shared = maxInFlightRequests ? { maxInFlightRequests } : {};
  const gateway = createGateway({ ...shared, ...options }, { logger, ...deps }, state);
  const listener = entry === 'fetch' ? fetchListener(gateway.fetch) : gateway.listener;
  const server = await listen({
    host: '127.0.0.1',
    port: 0,
    drainTimeoutMs: 100, // Idle connections of tests are closed soon.
    listener,
    bufferedBytes: gateway.bufferedBytes,
    isNeverShed: gateway.isPage,
    refusalHeaders: gateway.refusalHeaders,
    degradations: gateway.degradations,
    metrics: (load) => formatMetrics([[...gateway.metricsSnapshot(), ...processSnapshot(load, process)]]),
    ...limits,
  });
  const url = server.url + gateway.endpoint;

  async function send<Data = Record<string, unknown>, Variables = Record<string, unknown>>(
    document: TestDocument<Data, Variables> | string,
    variables?: Variables,
    { authorization = `ApiKey ${SANDBOX_KEYS.development}`, headers, extensions, signal, path = url }: TestRequest = {},
  ): Promise<TestResponse<Data>> {
    const response = await fetch(new URL(path, url), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json',
        ...(authorization !== null && { authorization }),
        ...headers,
      },
      body: JSON.stringify({ query: String(document), variables, extensions }),
      ...(signal && { signal }),
    });
    const body = await response.json();
    const codes = (body.errors ?? []).map(({ extensions }: { extensions?: { code: unknown } }) => extensions?.code);
    return { status: response.status, headers: response.headers, body, codes };
  }
  return {
    /** URL of the GraphQL endpoint. */
    url,
    /** Parsed log lines so far. */
    log,
    /** Returns the metrics in Prometheus' text format. */
    metrics: gateway.metrics,
    /** Returns the bytes of upstream responses that are being received. */
    bufferedBytes: gateway.bufferedBytes,
    load: server.load,
    /** Returns the number of in-flight requests. */
    running: () => server.load().running,
    send,
    /**
     * Waits until that many requests are in flight and each is at its REST call. A request counts as soon as it is
     * received, so another one is sent after them. The tokens must be known already: verifying one takes longer.
     */
    async inFlight(requests: number): Promise<void> {
      await expect.poll(() => server.load().running).toBe(requests);
      await send('{ __typename }');
    },
    /** Sends an operation and returns its data. Throws an error with the whole response if it has errors. */
    async data<Data = Record<string, unknown>, Variables = Record<string, unknown>>(
      ...operation: Parameters<typeof send<Data, Variables>>
    ): Promise<Data> {
      const { status, body } = await send(...operation);
      if (status !== 200 || body.errors !== undefined || body.data == null) {
        throw new Error(`The operation failed with status ${status}: ${JSON.stringify(body, null, 2)}`);
      }
      return body.data;
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await gateway.dispose();
    },
  };
}

/** Gateway with its service and a clock. */
export type GatewayWithService = Awaited<ReturnType<typeof startWithService>>;

/** Starts a service and a gateway in front of it. Pauses are as short as they can be. */
async function startWithService({ service: kind, ...options }: ServiceOptions, deps: TestDeps = {}) {
  let time = 1_000;
  const [service, closeService] = await openService(kind, deps.now);
  const gateway = await startServer(
    { upstream: service.url, ...options },
    { monotonicNow: () => time, random: () => 0, ...deps },
  );
  return {
    ...gateway,
    /** Service that the test scripts, or the recorder in front of the sandbox. */
    service,
    /** Returns the requests since the last `forget()`, optionally only those that start with a prefix such as `GET /v1/workflows/`. */
    upstream: (endpoint = '') =>
      service.requests.filter(({ method, path }) => `${method} ${path}`.startsWith(endpoint)),
    /** Discards the requests so far. */
    forget: service.forget,
    /** Lets the service accept a key. Until then, the gateway has one call with it in flight at a time. */
    async accept(key: string = SANDBOX_KEYS.development): Promise<void> {
      const { script } = service;
      service.script = healthyService;
      await gateway.data('{ notificationGroups { name } }', {}, { authorization: `ApiKey ${key}` });
      service.script = script;
      service.forget();
    },
    /** Lets time pass. */
    advance(seconds: number): void {
      time += seconds * 1_000;
    },
    /** Runs an operation with a key, and returns its data; the codes of its errors if it has some. */
    async run(document: string, key = 'a', headers: Record<string, string> = {}): Promise<unknown> {
      const { body, codes } = await gateway.send(document, {}, { authorization: `ApiKey ${key}`, headers });
      return codes.length > 0 ? codes : body.data;
    },
    /** Runs an operation whose client disconnects when this request has arrived at the service. Returns the function that sends the response. */
    async disconnectDuring(endpoint: string, document: string): Promise<() => void> {
      const held = service.hold(endpoint);
      const client = new AbortController();
      const operation = gateway.send(document, {}, { authorization: 'ApiKey a', signal: client.signal });
      await held.arrived;
      client.abort();
      await expect(operation).rejects.toThrow();
      return held.release;
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await closeService(gateway.log);
    },
  };
}

/** Starts a service. @returns also the function that closes it, and rejects violations of the contract by the gateway and the sandbox */
async function openService(
  kind: ServiceOptions['service'],
  now?: () => Date,
): Promise<[service: ScriptedService, close: (log: Log) => Promise<void>]> {
  if (kind !== 'sandbox') {
    const service = await startService(kind === 'healthy' ? healthyService : kind);
    return [service, () => service[Symbol.asyncDispose]()];
  }
  const sandbox = await startSandbox({ ...(now && { now }) });
  const exchanges: Exchange[] = [];
  const recorder = await startService(forwardTo(sandbox.url, exchanges));
  const check = await createContractCheck();
  return [
    recorder,
    async (log) => {
      await recorder[Symbol.asyncDispose]();
      await sandbox.close();
      const problems = [...exchanges.flatMap((exchange) => check(exchange)), ...deviationsIn(log)];
      if (problems.length > 0) {
        throw new Error(`Requests or responses violate the contract:\n${problems.join('\n')}`);
      }
    },
  ];
}

/** Returns the places at which the gateway found deviations from the contract. */
export const deviationsIn = (log: Log): string[] =>
  log.flatMap(({ msg, method, route, path, kind }) =>
    String(msg).includes('deviates from the contract') ? `${method} ${route} ${path} ${kind}` : [],
  );

/** Adapts a Fetch handler to `node:http`, as a framework that mounts `gateway.fetch` would. */
const fetchListener =
  (handle: (request: Request) => Promise<Response>): RequestListener =>
  async (incoming, outgoing) => {
    const { method = '', headers, url = '' } = incoming;
    const disconnected = new AbortController();
    outgoing.once('close', () => outgoing.writableFinished || disconnected.abort());
    const init: RequestInit & { duplex: 'half' } = {
      method,
      headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
      signal: disconnected.signal,
      body: method === 'GET' || method === 'HEAD' ? null : streamOf(incoming),
      duplex: 'half',
    };
    const response = await handle(new Request(new URL(url, 'http://gateway.example'), init));
    const body = Buffer.from(await response.arrayBuffer());
    outgoing.writeHead(response.status, {
      ...Object.fromEntries(response.headers),
      ...(response.status !== 204 && { 'content-length': body.byteLength }),
    });
    outgoing.end(body);
  };

function streamOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let isCancelled = false; // The rest of the body arrives all the same.
  return new ReadableStream({
    start(controller) {
      incoming.on('data', (chunk: Buffer) => isCancelled || controller.enqueue(new Uint8Array(chunk)));
      incoming.once('end', () => isCancelled || controller.close());
      incoming.once('error', (error) => controller.error(error));
    },
    cancel() {
      isCancelled = true;
    },
  });
}
