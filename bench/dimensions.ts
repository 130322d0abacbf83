import type { Curve } from './curves.ts';
import { createOutgoing, createRequests, type Outgoing } from './requests.ts';
import type { Subject, SubjectRequest } from './subjects.ts';
import { DEFAULT_SETTINGS, type UpstreamSettings } from './upstream/settings.ts';
import { WORKLOADS, type WorkloadName } from './workloads.ts';

/** One way in which the work can grow. */
export interface Dimension extends Omit<Curve, 'points'> {
  amounts: readonly number[];
  name: WorkloadName;
  connections: (amount: number) => number;
  upstream: (amount: number) => UpstreamSettings;
  request: (subject: Subject, amount: number) => SubjectRequest;
  next: (url: string, request: SubjectRequest, amount: number) => (index: number, connection: number) => Outgoing;
}

/** Where an operation is large, so many at a time keep a core busy without making each other wait for long. */
const FEW_CONNECTIONS = 16;
const MANY_CONNECTIONS = 64;

const WORKFLOWS_IN_TURN = 500;

/** A dimension of one workload, as far as it does not say otherwise. */
export const dimension = (
  name: WorkloadName,
  told: Pick<Dimension, 'key' | 'title' | 'unit' | 'expected' | 'amounts'> & Partial<Dimension>,
): Dimension => ({
  name,
  connections: () => (told.expected === 'growing' ? FEW_CONNECTIONS : MANY_CONNECTIONS),
  upstream: () => DEFAULT_SETTINGS,
  request: ({ requests }) => requests[name] ?? {},
  next: (url, request) => createRequests(url, WORKLOADS[name], request),
  ...told,
});

const workflowIds = (count: number): string[] => Array.from({ length: count }, (_, number) => `workflow-${number}`);

export const DIMENSIONS: readonly Dimension[] = [
  dimension('q3', {
    key: 'workflows',
    title: 'Workflows of one operation, each with its group',
    unit: 'workflows',
    expected: 'growing',
    amounts: [1, 5, 10, 20, 49],
    request: ({ requests }, amount) => ({ ...requests.q3, variables: { ids: workflowIds(amount) } }),
  }),
  dimension('q2', {
    key: 'groups',
    title: 'Notification groups in a list',
    unit: 'groups',
    expected: 'growing',
    amounts: [1, 10, 100, 1_000],
    upstream: (amount) => ({ ...DEFAULT_SETTINGS, groups: amount }),
  }),
  dimension('q1', {
    key: 'bytes',
    title: 'Size of an upstream answer',
    unit: 'KB',
    expected: 'growing',
    amounts: [8, 64, 256, 1_024],
    upstream: (amount) => ({ ...DEFAULT_SETTINGS, workflowBytes: amount * 1_024 }),
  }),
  dimension('q1', {
    key: 'connections',
    title: 'Connections that ask at the same time',
    unit: 'connections',
    expected: 'flat',
    amounts: [1, 10, 100, 1_000],
    connections: (amount) => amount,
    next: (url, request, amount) => createRequests(url, WORKLOADS.q1, request, amount),
  }),
  dimension('q1', {
    key: 'credentials',
    title: 'Credentials that take turns',
    unit: 'credentials',
    expected: 'flat',
    amounts: [1, 100, 1_000, 10_000],
    next: rotateCredentials,
  }),
];

/**
 * Every request has the next credential, and asks for another workflow than those around it: otherwise the few credentials would
 * share upstream requests, and the many would not. The numbers of the workflows are equally long.
 */
function rotateCredentials(url: string, request: SubjectRequest, amount: number): (index: number) => Outgoing {
  const all = Array.from({ length: Math.max(amount, WORKFLOWS_IN_TURN) }, (_, index) =>
    createOutgoing(
      url,
      WORKLOADS.q1,
      { ...request, variables: { id: `workflow-${100 + (index % WORKFLOWS_IN_TURN)}` } },
      index % amount,
    ),
  );
  const [first = createOutgoing(url, WORKLOADS.q1, request, 0)] = all;
  return (index) => all[index % all.length] ?? first;
}
