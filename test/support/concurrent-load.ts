import { createHash } from 'node:crypto';
import { group, subscriber, workflow } from './records.ts';
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
export function echoKeyDigest({ method, path, headers }: ServiceRequest): ServiceResponse {
  const name = digestOf(headers.authorization ?? '');
  const id = decodeURIComponent(path.split('/').at(-1) ?? '');
  if (method === 'POST') {
    return { status: 201, body: { data: subscriber({ subscriberId: 'u', firstName: name }) } };
  }
  return { body: { data: path === '/v1/notification-groups' ? [group({ name })] : workflow({ _id: id, name }) } };
}

/** Runs a task `count` times, at most `atOnce` at a time. */
export async function runConcurrently(
  count: number,
  atOnce: number,
  run: (i: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      next += 1;
      await run(next - 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
