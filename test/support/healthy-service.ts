import { readFileSync } from 'node:fs';
import { type Document, OpenAPIBackend } from 'openapi-backend';
import { parse } from 'yaml';
import { feed, group, subscriber, workflow } from './records.ts';
import type { Script, ServiceResponse } from './service.ts';

const endpointOf = ({ method, path }: { method: string; path: string }): string =>
  `${method} ${/^\/v1\/([\w-]+)/.exec(path)?.[1]}`;

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
