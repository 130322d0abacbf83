// Sends requests to the sandbox, and validates its responses.

import type { OpenAPIBackend } from 'openapi-backend';
import { afterAll, beforeAll, expect } from 'vitest';
import { SANDBOX_KEYS, type SandboxOptions, startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import { openContract } from './contract.ts';

export interface SandboxRequest {
  /** Environment whose key is sent; null sends no key. @default 'development' */
  as?: keyof typeof SANDBOX_KEYS | null;
  body?: unknown;
  headers?: Record<string, string>;
}

export type SandboxClient = Awaited<ReturnType<typeof createSandboxClient>>;

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Returns a function that sends a request, written as 'GET /v1/…', and validates every response against the OpenAPI document. */
export async function createSandboxClient(url: string) {
  contract ??= loadContract();
  const loaded = await contract;

  return async (target: string, { as = 'development', body, headers = {} }: SandboxRequest = {}) => {
    const [method = '', path = ''] = target.split(' ');
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(as !== null && { authorization: `ApiKey ${SANDBOX_KEYS[as]}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const result = {
      status: response.status,
      headers: response.headers,
      text,
      /** Parsed body, or null if it is empty. */
      body: text === '' ? null : JSON.parse(text),
    };
    expectContract(loaded, method, path, result);
    const data: Record<string, unknown> = result.body?.data ?? {};
    const list: Record<string, unknown>[] = result.body?.data ?? [];
    return { ...result, body: result.body as unknown, data, list };
  };
}

/** Client of a sandbox that it starts. */
export type OpenSandbox = SandboxClient & { readonly url: string } & AsyncDisposable;

/** Starts a sandbox. Returns the function that sends requests to it. */
export async function openSandbox(options: SandboxOptions = {}): Promise<OpenSandbox> {
  const sandbox = await startSandbox(options);
  const send = await createSandboxClient(sandbox.url);
  return Object.assign(send, { url: sandbox.url, [Symbol.asyncDispose]: () => sandbox.close() });
}

/** Starts a sandbox for all tests of a file. Returns the function that sends requests to it. */
export function openSandboxOfFile(): SandboxClient & { url(): string } {
  let opened: OpenSandbox;
  beforeAll(async () => {
    opened = await openSandbox();
  });
  afterAll(() => opened[Symbol.asyncDispose]());
  return Object.assign((...request: Parameters<SandboxClient>) => opened(...request), { url: () => opened.url });
}

/** Loaded once per process, because it takes long. */
let contract: Promise<OpenAPIBackend> | undefined;

const loadContract = () => openContract({ strict: true, customizeAjv: (ajv) => ajv.addFormat('date-time', DATE_TIME) });

function expectContract(
  contract: OpenAPIBackend,
  method: string,
  path: string,
  { status, body, headers }: { status: number; body: unknown; headers: Headers },
): void {
  // Other paths have no responses in the contract, but respond with the same errors as those that have.
  const found = contract.matchOperation({ method, path, headers: {} });
  const own = found?.responses && (status < 400 || '4XX' in found.responses) ? found : undefined;
  const operation = own ?? contract.getOperation('createFeed');
  const statuses = Object.keys(operation?.responses ?? {});
  if (own !== undefined || status >= 400) {
    expect(statuses).toContain(status < 400 ? String(status) : `${Math.floor(status / 100)}XX`);
    expect(operation && contract.validateResponse(body, operation, status).errors).toBeNull();
  }
  if (status >= 400) {
    expect(body).toMatchObject({ statusCode: status, path, timestamp: expect.stringMatching(DATE_TIME) });
  }
  expect(headers.get('content-type')).toBe(status === 204 ? null : 'application/json; charset=utf-8');
}
