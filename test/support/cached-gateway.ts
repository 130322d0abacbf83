import { expect } from 'vitest';
import type { GatewayOptions } from '../../src/gateway.ts';
import { startGateway, type TestGateway } from './gateway.ts';
import { group, workflow } from './records.ts';
import { type Script, type ServiceRequest, type ServiceResponse, startService } from './service.ts';

/** Gateway with a cache in front of a scripted upstream, with a clock. */
export interface CachedGateway extends AsyncDisposable {
  gateway: TestGateway;
  /** Requests that the upstream received since the last call of `forget`: method and path. */
  calls(): string[];
  requests: readonly ServiceRequest[];
  /** Discards the requests so far. */
  forget(): void;
  /** Changes how the upstream responds. Records get the next version in their name. */
  respond(script: Script): void;
  /** Changes the records: each has the number of changes in its name. */
  change(): void;
  /** Holds back the response to the next request with this method and path. Resolves once it has arrived, with a function that sends it. */
  hold(endpoint: string): Promise<() => void>;
  /** Runs an operation whose client disconnects when this request has arrived at the upstream. Returns the function that sends the response. */
  disconnectDuring(endpoint: string, document: string): Promise<() => void>;
  /** Lets time pass. */
  advance(seconds: number): void;
  /** Runs an operation with a key, and returns its data; the codes of its errors if it has some. */
  run(document: string, key?: string, headers?: Record<string, string>): Promise<unknown>;
}

export const READ_WORKFLOW = '{ workflow(idOrIdentifier: "welcome") { name } }';

/** Starts it with the default settings of the cache. */
export async function startCachedGateway(options: Partial<GatewayOptions> = {}): Promise<CachedGateway> {
  let version = 0;
  let time = 1_000;
  let forgotten = 0;
  const service: Script = ({ method, path }) => respondTo(method, path, `v${version}`);
  let script = service;
  const held = new Map<string, { arrived: (release: () => void) => void }>();
  const upstream = await startService(async (request, raw) => {
    const response = await script(request, raw); // Before it is held back, so that it shows the records of now.
    const endpoint = `${request.method} ${request.path}`;
    const hold = held.get(endpoint);
    if (hold !== undefined) {
      held.delete(endpoint);
      await new Promise<void>((release) => hold.arrived(release));
    }
    return response;
  });
  const gateway = await startGateway(
    { cache: true, ...options, upstream: upstream.url },
    { monotonicNow: () => time, random: () => 0 },
  );
  const hold = (endpoint: string) => new Promise<() => void>((arrived) => held.set(endpoint, { arrived }));
  return {
    gateway,
    get requests() {
      return upstream.requests.slice(forgotten);
    },
    calls: () => upstream.requests.slice(forgotten).map(({ method, path }) => `${method} ${path}`),
    forget() {
      forgotten = upstream.requests.length;
    },
    respond(next) {
      script = next;
    },
    change() {
      version += 1;
      script = service;
    },
    hold,
    async disconnectDuring(endpoint, document) {
      const arrived = hold(endpoint);
      const client = new AbortController();
      const operation = fetch(gateway.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'ApiKey a' },
        body: JSON.stringify({ query: document }),
        signal: client.signal,
      });
      const release = await arrived;
      client.abort();
      await expect(operation).rejects.toThrow();
      return release;
    },
    advance(seconds) {
      time += seconds * 1_000;
    },
    async run(document, key = 'a', headers = {}) {
      const { body, codes } = await gateway.send(document, {}, { authorization: `ApiKey ${key}`, headers });
      return codes.length > 0 ? codes : body.data;
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** Returns the response of a service whose records have the given name. */
export function respondTo(method: string, path: string, name: string): ServiceResponse {
  const [, , resource, id = ''] = path.split(/[/?]/);
  switch (`${method} ${resource}`) {
    case 'GET workflows':
    case 'PUT workflows':
      return {
        body: {
          data: workflow({ _id: 'W1', name, triggers: [{ type: 'event', identifier: 'welcome', variables: [] }] }),
        },
      };
    case 'GET notification-groups':
      return { body: { data: id === '' ? [group({ _id: 'G1', name })] : group({ _id: id, name }) } };
    case 'GET notifications':
      return { body: [{ _id: '2026-01-01', count: Number(name.slice(1)), templates: [], channels: [] }] };
    case 'DELETE messages':
      return { status: 204 };
    case 'DELETE feeds':
      return { body: { data: [] } };
    case 'DELETE notification-groups':
      return { body: { data: { acknowledged: true, status: 'deleted' } } };
    default:
      return {
        body: { data: { ...group({ _id: id || 'G1', name }), identifier: 'x', subscriberId: 's', deleted: false } },
      };
  }
}
