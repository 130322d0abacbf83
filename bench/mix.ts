import { createRequests, type Outgoing } from './requests.ts';
import type { Subject } from './subjects.ts';
import { WORKLOADS, type WorkloadName } from './workloads.ts';

/** Number of requests of each kind, of a hundred. */
const SHARES: readonly [WorkloadName, number][] = [
  ['q1', 50],
  ['q2', 25],
  ['m1', 15],
  ['q4', 6],
  ['q3', 4],
];

/** Number of connections that send mixed requests. */
export const MIX_CONNECTIONS = 64;

/** Returns a function that creates mixed requests, always in the same order and with the kinds spread evenly. */
export function createMix(url: string, subject: Subject): (index: number, connection: number) => Outgoing {
  const kinds = SHARES.flatMap(([name, share]) => {
    const nextOfKind = createRequests(url, WORKLOADS[name], subject.requests[name] ?? {});
    return Array.from({ length: share }, () => nextOfKind);
  });
  const [first = () => ({ kind: '', bytes: Buffer.alloc(0) })] = kinds;
  return (index, connection) => (kinds[(index * 37) % kinds.length] ?? first)(index, connection);
}
