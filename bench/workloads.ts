/** The workloads: one operation each, as the gateway and the floor are asked for it. */

import { POPULATION, padded, subscriberId, workflowId } from './ids.ts';

export type WorkloadName = 'q1' | 'q2' | 'q3' | 'q4' | 'm1' | 'h1' | 'b1';

export interface Workload {
  /** Which request of a subject it is made of. */
  name: WorkloadName;
  title: string;
  /** The figure that the bar is about. */
  judgedBy: 'cpu' | 'time' | 'calls';
  /** How long the upstream takes to answer, in milliseconds. */
  latencyMs: number;
  /** Connections that ask at a time. */
  connections: number;
  /**
   * How requests take their credential and ids. `rotating`: each request takes the next ones. `per connection`: each connection has a
   * credential of its own, and all ask for the same. `shared`: one credential and the same ids for all.
   */
  callers: 'rotating' | 'per connection' | 'shared';
  /** Calls an operation needs at least. */
  upstreamCalls: number;
}

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
  b1: {
    ...workload('b1', 'create 100 subscribers', 100),
    judgedBy: 'time',
    latencyMs: 20,
    connections: 1,
    callers: 'shared',
  },
};

/** The hot query once more, where nothing may be shared. */
export const H1_OWN: Workload = {
  ...WORKLOADS.h1,
  title: 'one hot query from many clients with credentials of their own',
  callers: 'per connection',
};

/** What a run measures, by the names that its results have. */
export const MEASURED: Readonly<Record<string, Workload>> = {
  q1: WORKLOADS.q1,
  q2: WORKLOADS.q2,
  q3: WORKLOADS.q3,
  q4: WORKLOADS.q4,
  m1: WORKLOADS.m1,
  h1: WORKLOADS.h1,
  'h1-own': H1_OWN,
  b1: WORKLOADS.b1,
};

function workload(name: WorkloadName, title: string, upstreamCalls: number): Workload {
  return { name, title, judgedBy: 'cpu', latencyMs: 0, connections: 64, callers: 'rotating', upstreamCalls };
}

/** Workflows that Q3 asks for. */
const Q3_WORKFLOWS = 20;

/** Returns the ids of so many workflows, from the one with a number on. */
export const workflowIdsFrom = (first: number, count: number): string[] =>
  Array.from({ length: count }, (_, offset) => workflowId((first + offset) % POPULATION));

/** Variables of each workload for a number from 0 to 256. Every subject is sent the same. */
export const VARIABLES: Record<WorkloadName, (number: number) => object> = {
  q1: (number) => ({ id: workflowId(number) }),
  q2: () => ({}),
  q3: (number) => ({ ids: workflowIdsFrom(number, Q3_WORKFLOWS) }),
  q4: () => ({ days: 30 }),
  m1: (number) => ({ input: { name: `Made by the benchmark ${padded(number)}` } }),
  h1: (number) => ({ id: workflowId(number) }),
  b1: () => ({ input: { subscribers: SUBSCRIBERS } }),
};

/** Subscribers that B1 creates. */
export const SUBSCRIBERS: readonly object[] = Array.from({ length: 100 }, (_, number) => ({
  subscriberId: subscriberId(number),
  firstName: 'Ada',
  lastName: 'Example',
  email: 'ada@example.com',
}));
