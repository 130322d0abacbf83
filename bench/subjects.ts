// Describes the servers under test: the gateway in several variants, and the floor, with the requests that each supports.

import { fileURLToPath } from 'node:url';
import type { Workload, WorkloadName } from './workloads.ts';

/** Request that sends one operation to a subject. */
export interface SubjectRequest {
  /** @default '/graphql' */
  path?: string;
  /** GraphQL document. The floor doesn't use one. */
  query?: string;
  /** Returns the variables. @default the workload's */
  variables?: Workload['variables'];
  /** Converts the subject's `data` to the floor's, if its schema has other names. @default unchanged */
  normalize?: (data: never) => unknown;
}

/** Command that starts a subject's process. */
export interface SubjectCommand {
  file: string;
  args: string[];
  env?: Record<string, string>;
  /** Whether the process has an IPC channel. @default false */
  hasChannel?: boolean;
}

/** Server under test, in its own processes. */
export interface Subject {
  name: string;
  title: string;
  /** Packages in `bench/` that it requires. The version of the first one is reported as the subject's. */
  packages?: readonly string[];
  /** Creates what the subject needs. Throws if it can't run on this machine. */
  prepare?: () => void;
  /** Returns the command that starts it. It listens on 127.0.0.1 and stops on SIGTERM. */
  command(settings: { port: number; upstream: string }): SubjectCommand;
  /** Requests by workload. Missing workloads are not supported. */
  requests: Partial<Record<WorkloadName, SubjectRequest>>;
}

const SELECTED = 'name active tags steps { name active template { type content subject } }';

/** Document of Q1 and H1. */
const Q1 = `query Q1($id: ID!) { workflow(idOrIdentifier: $id) { ${SELECTED} } }`;

const local = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Returns a subject with additional arguments or environment variables. */
export const variantOf = (
  subject: Subject,
  { args = [], env = {} }: { args?: readonly string[]; env?: Record<string, string> },
): Subject => ({
  ...subject,
  command(settings) {
    const command = subject.command(settings);
    return { ...command, args: [...command.args, ...args], env: { ...command.env, ...env } };
  },
});

/** Notigraph as shipped. */
export const OURS: Subject = {
  name: 'notigraph',
  title: 'Notigraph',
  command: ({ port, upstream }) => ({
    file: process.execPath,
    args: [local('../packages/cli/src/main.ts'), '--upstream', upstream, '--port', String(port)],
    env: { NODE_ENV: 'production' },
  }),
  requests: {
    q1: { query: Q1 },
    q2: { query: 'query Q2 { notificationGroups { name } }' },
    q3: {
      query: 'query Q3($ids: [ID!]!) { workflows(idsOrIdentifiers: $ids) { name notificationGroup { name } } }',
    },
    q4: {
      query:
        'query Q4($days: Int!) { notificationStats(days: $days) { date count channels workflows(first: 3) { name } } }',
    },
    m1: {
      query: /* GraphQL */ `mutation M1($input: CreateNotificationGroupInput!) {
        createNotificationGroup(input: $input) { ... on CreateNotificationGroupSuccess { notificationGroup { id name } } }
      }`,
    },
    h1: { query: Q1 },
    b1: {
      query: /* GraphQL */ `mutation B1($input: CreateSubscribersInput!) {
        createSubscribers(input: $input) {
          succeeded results { ... on CreateSubscriberSuccess { subscriber { subscriberId } } }
        }
      }`,
    },
  },
};

/** Notigraph with the cache, which is off by default. */
export const CACHED: Subject = {
  ...variantOf(OURS, { env: { NOTIGRAPH_CACHE: 'on' } }),
  name: 'notigraph-cached',
  title: 'Notigraph with the cache',
  requests: { h2: { query: Q1 } },
};

/** Notigraph as installed from the package, which `buildPackage` builds. In a clone, `bin/notigraph.js` would run the source. */
export const PACKAGED: Subject = {
  ...OURS,
  command(settings) {
    const { args, ...command } = OURS.command(settings);
    const built = ['--import', local('../bin/compile-cache.js'), local('../dist/cli/main.js')];
    return { ...command, args: [...built, ...args.slice(1)] };
  },
};

/** The package with a module that has a twin of Q1's field. */
export const WITH_MODULE: Subject = {
  ...variantOf(PACKAGED, { args: ['--modules', local('twin.ts')] }),
  name: 'notigraph-module',
  title: 'Notigraph with a module',
  requests: {
    q1: { query: Q1 },
    twin: { query: `query Twin($id: ID!) { twin(id: $id) { ${SELECTED} } }` },
  },
};

/** Hand-written proxy that the other subjects are compared with. */
export const FLOOR: Subject = {
  name: 'floor',
  title: 'Hand-written proxy (the floor)',
  command: ({ port, upstream }) => ({
    file: process.execPath,
    args: [local('floor/main.ts')],
    env: { PORT: String(port), UPSTREAM: upstream },
  }),
  requests: {
    q1: { path: '/q1' },
    q2: { path: '/q2' },
    q3: { path: '/q3' },
    q4: { path: '/q4' },
    m1: { path: '/m1' },
    h1: { path: '/q1' },
    h2: { path: '/q1' },
    b1: { path: '/b1' },
  },
};

/** The floor with undici's `dispatch` and events instead of promises and streams: as little work as Node.js allows. */
export const LEAN_FLOOR: Subject = {
  ...variantOf(FLOOR, { env: { LEAN: 'yes' } }),
  name: 'lean-floor',
  title: 'Lean floor',
};
