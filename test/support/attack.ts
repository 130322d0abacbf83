// Sends requests of attackers, and measures what they cost the gateway.

import { type ProbedGateway, startProbedGateway } from './probed-gateway.ts';

/** Request of an attacker. */
export interface Attack {
  /** HTTP method. @default POST */
  method?: 'GET' | 'POST';
  /** Appended to the URL of the endpoint. */
  search?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

/** CPU time of one request, and its response. */
export interface Cost {
  /** CPU time of all threads of the gateway process. */
  cpuMs: number;
  /** CPU time of the longest turn of the event loop. */
  longestBlockMs: number;
  status: number;
  text: string;
  bytes: number;
}

export const JSON_TYPE = { 'content-type': 'application/json' };
const WITH_KEY = { ...JSON_TYPE, authorization: 'ApiKey a' };

/** Three times the time for which a request may block the event loop (docs/reliability.md), for slow processors. */
export const MAX_BLOCK_MS = 150;

/** Starts a gateway without load shedding for a busy event loop, so that every attack is processed. */
export const startTarget = (upstream: string, env: Readonly<Record<string, string>> = {}): Promise<ProbedGateway> =>
  startProbedGateway(upstream, { NOTIGRAPH_MAX_EVENT_LOOP_DELAY_MS: '60000', ...env });

/** Returns a GraphQL request without credentials. */
export const post = (query: string, params: Record<string, unknown> = {}): Attack => ({
  headers: JSON_TYPE,
  body: JSON.stringify({ query, ...params }),
});

/** Returns a GraphQL request with an API key. */
export const postWithKey = (query: string, params: Record<string, unknown> = {}): Attack => ({
  ...post(query, params),
  headers: WITH_KEY,
});

/** Returns a GraphQL request with one of many API keys of 2 KB. */
export const postWithLongKey = (query: string, key: number): Attack => ({
  ...post(query),
  headers: { ...JSON_TYPE, authorization: `ApiKey ${String(key).padEnd(2_040, 'k')}` },
});

export const repeat = (count: number, text: string | ((i: number) => string), separator = ' '): string =>
  Array.from({ length: count }, (_, i) => (typeof text === 'string' ? text : text(i))).join(separator);

/** Returns a query with these selections of a workflow. */
export const inWorkflow = (selections: string): string => `{ workflow(idOrIdentifier: "a") { ${selections} } }`;

/** Sends requests sequentially and returns their average cost, as measured by the gateway process. */
export async function measure(gateway: ProbedGateway, attacks: readonly Attack[]): Promise<Cost> {
  let status = 0;
  let text = '';
  const before = await gateway.vitals();
  for (const { method = 'POST', search = '', ...init } of attacks) {
    const response = await fetch(gateway.url + search, { method, ...init });
    status = response.status;
    text = await response.text();
  }
  const after = await gateway.vitals();
  const cpuMs = (after.cpuMs - before.cpuMs) / attacks.length;
  return { cpuMs, longestBlockMs: after.longestBlockMs, status, text, bytes: Buffer.byteLength(text) };
}

/**
 * Returns the lowest cost of several batches of different requests, because other processes, compilation and garbage collection only add
 * to the cost. Stops once a batch is cheap enough.
 */
export async function measureCheapest(
  gateway: ProbedGateway,
  attackOf: (run: number) => Attack,
  { batches = 10, size = 6, isEnough }: { batches?: number; size?: number; isEnough: (cost: Cost) => boolean },
): Promise<Cost> {
  let cheapest: Cost | undefined;
  for (let batch = 0; batch < batches && !(cheapest && isEnough(cheapest)); batch += 1) {
    const attacks = Array.from({ length: size }, (_, i) => attackOf(batch * size + i));
    const cost = await measure(gateway, attacks);
    cheapest = cheapest === undefined || isEnough(cost) || cost.cpuMs < cheapest.cpuMs ? cost : cheapest;
  }
  if (cheapest === undefined) {
    throw new RangeError('At least one batch is needed.');
  }
  return cheapest;
}

/** Returns the average CPU time of parsing the text. Averages because the CPU clock is coarse on some machines. */
export function parseMs(text: string): number {
  const before = process.threadCpuUsage();
  const startedAt = performance.now();
  let parsed = 0;
  do {
    try {
      JSON.parse(text);
    } catch {
      // Detecting that the text is not JSON counts too.
    }
    parsed += 1;
  } while (performance.now() - startedAt < 30);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000 / parsed;
}
