// Defines the workloads: their operations, variables, callers and load.

import { FIRST_DIGIT_RUN, POPULATION, padded, subscriberId, workflowId } from './ids.ts';
/** Name of a workload's operation. */
export type WorkloadName = 'q1' | 'q2' | 'q3' | 'q4' | 'm1' | 'h1' | 'h2' | 'b1' | 'twin';

/** Credential of a request, and the number from which its variables are created. */
export interface Caller {
  credential: number;
  number: number;
}

/** Operation with its load. */
export interface Workload {
  /** Name of the subject's request that is sent. */
  name: WorkloadName;
  /** Number of requests of each kind, of a hundred, if requests of several kinds are sent. */
  mix?: readonly (readonly [kind: WorkloadName, share: number])[];
  title: string;
  /** Value that is compared with the target. */
  judgedBy: 'cpu' | 'time' | 'calls';
  /** Response time of the upstream, in milliseconds. @default 0 */
  latencyMs?: number;
  /** Number of concurrent connections. */
  connections: number;
  /** Returns the caller of a request. @param index number of requests sent before, @param connection index of the connection */
  callerOf: (index: number, connection: number) => Caller;
  /** Returns the variables for a number from 0 to 256. They are the same for every subject. */
  variables: (number: number) => object;
  /** Returns the document of the next request. @default the subject's */
  nextDocument?: () => string;
  /** Minimum duration of the load per subject and round. @default the run's */
  minSeconds?: number;
}

/** Numbers of the requests whose responses are compared. The second one has ids with a run of digits. */
export const COMPARED_NUMBERS = [0, FIRST_DIGIT_RUN];

/** Number of credentials that request the hot workflows: with 257 workflows, 1,028 pairs that each repeat several times per second. */
const HOT_CREDENTIALS = 4;

/** Uses the next credential and number for each request. Shifted by one on each lap, so that each credential requests every id in turn. */
const rotate: Workload['callerOf'] = (index) => ({
  credential: index % POPULATION,
  number: (index + Math.floor(index / POPULATION)) % POPULATION,
});

/** Uses the same caller for every request. */
const repeat: Workload['callerOf'] = () => ({ credential: 0, number: 0 });

/** Number of workflows that Q3 requests. */
const Q3_WORKFLOWS = 20;

/** Returns the ids of `count` workflows, starting with number `first`. */
const workflowIdsFrom = (first: number, count: number): string[] =>
  Array.from({ length: count }, (_, offset) => workflowId((first + offset) % POPULATION));

const workflowVariables = (number: number) => ({ id: workflowId(number) });

/** Subscribers that B1 creates. */
export const SUBSCRIBERS: readonly object[] = Array.from({ length: 100 }, (_, number) => ({
  subscriberId: subscriberId(number),
  firstName: 'Ada',
  lastName: 'Example',
  email: 'ada@example.com',
}));

/** Workloads, by name. */
export const WORKLOADS: Record<WorkloadName, Workload> = {
  q1: workload('q1', 'one workflow, nested', workflowVariables),
  q2: workload('q2', '50 notification groups, names only', () => ({})),
  q3: workload('q3', '20 workflows, each with its group', (number) => ({ ids: workflowIdsFrom(number, Q3_WORKFLOWS) })),
  q4: workload('q4', 'statistics of 30 days with their workflows', () => ({ days: 30 })),
  m1: workload('m1', 'create a notification group', (number) => ({
    input: { name: `Made by the benchmark ${padded(number)}` },
  })),
  h1: {
    ...workload('h1', 'one hot query from many clients with the same credential', workflowVariables),
    judgedBy: 'calls',
    latencyMs: 20,
    callerOf: repeat,
  },
  h2: {
    ...workload('h2', 'hot reads with the cache', workflowVariables),
    latencyMs: 20,
    callerOf: (index) => ({ credential: index % HOT_CREDENTIALS, number: index % POPULATION }),
    minSeconds: 10, // With the turns of the floor, two rounds last longer than entries are fresh.
  },
  twin: workload('twin', 'Q1 as the field of a module', workflowVariables),
  b1: {
    ...workload('b1', 'create 100 subscribers', () => ({ input: { subscribers: SUBSCRIBERS } })),
    judgedBy: 'time',
    latencyMs: 20,
    connections: 1,
    callerOf: repeat,
  },
};

/** The hot query again, but with a credential per connection, so that no upstream call may be shared. */
export const H1_OWN: Workload = {
  ...WORKLOADS.h1,
  title: 'one hot query from many clients, each with its own credential',
  callerOf: (_index, connection) => ({ credential: connection, number: 0 }),
};

/** Requests of several kinds. */
export const MIX: Workload = {
  ...WORKLOADS.q1,
  title: 'mixed requests',
  mix: [
    ['q1', 50],
    ['q2', 25],
    ['m1', 15],
    ['q4', 6],
    ['q3', 4],
  ],
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

function workload(name: WorkloadName, title: string, variables: Workload['variables']): Workload {
  return { name, title, judgedBy: 'cpu', connections: 64, callerOf: rotate, variables };
}
