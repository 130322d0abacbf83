import { type Attack, post } from './attack.ts';
import type { ProbedGateway } from './probed-gateway.ts';

/** Maximum heap growth that callers may cause besides documents, in MB. */
export const MAX_CALLERS_MB = 16;

async function send(gateway: ProbedGateway, { method = 'POST', search = '', ...init }: Attack): Promise<string> {
  const response = await fetch(gateway.url + search, { method, ...init });
  return response.text();
}

async function sendAll(gateway: ProbedGateway, count: number, attackOf: (i: number) => Attack): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      next += 1;
      await send(gateway, attackOf(next));
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

/** Returns how much memory the gateway retains after many different requests, in MB. */
export async function measureGrowth(
  gateway: ProbedGateway,
  count: number,
  attackOf: (i: number) => Attack,
): Promise<number> {
  await sendAll(gateway, 300, (i) =>
    post(`{ warm${i % 7}: __typename unknown${i % 2}: __schema { queryType { name } } }`),
  );
  const before = await measureRetainedMb(gateway);
  await sendAll(gateway, count, attackOf);
  return (await measureRetainedMb(gateway)) - before;
}

async function measureRetainedMb(gateway: ProbedGateway): Promise<number> {
  let retained = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 3; i += 1) {
    const { heapMb, externalMb } = await gateway.vitals('collect garbage');
    retained = Math.min(retained, heapMb + externalMb);
  }
  return retained;
}
