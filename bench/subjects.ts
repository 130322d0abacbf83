import { fileURLToPath } from 'node:url';
import type { WorkloadName } from './workloads.ts';

/** One operation as a subject is asked for it. */
export interface SubjectRequest {
  /** @default '/graphql' */
  path?: string;
  /** The document; the floor needs none. */
  query?: string;
  /** Variables for a number from 0 to 256. @default the workload's own */
  variables?: (number: number) => object;
  /** The header `Authorization` of each credential. @default the service's key */
  authorization?: (credential: number) => string;
  /** Turns the subject's `data` into the floor's, where its schema names things in another way. @default as it is */
  normalize?: (data: never) => unknown;
}

export interface SubjectCommand {
  file: string;
  args: string[];
  env?: Record<string, string>;
  /** Whether it is asked over a channel between the processes. @default false */
  hasChannel?: boolean;
}

/** Something that answers the workloads, in processes of its own. */
export interface Subject {
  name: string;
  title: string;
  /** Says in one sentence why it cannot run on this machine; undefined: it can. */
  findObstacle?: () => string | undefined | Promise<string | undefined>;
  /** How its process is started. It listens on 127.0.0.1 at the port and stops at SIGTERM. */
  command(settings: { port: number; upstream: string }): SubjectCommand;
  /** A workload that is missing here is one that it cannot answer. */
  requests: Partial<Record<WorkloadName, SubjectRequest>>;
}

export const Q1 = /* GraphQL */ `query Q1($id: ID!) {
  workflow(idOrIdentifier: $id) { name active tags steps { name active template { type content subject } } }
}`;

const local = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** A subject with more arguments or other settings. */
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

export const OURS: Subject = {
  name: 'notigraph',
  title: 'Notigraph',
  command: ({ port, upstream }) => ({
    file: process.execPath,
    args: [local('../src/cli/main.ts'), '--upstream', upstream, '--port', String(port)],
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
    b1: { path: '/b1' },
  },
};
