import type { Curve } from './curves.ts';
import { POPULATION } from './ids.ts';
import { createRequests, type Outgoing } from './requests.ts';
import type { Subject, SubjectRequest } from './subjects.ts';
import { DEFAULT_SETTINGS, type UpstreamSettings } from './upstream/settings.ts';
import { WORKLOADS, type WorkloadName, workflowIdsFrom } from './workloads.ts';

/** Amount of work to vary, and the requests for each amount. */
export interface Dimension extends Omit<Curve, 'points'> {
  amounts: readonly number[];
  name: WorkloadName;
  connections: (amount: number) => number;
  upstream: (amount: number) => UpstreamSettings;
  request: (subject: Subject, amount: number) => SubjectRequest;
  next: (url: string, request: SubjectRequest, amount: number) => (index: number, connection: number) => Outgoing;
}

/** Number of connections for large operations: enough to keep a core busy without long queues. */
const FEW_CONNECTIONS = 16;
const MANY_CONNECTIONS = 64;

/** Creates a dimension of one workload. Options that are left out have the workload's values. */
export const dimension = (
  name: WorkloadName,
  options: Pick<Dimension, 'key' | 'title' | 'unit' | 'expected' | 'amounts'> & Partial<Dimension>,
): Dimension => ({
  name,
  connections: () => (options.expected === 'growing' ? FEW_CONNECTIONS : MANY_CONNECTIONS),
  upstream: () => DEFAULT_SETTINGS,
  request: ({ requests }) => requests[name] ?? {},
  next: (url, request) => createRequests(url, WORKLOADS[name], request),
  ...options,
});

/** Gives each request the next credential and workflow, so that few credentials don't share more upstream requests than many. */
const rotateCredentials: Dimension['next'] = (url, request, amount) =>
  createRequests(url, WORKLOADS.q1, request, (index) => ({ credential: index % amount, number: index % POPULATION }));

/** Dimensions that a scale run measures. Workers are measured separately. */
export const DIMENSIONS: readonly Dimension[] = [
  dimension('q3', {
    key: 'workflows',
    title: 'Workflows per operation, each with its group',
    unit: 'workflows',
    expected: 'growing',
    amounts: [1, 5, 10, 20, 49],
    request: ({ requests }, amount) => ({
      ...requests.q3,
      variables: (number) => ({ ids: workflowIdsFrom(number, amount) }),
    }),
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
    title: 'Size of an upstream response',
    unit: 'KB',
    expected: 'growing',
    amounts: [8, 64, 256, 1_024],
    upstream: (amount) => ({ ...DEFAULT_SETTINGS, workflowBytes: amount * 1_024 }),
  }),
  dimension('q1', {
    key: 'connections',
    title: 'Concurrent connections',
    unit: 'connections',
    expected: 'flat',
    amounts: [1, 10, 100, 1_000],
    connections: (amount) => amount,
  }),
  dimension('q1', {
    key: 'credentials',
    title: 'Rotating credentials',
    unit: 'credentials',
    expected: 'flat',
    amounts: [1, 100, 1_000, 10_000],
    next: rotateCredentials,
  }),
];
