import { expect } from 'vitest';
import { MAX_BLOCK_MS, measureCheapest, postWithKey } from './attack.ts';
import type { ProbedGateway } from './probed-gateway.ts';

/** CPU time for an upstream body beyond receiving and parsing it, in milliseconds: three times the target of 500 ms, for slow processors. */
const MAX_CPU_MS = 1_500;

const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/** Body size just below the limit on upstream bodies. */
const BODY_BYTES = 4.9 * 1024 * 1024;

/** Creates a JSON body with as many copies of an item as fit. */
export function fillBody(item: string | ((i: number) => string), toBody: (items: string) => string): string {
  const items: string[] = [];
  for (let size = 2_000; ; ) {
    const text = typeof item === 'string' ? item : item(items.length);
    size += Buffer.byteLength(text) + 1;
    if (size > BODY_BYTES) {
      return toBody(items.join(','));
    }
    items.push(text);
  }
}

/** Expects operations on an upstream body to cost little more than a control operation that only receives and parses it. */
export async function expectCheap(
  gateway: ProbedGateway,
  body: string,
  control: string,
  operations: readonly (readonly [string, string])[],
): Promise<void> {
  expect(Buffer.byteLength(body)).toBeLessThan(5 * 1024 * 1024);
  const base = await measureCheapest(gateway, () => postWithKey(control), { batches: 3, size: 1, isEnough: never });
  const maxBlockMs = base.longestBlockMs + MAX_BLOCK_MS;
  for (const [name, document] of operations) {
    const { cpuMs, longestBlockMs, status, bytes } = await measureCheapest(gateway, () => postWithKey(document), {
      size: 1,
      isEnough: (cost) => cost.cpuMs < base.cpuMs + MAX_CPU_MS && cost.longestBlockMs < maxBlockMs,
    });
    expect(status).toBe(200);
    expect(bytes, name).toBeLessThanOrEqual(MAX_RESPONSE_BYTES);
    expect(cpuMs - base.cpuMs, name).toBeLessThan(MAX_CPU_MS);
    expect(longestBlockMs, name).toBeLessThan(maxBlockMs);
  }
}

const never = () => false;
