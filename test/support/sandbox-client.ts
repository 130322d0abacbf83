import { readFileSync } from 'node:fs';

import { type Document, OpenAPIBackend } from 'openapi-backend';
import { afterAll, beforeAll, expect } from 'vitest';
import { parse } from 'yaml';

import { SANDBOX_KEYS, type SandboxOptions, startSandbox } from '../../packages/sandbox/src/sandbox.ts';

export interface SandboxRequest {
  /** Environment whose key is sent; null sends no key. @default 'development' */
  as?: keyof typeof SANDBOX_KEYS | null;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface SandboxResponse {
  status: number;
  headers: Headers;
  text: string;
  /** Parsed body, or null if it is empty. */
  body: unknown;
  /** `data` of the body, as a record. */
  data: Record<string, unknown>;
  /** `data` of the body, as a list of records. */
  list: Record<string, unknown>[];
}

export type SandboxClient = (target: string, request?: SandboxRequest) => Promise<SandboxResponse>;

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Returns a function that sends a request, written as 'GET /v1/…', and validates every response against the OpenAPI document. */
export async function createSandboxClient(url: string): Promise<SandboxClient> {
  contract ??= loadContract();
  const loaded = await contract;

  return async (target, { as = 'development', body, headers = {} } = {}) => {
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
      body: text === '' ? null : JSON.parse(text),
    };
    expectContract(loaded, method, path, result);
    return { ...result, data: result.body?.data ?? {}, list: result.body?.data ?? [] };
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

async function loadContract(): Promise<OpenAPIBackend> {
  const definition: Document = parse(readFileSync('schema/upstream.openapi.yaml', 'utf8'));
  const contract = new OpenAPIBackend({
    definition,
    quick: true,
    strict: true,
    customizeAjv: (ajv) => ajv.addFormat('date-time', DATE_TIME),
  });
  return contract.init();
}

function expectContract(
  contract: OpenAPIBackend,
  method: string,
  path: string,
  { status, body, headers }: Pick<SandboxResponse, 'status' | 'body' | 'headers'>,
): void {
  // Other paths have no operation, but respond with the same errors as those of the contract.
  const own = contract.matchOperation({ method, path, headers: {} });
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
