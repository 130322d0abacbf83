import { createHash } from 'node:crypto';
import type { RawAnswer, RawRequest } from './raw-upstream.ts';
import { group, subscriber, workflow } from './records.ts';

/** Returns what a test upstream writes into its records in place of the credential. */
export const digestOf = (authorization: string): string =>
  createHash('sha256').update(authorization).digest('hex').slice(0, 16);

/** Creates a generator of numbers from 0 to 1 that are the same from run to run. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Answers with a digest of the key, in every text that a client can see. */
export function echo({ method, path, headers }: RawRequest): RawAnswer {
  const name = digestOf(headers.authorization ?? '');
  const id = decodeURIComponent(path.split('/').at(-1) ?? '');
  if (method === 'POST') {
    return { status: 201, body: { data: subscriber({ subscriberId: 'u', firstName: name }) } };
  }
  return { body: { data: path === '/v1/notification-groups' ? [group({ name })] : workflow({ _id: id, name }) } };
}

/** Does something so many times, of which so many at once. */
export async function runCrowd(count: number, atOnce: number, run: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) {
      next += 1;
      await run(next - 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}
