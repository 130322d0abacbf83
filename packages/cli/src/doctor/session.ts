// Sends single reads to the service that is examined, without the policies of the gateway's client.

import type { Socket } from 'node:net';
import { errorCodeOf } from '../../../../src/lib/caught.ts';
import { addressOf } from '../../../../src/lib/urls.ts';
import { toHostname } from '../../../../src/settings/upstreams.ts';
import type { CallArgs, DeclaredEndpoint } from '../../../../src/upstream/endpoint.ts';
import { listNotificationGroups } from '../../../../src/upstream/endpoints.ts';
import { headersOf } from '../../../../src/upstream/input-rules.ts';
import { type Progress, receive, type UpstreamResponse } from '../../../../src/upstream/transport/attempt.ts';
import { BodyError, planBody, readErrorBody, readSuccess } from '../../../../src/upstream/transport/body.ts';
import { createConnector } from '../../../../src/upstream/transport/connector.ts';
import { toDispatchOptions } from '../../../../src/upstream/transport/exchange.ts';
import { fillPath, pathPrefixOf } from '../../../../src/upstream/transport/path.ts';
import { SocketPool } from '../../../../src/upstream/transport/socket-pool.ts';
import { createTlsFiles } from '../../../../src/upstream/transport/tls-files.ts';
import { errorFromFailure, isForeign } from '../../../../src/upstream/transport/to-error.ts';
import type { ServiceSettings } from '../find-service.ts';
import { EndingProblem } from './finding.ts';

export interface Read {
  endpoint: DeclaredEndpoint;
  /** @default none */
  args?: CallArgs;
  headers?: Readonly<Record<string, string>>;
  /** Whether the API key is sent. @default true */
  hasKey?: boolean;
}

export interface ReadResponse extends Pick<UpstreamResponse, 'status' | 'headers'> {
  /** JSON as the service sent it, and without its envelope; undefined if it is none, or the status isn't 2xx. */
  sent?: unknown;
  body?: unknown;
  /** Reason why a 2xx response can't be used, as a clause. */
  bodyProblem?: string;
  /** Whether something else than the service answered. @default false */
  isForeign?: boolean;
  bytes: number;
  ms: number;
}

/** Connections to the service that is examined, with the time limits of the configuration. They are opened when they are first used. */
export type Session = ReturnType<typeof openSession>;

export function openSession(url: URL, settings: ServiceSettings, credential: string) {
  const { attemptTimeoutMs, maxUpstreamResponseBytes } = settings;
  const tls = settings.tls && createTlsFiles(settings.tls);
  const pool = new SocketPool(url.origin, settings, { tls });
  const connectOnce = createConnector(settings, { tls });

  /** Opens one more connection, on which nothing is sent. */
  const connect = () =>
    new Promise<Socket>((resolve, reject) => {
      const { host, protocol, port } = url;
      connectOnce({ hostname: addressOf(url), host: toHostname(host), protocol, port }, (error, socket) =>
        error === null ? resolve(socket.on('error', () => {})) : reject(error),
      );
    });

  /** Sends a read once. It can't change anything. @throws {EndingProblem} if there is no response */
  async function get(read: Read): Promise<ReadResponse> {
    const { endpoint, args = {}, headers = {}, hasKey = true } = read;
    const path = pathPrefixOf(url) + fillPath(endpoint, args);
    const declared = { ...(endpoint.headers && headersOf(endpoint, endpoint.headers, args)), ...headers };
    const call = {
      endpoint,
      credential,
      callerId: credential,
      path,
      requestId: 'doctor',
      args,
      headers: declared,
      body: undefined,
    };
    const request = toDispatchOptions(url.origin, call, undefined);
    const { authorization: _, ...withoutKey } = request.headers ?? {};
    const startedAt = performance.now();
    const attempt = receive(pool, hasKey ? request : { ...request, headers: withoutKey }, {
      credential: hasKey ? credential : '',
      timeoutMs: endpoint.timeoutMs ?? attemptTimeoutMs,
      planBody: (status, received) => planBody(status, received, maxUpstreamResponseBytes, endpoint.expect),
    });
    const response = await attempt.response.catch((failure: unknown) => {
      const sentence = `GET ${endpoint.route}: ${explain(endpoint, failure, attempt.progress)}`;
      throw new EndingProblem(sentence, 'Check the service, its log, and what is in front of it.');
    });
    const { status, headers: received, body } = response;
    const result = { status, headers: received, bytes: body?.byteLength ?? 0, ms: performance.now() - startedAt };
    if (status > 299) {
      return { ...result, isForeign: isForeign(endpoint, { status, body: readErrorBody(response) }) };
    }
    try {
      return { ...result, ...readSuccess(response, endpoint) };
    } catch (error) {
      if (error instanceof BodyError) {
        return { ...result, bodyProblem: error.message };
      }
      throw error;
    }
  }

  return { url, settings, pool, connect, get, [Symbol.asyncDispose]: () => pool.close() };
}

/** Returns a sentence for a request without a response. It doesn't quote the service, which could repeat the key. */
function explain(endpoint: DeclaredEndpoint, failure: unknown, progress: Progress): string {
  const { message } = errorFromFailure(endpoint, failure, progress);
  const code = errorCodeOf(failure);
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? message.replace(/\.$/, ` (${code}).`) : message;
}

/** The read of the contract that takes no parameters. */
export const LIST: Read = { endpoint: listNotificationGroups };
