import { POPULATION, padded, subscriberId, workflowId } from './ids.ts';

/** Name of a workload's operation. */
export type WorkloadName = 'q1' | 'q2' | 'q3' | 'q4' | 'm1' | 'h1' | 'h2' | 'b1';

/** Operation with its load. */
export interface Workload {
  /** Name of the subject's request that is sent. */
  name: WorkloadName;
  title: string;
  /** Value that is compared with the target. */
  judgedBy: 'cpu' | 'time' | 'calls';
  /** Response time of the upstream, in milliseconds. */
  latencyMs: number;
  /** Number of concurrent connections. */
  connections: number;
  /**
   * Choice of credential and ids. `rotating`: each request uses the next ones. `per connection`: each connection has its own credential,
   * and all use the same ids. `shared`: one credential and the same ids for all. `hot`: few credentials, each with the same ids in turn.
   */
  callers: 'rotating' | 'per connection' | 'shared' | 'hot';
  /** Minimum duration of the load per subject and round. @default the run's */
  minSeconds?: number;
  /** Minimum number of upstream calls per operation. */
  upstreamCalls: number;
}

/** Workloads, by name. */
export const WORKLOADS: Record<WorkloadName, Workload> = {
  q1: workload('q1', 'one workflow, nested', 1),
  q2: workload('q2', '50 notification groups, names only', 1),
  q3: workload('q3', '20 workflows, each with its group', 21),
  q4: workload('q4', 'statistics of 30 days with their workflows', 11),
  m1: workload('m1', 'create a notification group', 1),
  h1: {
    ...workload('h1', 'one hot query from many clients with the same credential', 1),
    judgedBy: 'calls',
    latencyMs: 20,
    callers: 'shared',
  },
  h2: {
    ...workload('h2', 'hot reads with the cache', 0),
    latencyMs: 20,
    callers: 'hot',
    minSeconds: 10, // With the turns of the floor, two rounds last longer than entries are fresh.
  },
  b1: {
    ...workload('b1', 'create 100 subscribers', 100),
    judgedBy: 'time',
    latencyMs: 20,
    connections: 1,
    callers: 'shared',
  },
};

/** The hot query again, but with a credential per connection, so that no upstream call may be shared. */
export const H1_OWN: Workload = {
  ...WORKLOADS.h1,
  title: 'one hot query from many clients, each with its own credential',
  callers: 'per connection',
};

/** Workloads that a run measures, by their keys in the results. */
export const MEASURED: Readonly<Record<string, Workload>> = {
  q1: WORKLOADS.q1,
  q2: WORKLOADS.q2,
  q3: WORKLOADS.q3,
  q4: WORKLOADS.q4,
  m1: WORKLOADS.m1,
  h1: WORKLOADS.h1,
  'h1-own': H1_OWN,
  h2: WORKLOADS.h2,
  b1: WORKLOADS.b1,
};

function workload(name: WorkloadName, title: string, upstreamCalls: number): Workload {
  return { name, title, judgedBy: 'cpu', latencyMs: 0, connections: 64, callers: 'rotating', upstreamCalls };
}

/** Number of workflows that Q3 requests. */
const Q3_WORKFLOWS = 20;

/** Returns the ids of `count` workflows, starting with number `first`. */
export const workflowIdsFrom = (first: number, count: number): string[] =>
  Array.from({ length: count }, (_, offset) => workflowId((first + offset) % POPULATION));

/** Variables of each workload, for a number from 0 to 256. They are the same for every subject. */
export const VARIABLES: Record<WorkloadName, (number: number) => object> = {
  q1: (number) => ({ id: workflowId(number) }),
  q2: () => ({}),
  q3: (number) => ({ ids: workflowIdsFrom(number, Q3_WORKFLOWS) }),
  q4: () => ({ days: 30 }),
  m1: (number) => ({ input: { name: `Made by the benchmark ${padded(number)}` } }),
  h1: (number) => ({ id: workflowId(number) }),
  h2: (number) => ({ id: workflowId(number) }),
  b1: () => ({ input: { subscribers: SUBSCRIBERS } }),
};

/** Subscribers that B1 creates. */
export const SUBSCRIBERS: readonly object[] = Array.from({ length: 100 }, (_, number) => ({
  subscriberId: subscriberId(number),
  firstName: 'Ada',
  lastName: 'Example',
  email: 'ada@example.com',
}));
