// Sends operations from many clients at once, to services that mark whose data a response has.

import { createHash } from 'node:crypto';
import { Pool } from 'undici';
import { healthyResponse } from './healthy-service.ts';
import type { ServiceRequest, ServiceResponse } from './service.ts';

/** Returns the digest that test upstreams write into records instead of the credential. */
export const digestOf = (authorization: string): string =>
  createHash('sha256').update(authorization).digest('hex').slice(0, 16);

/** Creates a generator of reproducible random numbers from 0 to 1. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Responds with a digest of the key in every text field that a client can read. */
export function echoKeyDigest(request: ServiceRequest): ServiceResponse {
  const name = digestOf(request.headers.authorization ?? '');
  return healthyResponse(request, { workflow: { name }, group: { name }, subscriber: { firstName: name } });
}

/** Runs a task `count` times or until it is over, at most `atOnce` at a time. */
export async function runConcurrently(
  count: number,
  atOnce: number,
  run: (i: number) => Promise<unknown>,
  isOver = () => false,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count && !isOver()) {
      next += 1;
      await run(next - 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Operation of a client, with its credential. */
export interface ClientRequest {
  authorization: string;
  query: string;
  variables?: Record<string, unknown> | undefined;
  /** @default that of the URL */
  path?: string;
  headers?: Record<string, string>;
  /** Disconnects the client when it is aborted. @default never */
  signal?: AbortSignal | null;
  /** Whether the connection is closed after the response. @default false */
  reset?: boolean;
}

/** Connects clients to a gateway, each of which sends one operation at a time on a connection of its own. */
export function connectClients(url: string, connections: number) {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections, pipelining: 1 });
  return {
    /** Sends an operation from any client that isn't waiting for a response. */
    async send({
      authorization,
      query,
      variables,
      path = pathname,
      headers,
      signal = null,
      reset = false,
    }: ClientRequest) {
      const { statusCode: status, body } = await pool.request({
        path,
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization, ...headers },
        body: JSON.stringify({ query, variables }),
        signal,
        reset,
      });
      return { status, text: await body.text() };
    },
    [Symbol.asyncDispose]: () => pool.close(),
  };
}
