import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Subject, SubjectRequest } from '../../subjects.ts';
import { asBulk, createEach } from '../bulk.ts';
import { beside, findMissing, inPackage, lastLineOf } from '../packages.ts';

const TITLE = 'Hive Gateway';
const SUPERGRAPH = beside(import.meta.url, '.composed/supergraph.graphql');

interface StatisticsEntry {
  date: string;
  count: number;
  channels: string[];
  workflows: { name: string }[];
}

/** Composes the supergraph from the service's contract. This takes only two seconds, so it isn't cached. */
async function findObstacle(): Promise<string | undefined> {
  const missing = findMissing(TITLE, [
    '@graphql-hive/gateway',
    '@graphql-mesh/compose-cli',
    '@omnigraph/openapi',
    'graphql',
    'yaml',
  ]);
  if (missing !== undefined) {
    return missing;
  }
  try {
    await promisify(execFile)(
      process.execPath,
      [
        inPackage('@graphql-mesh/compose-cli/esm/bin.js'),
        '--config-path',
        beside(import.meta.url, 'mesh.config.ts'),
        '--output',
        SUPERGRAPH,
      ],
      { timeout: 60_000 },
    );
    return undefined;
  } catch (error) {
    return `${TITLE}'s supergraph can't be composed: ${lastLineOf(error)}`;
  }
}

const Q1: SubjectRequest = {
  query: /* GraphQL */ `query Q1($id: String!) {
    getWorkflow(workflowIdOrIdentifier: $id) {
      ... on getWorkflow_200_response {
        data { name active tags steps { name active template { type content subject } } }
      }
    }
  }`,
  normalize: ({ getWorkflow }: { getWorkflow: { data: object } }) => ({ workflow: getWorkflow.data }),
};

/** Hive Gateway with a subgraph composed from the service's OpenAPI document, with default options and one worker. */
export const HIVE: Subject = {
  name: 'hive',
  title: TITLE,
  findObstacle,
  command: ({ port, upstream }) => ({
    file: process.execPath,
    args: [
      inPackage('@graphql-hive/gateway/dist/bin.js'),
      'supergraph',
      SUPERGRAPH,
      '--config-path',
      beside(import.meta.url, 'gateway.config.ts'),
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
    ],
    env: { NODE_ENV: 'production', UPSTREAM: upstream },
  }),
  requests: {
    q1: Q1,
    q2: {
      query: /* GraphQL */ `query Q2 {
        listNotificationGroups { ... on listNotificationGroups_200_response { data { name } } }
      }`,
      normalize: ({ listNotificationGroups }: { listNotificationGroups: { data: object[] } }) => ({
        notificationGroups: listNotificationGroups.data,
      }),
    },
    q3: {
      query: /* GraphQL */ `query Q3($ids: [String!]!) {
        workflows(idsOrIdentifiers: $ids) { name notificationGroup: group { name } }
      }`,
    },
    q4: {
      query: /* GraphQL */ `query Q4($days: Float!) {
        getNotificationStats(days: $days) {
          ... on StatisticsEntry { date: _id count channels workflows(first: 3) { name } }
        }
      }`,
      // Days are in the service's order, and channels have its names.
      normalize: ({ getNotificationStats }: { getNotificationStats: StatisticsEntry[] }) => ({
        notificationStats: getNotificationStats
          .map(({ channels, ...entry }) => ({
            date: entry.date,
            count: entry.count,
            channels: channels.map((channel) => channel.toUpperCase()),
            workflows: entry.workflows,
          }))
          .sort((a, b) => (a.date < b.date ? -1 : 1)),
      }),
    },
    m1: {
      query: /* GraphQL */ `mutation M1($input: Name_request_Input!) {
        createNotificationGroup(input: $input) {
          ... on createNotificationGroup_201_response { notificationGroup: data { id: _id name } }
        }
      }`,
    },
    h1: Q1,
    b1: {
      ...createEach('CreateSubscriber_Input', '{ ... on createSubscriber_201_response { data { subscriberId } } }'),
      normalize: (data: Record<string, { data: object }>) => asBulk(Object.values(data).map((created) => created.data)),
    },
  },
};
