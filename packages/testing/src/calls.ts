// Records the requests that the service receives.

import type { IncomingMessage } from 'node:http';
import { type Environment, findEnvironment } from '../../sandbox/src/environments.ts';
import type { Endpoint } from './endpoints.gen.ts';
import type { Match } from './endpoints.ts';

/** Environment of the service. Each has its own API key and records. */
export type EnvironmentName = Environment['name'];

export interface UpstreamCall {
  /**
   * Method and template of the path, such as `GET /v1/workflows/{workflowIdOrIdentifier}`. If neither the service nor the test has such an
   * endpoint, the path as sent, without its query.
   */
  endpoint: Endpoint | (string & Record<never, never>);
  method: string;
  /** Path and query as sent. */
  path: string;
  /** Parameters in the path, decoded. */
  params: Readonly<Record<string, string>>;
  /** Repeated ones are joined with a comma. */
  query: Readonly<Record<string, string>>;
  /** Headers by lower-case name, without `authorization`. */
  headers: Readonly<Record<string, string>>;
  /** Environment of the API key; undefined if the key is unknown. */
  environment: EnvironmentName | undefined;
  /** Decoded JSON body, or the fields of a form like `query`; undefined if there is none. */
  body: unknown;
  /** Status of the response; undefined if none was sent, or not yet. */
  status: number | undefined;
}

export function createCall(
  { method = '', url: path = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  { endpoint, params }: Match,
  body: Buffer,
): UpstreamCall {
  const { authorization, ...others } = headers;
  return {
    endpoint,
    method,
    path,
    params,
    query: fieldsOf(new URL(path, 'http://service.test').searchParams),
    headers: Object.fromEntries(Object.entries(others).map(([name, value]) => [name, String(value)])),
    environment: findEnvironment(authorization)?.name,
    body: body.length === 0 ? undefined : decodeBody(headers['content-type'], body.toString('utf8')),
    status: undefined,
  };
}

const decodeBody = (type: string | undefined, body: string): unknown =>
  type === 'application/x-www-form-urlencoded' ? fieldsOf(new URLSearchParams(body)) : JSON.parse(body);

const fieldsOf = (fields: URLSearchParams): Record<string, string> =>
  Object.fromEntries(Array.from(fields.keys(), (name) => [name, fields.getAll(name).join(',')]));
