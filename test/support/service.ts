import { readFileSync } from 'node:fs';
import { type Document, OpenAPIBackend } from 'openapi-backend';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { isScope, type Scope } from '../../src/settings/scopes.ts';
import { feed, group, subscriber, workflow } from './records.ts';
import type { Script, ScriptedAnswer } from './scripted-upstream.ts';
import type { TwoWays, WireAnswer, WireRequest } from './two-ways.ts';

/** Nouns whose scopes are named otherwise than their paths. */
const NOUNS: Record<string, string> = { 'notification-groups': 'groups', notifications: 'stats' };

const endpointOf = ({ method, path }: { method: string; path: string }): string =>
  `${method} ${/^\/v1\/([\w-]+)/.exec(path)?.[1]}`;

/** Returns the scope that an upstream call requires: to read or to write the noun of its path. */
export function scopeOfCall(call: { method: string; path: string }): Scope {
  const [method = '', noun = ''] = endpointOf(call).split(' ');
  const scope = `${NOUNS[noun] ?? noun}:${method === 'GET' ? 'read' : 'write'}`;
  if (!isScope(scope)) {
    throw new Error(`There is no scope ${scope} for ${call.method} ${call.path}.`);
  }
  return scope;
}

const ANSWERS: Record<string, ScriptedAnswer> = {
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

/** Returns the example that the OpenAPI document gives for the endpoint of a noun without records above. */
async function exampleOf({ method, path }: { method: string; path: string }): Promise<ScriptedAnswer> {
  const definition: Document = parse(
    readFileSync(new URL('../../schema/upstream.openapi.yaml', import.meta.url), 'utf8'),
  );
  const api = await new OpenAPIBackend({ definition, quick: true }).init();
  const operation = api.matchOperation({ method, path, headers: {} });
  if (operation?.operationId === undefined) {
    return { status: 404, body: { message: 'no such path' } };
  }
  const { status, mock } = api.mockResponseForOperation(operation.operationId);
  return { status, body: mock };
}

/** A service on which everything is well. */
export const service: Script = (request) =>
  request.path === '/v1/notification-groups' && request.method === 'GET'
    ? { body: { data: [group(), group({ _id: 'g2' })] } }
    : (ANSWERS[endpointOf(request)] ?? exampleOf(request));

/** Asks both ways, and expects the same answer, headers and calls. @returns the answer */
export async function askBoth(ways: TwoWays, request: WireRequest): Promise<WireAnswer> {
  const { listener, fetch } = await ways.ask(request);
  expect(steady(listener)).toEqual(steady(fetch));
  return steady(listener);
}

const toMinutes = (seconds: string): string =>
  String(Number(seconds) > 60 ? Math.round(Number(seconds) / 60) * 60 : seconds);

/** An answer whose long waits are whole minutes: both are not asked in the same second. */
function steady({ headers, body, ...others }: WireAnswer): WireAnswer {
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

/** The first error of an answer. */
export function errorOf({ body }: Pick<WireAnswer, 'body'>): { message: string; extensions: Record<string, unknown> } {
  const [error] = Reflect.get(Object(body), 'errors') ?? [];
  return error ?? { message: '(there is no error)', extensions: {} };
}

/** The data of an answer. */
export const dataOf = ({ body }: Pick<WireAnswer, 'body'>): unknown => Reflect.get(Object(body), 'data');
