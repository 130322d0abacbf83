/** What is measured: one operation each, as the gateway and the floor are asked for it. */

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
  /** Whether every connection has a credential of its own: then nothing can be shared between them. */
  ownCredentials: boolean;
  /** Calls an operation needs at least. */
  upstreamCalls: number;
}

const WORKFLOW_IDS = Array.from({ length: 20 }, (_, number) => `workflow-${number}`);

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
    ownCredentials: false,
  },
  b1: { ...workload('b1', 'create 100 subscribers', 100), judgedBy: 'time', latencyMs: 20, connections: 1 },
};

/** The hot query once more, where nothing may be shared. */
export const H1_OWN: Workload = {
  ...WORKLOADS.h1,
  title: 'one hot query from many clients with credentials of their own',
  ownCredentials: true,
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
  return { name, title, judgedBy: 'cpu', latencyMs: 0, connections: 64, ownCredentials: true, upstreamCalls };
}

/** The variables of each workload; every subject is sent the same. */
export const VARIABLES: Record<WorkloadName, object> = {
  q1: { id: 'workflow-1' },
  q2: {},
  q3: { ids: WORKFLOW_IDS },
  q4: { days: 30 },
  m1: { input: { name: 'Made by the benchmark' } },
  h1: { id: 'workflow-1' },
  b1: {
    input: {
      subscribers: Array.from({ length: 100 }, (_, number) => ({
        subscriberId: `customer-${number}`,
        firstName: 'Ada',
        lastName: 'Example',
        email: 'ada@example.com',
      })),
    },
  },
};
