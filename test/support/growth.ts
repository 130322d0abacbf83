import { type Attack, post } from './attack.ts';
import type { ProbedGateway } from './probed-gateway.ts';

/** Bound on what callers leave behind besides documents. */
export const MAX_CALLERS_MB = 16;

async function send(gateway: ProbedGateway, { method = 'POST', search = '', ...init }: Attack): Promise<string> {
  const response = await fetch(gateway.url + search, { method, ...init });
  return response.text();
}

async function sendAll(gateway: ProbedGateway, count: number, attackOf: (i: number) => Attack): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) {
      next += 1;
      await send(gateway, attackOf(next));
    }
  };
  await Promise.all(Array.from({ length: 8 }, lane));
}

/** Returns how much the heap keeps of many different requests, in MB. */
export async function growthOf(
  gateway: ProbedGateway,
  count: number,
  attackOf: (i: number) => Attack,
): Promise<number> {
  await sendAll(gateway, 300, (i) =>
    post(`{ warm${i % 7}: __typename unknown${i % 2}: __schema { queryType { name } } }`),
  );
  const before = await keptMb(gateway);
  await sendAll(gateway, count, attackOf);
  return (await keptMb(gateway)) - before;
}

async function keptMb(gateway: ProbedGateway): Promise<number> {
  let kept = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 3; i += 1) {
    const { heapMb, externalMb } = await gateway.vitals('collect garbage');
    kept = Math.min(kept, heapMb + externalMb);
  }
  return kept;
}
