import type { ExecutionResult } from 'graphql';
import { pino } from 'pino';
import { createGateway, type GatewayDeps, type GatewayOptions } from '../../src/gateway.ts';
import { startServer } from '../../src/http/server.ts';
import { SANDBOX_KEYS, startSandbox } from '../../src/sandbox/sandbox.ts';
import type { ServerSettings } from '../../src/settings/settings.ts';
import { createContractCheck } from './contract.ts';
import { fetchListener } from './fetch-listener.ts';
import { type Exchange, startRecorder } from './recorder.ts';

/** A document of codegen's, or its text. */
export type TestDocument<Data, Variables> = { toString(): string; __apiType?: (variables: Variables) => Data };

export interface TestRequest {
  /** The `Authorization` header; null sends none. @default the sandbox's development key */
  authorization?: string | null;
  headers?: Record<string, string>;
}

export interface TestAnswer<Data = Record<string, unknown>> {
  status: number;
  headers: Headers;
  /** The parsed body. */
  body: ExecutionResult<Data>;
  /** The codes of `errors`, in order. */
  codes: unknown[];
}

/** A gateway on a real port. */
export interface TestGateway extends AsyncDisposable {
  /** The GraphQL endpoint. */
  readonly url: string;
  /** Lines of the log so far, parsed. */
  readonly log: Record<string, unknown>[];
  /** Requests that run now. */
  running(): number;
  /** Sends an operation. */
  send<Data = Record<string, unknown>, Variables = Record<string, unknown>>(
    document: TestDocument<Data, Variables> | string,
    variables?: Variables,
    request?: TestRequest,
  ): Promise<TestAnswer<Data>>;
  /** Sends an operation and takes its data; throws with the whole answer when there are errors. */
  data<Data = Record<string, unknown>, Variables = Record<string, unknown>>(
    document: TestDocument<Data, Variables> | string,
    variables?: Variables,
    request?: TestRequest,
  ): Promise<Data>;
}

/** The entry of a gateway that its server uses. */
export type Entry = 'listener' | 'fetch';

/** Starts a gateway in front of any upstream. */
export async function startGateway(
  options: GatewayOptions,
  deps: GatewayDeps = {},
  entry: Entry = 'listener',
  limits: Partial<ServerSettings> = {},
): Promise<TestGateway> {
  const log: Record<string, unknown>[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => log.push(JSON.parse(line)) });
  const gateway = createGateway(options, { logger, ...deps });
  const listener = entry === 'fetch' ? fetchListener(gateway.fetch) : gateway.listener;
  const server = await startServer({ host: '127.0.0.1', port: 0, listener, lameDuckMs: 0, ...limits });
  const url = server.url + gateway.endpoint;

  const send: TestGateway['send'] = async (document, variables, request = {}) => {
    const { authorization = `ApiKey ${SANDBOX_KEYS.development}`, headers } = request;
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json',
        ...(authorization !== null && { authorization }),
        ...headers,
      },
      body: JSON.stringify({ query: String(document), variables }),
    });
    const body = await response.json();
    const codes = (body.errors ?? []).map(({ extensions }: { extensions?: { code: unknown } }) => extensions?.code);
    return { status: response.status, headers: response.headers, body, codes };
  };

  return {
    url,
    log,
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

/** A gateway in front of a sandbox, with everything that goes between them on record and held against the contract. */
export interface SandboxedGateway extends TestGateway {
  /** What went upstream since the start or the last `forget()`; of one endpoint (`GET /v1/workflows/`: a prefix) where one is given. */
  upstream(endpoint?: string): Exchange[];
  /** Starts a new record. */
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
  let seen = 0;
  return {
    ...gateway,
    upstream: (endpoint = '') =>
      recorder.exchanges.slice(seen).filter(({ method, path }) => `${method} ${path}`.startsWith(endpoint)),
    forget() {
      seen = recorder.exchanges.length;
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await recorder[Symbol.asyncDispose]();
      await sandbox.close();
      const problems = recorder.exchanges.flatMap((exchange) => check(exchange));
      if (problems.length > 0) {
        throw new Error(`The contract was broken:\n${problems.join('\n')}`);
      }
    },
  };
}
