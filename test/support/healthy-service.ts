import { readFileSync } from 'node:fs';
import { type Document, OpenAPIBackend } from 'openapi-backend';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { isScope, type Scope } from '../../src/settings/scopes.ts';
import type { GatewayPair, WireRequest, WireResponse } from './gateway-pair.ts';
import { feed, group, subscriber, workflow } from './records.ts';
import type { Script, ServiceResponse } from './service.ts';

/** Nouns of scopes that differ from those of paths. */
const NOUNS: Record<string, string> = { 'notification-groups': 'groups', notifications: 'stats' };

const endpointOf = ({ method, path }: { method: string; path: string }): string =>
  `${method} ${/^\/v1\/([\w-]+)/.exec(path)?.[1]}`;

/** Returns the scope that an upstream call requires, derived from its method and path. */
export function scopeOfCall(call: { method: string; path: string }): Scope {
  const [method = '', noun = ''] = endpointOf(call).split(' ');
  const scope = `${NOUNS[noun] ?? noun}:${method === 'GET' ? 'read' : 'write'}`;
  if (!isScope(scope)) {
    throw new Error(`There is no scope ${scope} for ${call.method} ${call.path}.`);
  }
  return scope;
}

const RESPONSES: Record<string, ServiceResponse> = {
  'GET workflows': { body: { data: workflow({ triggers: [{ identifier: 'w', variables: [{ name: 'city' }] }] }) } },
  'PUT workflows': { body: { data: workflow() } },
  'GET notification-groups': { body: { data: group() } },
  'POST notification-groups': { status: 201, body: { data: group() } },
  'PATCH notification-groups': { body: { data: group() } },
  'DELETE notification-groups': { body: { data: { acknowledged: true, status: 'deleted' } } },
  'GET notifications': { body: [{ _id: '2026-01-02', count: 3, templates: ['w1', 'w2'], channels: ['email'] }] },
  'POST subscribers': { status: 201, body: { data: subscriber() } },
  'POST feeds': { status: 201, body: { data: feed() } },
  'DELETE feeds': { body: { data: [feed()] } },
  'DELETE messages': { status: 204 },
};

/** Returns the example of the OpenAPI document, for endpoints without a response in `RESPONSES`. */
async function exampleOf({ method, path }: { method: string; path: string }): Promise<ServiceResponse> {
  const definition: Document = parse(
    readFileSync(new URL('../../schema/upstream.openapi.yaml', import.meta.url), 'utf8'),
  );
  const api = await new OpenAPIBackend({ definition, quick: true }).init();
  const operation = api.matchOperation({ method, path, headers: {} });
  if (operation?.operationId === undefined) {
    return { status: 404, body: { message: 'unknown path' } };
  }
  const { status, mock } = api.mockResponseForOperation(operation.operationId);
  return { status, body: mock };
}

/** Script of a service that responds to every request with success. */
export const healthyService: Script = (request) =>
  request.path === '/v1/notification-groups' && request.method === 'GET'
    ? { body: { data: [group(), group({ _id: 'g2' })] } }
    : (RESPONSES[endpointOf(request)] ?? exampleOf(request));

/** Sends a request to both gateways and expects the same response, headers and upstream calls. @returns the response */
export async function sendToBoth(pair: GatewayPair, request: WireRequest): Promise<WireResponse> {
  const { listener, fetch } = await pair.ask(request);
  expect(normalizeWaits(listener)).toEqual(normalizeWaits(fetch));
  return normalizeWaits(listener);
}

const toMinutes = (seconds: string): string =>
  String(Number(seconds) > 60 ? Math.round(Number(seconds) / 60) * 60 : seconds);

/** Rounds long waits to minutes, because the two gateways do not respond in the same second. */
function normalizeWaits({ headers, body, ...others }: WireResponse): WireResponse {
  const waits = Object.entries(headers).filter(([name]) => name === 'retry-after' || name === 'ratelimit-reset');
  const text = JSON.stringify(body).replace(
    /"retryAfterSeconds":(\d+)/g,
    (_, seconds) => `"retryAfterSeconds":${toMinutes(seconds)}`,
  );
  return {
    ...others,
    headers: { ...headers, ...Object.fromEntries(waits.map(([name, value]) => [name, toMinutes(String(value))])) },
    body: JSON.parse(text),
  };
}

/** Returns the first error of a response. */
export function errorOf({ body }: Pick<WireResponse, 'body'>): {
  message: string;
  extensions: Record<string, unknown>;
} {
  const [error] = Reflect.get(Object(body), 'errors') ?? [];
  return error ?? { message: '(there is no error)', extensions: {} };
}

/** Returns the data of a response. */
export const dataOf = ({ body }: Pick<WireResponse, 'body'>): unknown => Reflect.get(Object(body), 'data');
