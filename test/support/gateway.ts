import type { IncomingMessage, RequestListener } from 'node:http';
import type { ExecutionResult } from 'graphql';
import { pino } from 'pino';
import { expect } from 'vitest';
import { processSnapshot } from '../../packages/cli/src/server/process-metrics.ts';
import { type ServerOptions, startServer } from '../../packages/cli/src/server/server.ts';
import { SANDBOX_KEYS, startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import { createGateway, createGatewayState, type GatewayDeps, type GatewayOptions } from '../../src/gateway.ts';
import { formatMetrics } from '../../src/telemetry/metrics.ts';
import { createContractCheck } from './contract.ts';
import { type Exchange, forwardTo, type Script, startService } from './service.ts';

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
export type TestGateway = Awaited<ReturnType<typeof startGateway>>;

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

/** Starts a gateway in front of the given upstream. */
export async function startGateway(
  options: GatewayOptions,
  { entry = 'listener', server: limits = {}, ...deps }: TestDeps = {},
) {
  const log: Record<string, unknown>[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => log.push(JSON.parse(line)) });
  const state = createGatewayState(logger, deps.monotonicNow, REDIS_TIMEOUT_MS);
  const { maxInFlightRequests } = limits; // The command passes it to both. With 0, the server sheds everything.
  const shared = maxInFlightRequests ? { maxInFlightRequests } : {};
  const gateway = createGateway({ ...shared, ...options }, { logger, ...deps }, state);
  const listener = entry === 'fetch' ? fetchListener(gateway.fetch) : gateway.listener;
  const server = await startServer({
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

/** Gateway in front of a service that the test scripts, with a clock. */
export type ScriptedGateway = Awaited<ReturnType<typeof startScriptedGateway>>;

/** Starts a gateway and its service. Pauses are as short as they can be. */
export async function startScriptedGateway(script: Script, options: Partial<GatewayOptions> = {}, deps: TestDeps = {}) {
  let time = 1_000;
  const service = await startService(script);
  const gateway = await startGateway(
    { ...options, upstream: service.url },
    { monotonicNow: () => time, random: () => 0, ...deps },
  );
  return {
    ...gateway,
    service,
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
      await service[Symbol.asyncDispose]();
    },
  };
}

/** Returns the places at which the gateway found deviations from the contract. */
export const deviationsIn = (log: TestGateway['log']): string[] =>
  log.flatMap(({ msg, method, route, path, kind }) =>
    String(msg).includes('deviates from the contract') ? `${method} ${route} ${path} ${kind}` : [],
  );

/** Gateway in front of a sandbox. */
export type SandboxedGateway = Awaited<ReturnType<typeof startSandboxedGateway>>;

/** Starts it. Records all upstream requests, and validates them against the contract when disposed. */
export async function startSandboxedGateway({
  options = {},
  now,
}: {
  options?: Partial<GatewayOptions>;
  now?: () => Date;
} = {}) {
  const sandbox = await startSandbox({ ...(now && { now }) });
  const exchanges: Exchange[] = [];
  const recorder = await startService(forwardTo(sandbox.url, exchanges));
  const gateway = await startGateway({ upstream: recorder.url, ...options }, { ...(now && { now }) });
  const check = await createContractCheck();
  let recordStart = 0;
  return {
    ...gateway,
    /** Returns the exchanges since the last `forget()`, optionally only those that start with a prefix such as `GET /v1/workflows/`. */
    upstream: (endpoint = '') =>
      exchanges.slice(recordStart).filter(({ method, path }) => `${method} ${path}`.startsWith(endpoint)),
    /** Discards the exchanges recorded so far. */
    forget(): void {
      recordStart = exchanges.length;
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await recorder[Symbol.asyncDispose]();
      await sandbox.close();
      const problems = [...exchanges.flatMap((exchange) => check(exchange)), ...deviationsIn(gateway.log)];
      if (problems.length > 0) {
        throw new Error(`Requests or responses violate the contract:\n${problems.join('\n')}`);
      }
    },
  };
}

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
