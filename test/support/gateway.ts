import type { ExecutionResult } from 'graphql';
import { pino } from 'pino';
import { createGateway, createGatewayState, type GatewayDeps, type GatewayOptions } from '../../src/gateway.ts';
import { SANDBOX_KEYS, startSandbox } from '../../src/sandbox/sandbox.ts';
import { startServer } from '../../src/server/server.ts';
import type { ServerSettings } from '../../src/settings/settings.ts';
import { createContractCheck } from './contract.ts';
import { fetchListener } from './fetch-listener.ts';
import { type Exchange, startRecorder } from './recorder.ts';

/** Typed document from codegen, or document text. */
export type TestDocument<Data, Variables> = { toString(): string; __apiType?: (variables: Variables) => Data };

export interface TestRequest {
  /** `Authorization` header; null sends no header. @default the development key of the sandbox */
  authorization?: string | null;
  headers?: Record<string, string>;
  /** Parameter `extensions`. @default none */
  extensions?: Record<string, unknown>;
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
export interface TestGateway extends AsyncDisposable {
  /** URL of the GraphQL endpoint. */
  readonly url: string;
  /** Parsed log lines so far. */
  readonly log: Record<string, unknown>[];
  /** Returns the metrics in Prometheus' text format. */
  metrics(): Promise<string>;
  /** Returns the number of in-flight requests. */
  running(): number;
  /** Sends an operation and returns its response. */
  send<Data = Record<string, unknown>, Variables = Record<string, unknown>>(
    document: TestDocument<Data, Variables> | string,
    variables?: Variables,
    request?: TestRequest,
  ): Promise<TestResponse<Data>>;
  /** Sends an operation and returns its data. Throws an error with the whole response if it has errors. */
  data<Data = Record<string, unknown>, Variables = Record<string, unknown>>(
    document: TestDocument<Data, Variables> | string,
    variables?: Variables,
    request?: TestRequest,
  ): Promise<Data>;
}

/** Entry point of a gateway that the test server uses. */
export type Entry = 'listener' | 'fetch';

/** Longest wait for Redis, in milliseconds. Long, because on a busy machine Redis may get no processor for a while. */
const REDIS_TIMEOUT_MS = 20_000;

/** Starts a gateway in front of the given upstream. */
export async function startGateway(
  options: GatewayOptions,
  deps: GatewayDeps = {},
  entry: Entry = 'listener',
  limits: Partial<ServerSettings> = {},
): Promise<TestGateway> {
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
    listener,
    isNeverShed: gateway.isPage,
    lameDuckMs: 0,
    ...limits,
  });
  const url = server.url + gateway.endpoint;

  const send: TestGateway['send'] = async (document, variables, request = {}) => {
    const { authorization = `ApiKey ${SANDBOX_KEYS.development}`, headers, extensions } = request;
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json',
        ...(authorization !== null && { authorization }),
        ...headers,
      },
      body: JSON.stringify({ query: String(document), variables, extensions }),
    });
    const body = await response.json();
    const codes = (body.errors ?? []).map(({ extensions }: { extensions?: { code: unknown } }) => extensions?.code);
    return { status: response.status, headers: response.headers, body, codes };
  };

  return {
    url,
    log,
    metrics: gateway.metrics,
    running: () => server.load().running,
    send,
    async data(document, variables, request) {
      const { status, body } = await send(document, variables, request);
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

/** Returns the places at which the gateway found deviations from the contract. */
export const deviationsIn = (log: TestGateway['log']): string[] =>
  log.flatMap(({ msg, method, route, path, kind }) =>
    String(msg).includes('deviates from the contract') ? `${method} ${route} ${path} ${kind}` : [],
  );

/** Gateway in front of a sandbox. Records all upstream requests and validates them against the contract when disposed. */
export interface SandboxedGateway extends TestGateway {
  /** Returns the exchanges since the last `forget()`, optionally only those that start with a prefix such as `GET /v1/workflows/`. */
  upstream(endpoint?: string): Exchange[];
  /** Discards the exchanges recorded so far. */
  forget(): void;
}

export interface SandboxedGatewayOptions {
  options?: Partial<GatewayOptions>;
  now?: () => Date;
}

export async function startSandboxedGateway({
  options = {},
  now,
}: SandboxedGatewayOptions = {}): Promise<SandboxedGateway> {
  const sandbox = await startSandbox({ ...(now && { now }) });
  const recorder = await startRecorder(sandbox.url);
  const gateway = await startGateway({ upstream: recorder.url, ...options }, { ...(now && { now }) });
  const check = await createContractCheck();
  let recordStart = 0;
  return {
    ...gateway,
    upstream: (endpoint = '') =>
      recorder.exchanges.slice(recordStart).filter(({ method, path }) => `${method} ${path}`.startsWith(endpoint)),
    forget() {
      recordStart = recorder.exchanges.length;
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await recorder[Symbol.asyncDispose]();
      await sandbox.close();
      const problems = [...recorder.exchanges.flatMap((exchange) => check(exchange)), ...deviationsIn(gateway.log)];
      if (problems.length > 0) {
        throw new Error(`Requests or responses violate the contract:\n${problems.join('\n')}`);
      }
    },
  };
}
