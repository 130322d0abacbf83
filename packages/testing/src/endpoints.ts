// Finds the endpoint of a request, and the one that a pattern describes.

import type { Endpoint } from './endpoints.gen.ts';

/** Endpoint with other names of its parameters, as in `GET /v1/workflows/{id}`. */
type Renamed<Name extends string> = Name extends `${infer Head}{${string}}${infer Tail}`
  ? `${Head}{${string}}${Tail extends `${string}{${string}` ? Renamed<Tail> : Tail}`
  : never;

/**
 * Endpoint of the service, such as `GET /v1/workflows/{workflowIdOrIdentifier}`, or one of the test's `Own`. Parameters may have any
 * name.
 */
export type EndpointPattern<Own extends string = never> =
  | Endpoint
  | Own
  | (Renamed<Endpoint | Own> & Record<never, never>);

/** Endpoint of a request, with the parameters in its path by the names in the endpoint. */
export interface Match {
  endpoint: string;
  params: Readonly<Record<string, string>>;
}

const PARAM = /\{([^}]*)\}/g;

export const paramNamesOf = (endpoint: string): string[] =>
  Array.from(endpoint.matchAll(PARAM), ([, name = '']) => name);

/**
 * Returns the one of `endpoints` that a pattern describes, whatever the names of its parameters are.
 *
 * @throws {TypeError} if there is none
 */
export function findEndpoint(pattern: string, endpoints: readonly string[]): string {
  const shapeOf = (name: string) => name.trim().replace(PARAM, '{}');
  const found = endpoints.find((endpoint) => shapeOf(endpoint) === shapeOf(pattern));
  if (found === undefined) {
    throw new TypeError(`The service has no endpoint "${pattern}". It has:\n  ${endpoints.join('\n  ')}`);
  }
  return found;
}

/** Sorts endpoints so that the first match of a request is the right one: `/things/latest` before `/things/{id}`. */
export const sortByPrecedence = (endpoints: readonly string[]): string[] =>
  endpoints.toSorted((a, b) => paramNamesOf(a).length - paramNamesOf(b).length || b.length - a.length);

/** Returns the endpoint of a request. If it is none of these, that is its method and path. */
export function matchRequest(method: string, path: string, endpoints: readonly string[]): Match {
  const name = `${method} ${path.split('?', 1)[0]}`;
  for (const endpoint of endpoints) {
    const pattern = endpoint.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(PARAM, '([^/:]+)'); // Ids have no colon: it is encoded.
    const values = new RegExp(`^${pattern}$`).exec(name)?.slice(1);
    if (values !== undefined) {
      const names = paramNamesOf(endpoint);
      return {
        endpoint,
        params: Object.fromEntries(values.map((value, i) => [names[i] ?? '', decodeURIComponent(value)])),
      };
    }
  }
  return { endpoint: name, params: {} };
}
