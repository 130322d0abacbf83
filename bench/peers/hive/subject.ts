// Composes the supergraph of Hive Gateway, and describes the gateway as a subject.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../progress.ts';
import type { Subject, SubjectRequest } from '../../subjects.ts';
import { inPackage } from '../packages.ts';

const beside = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const SUPERGRAPH = beside('.composed/supergraph.graphql');

/** Composes the supergraph from the service's contract. This takes only two seconds, so it isn't cached. */
function compose(): void {
  const program = inPackage('@graphql-mesh/compose-cli/esm/bin.js');
  const args = [program, '--config-path', beside('mesh.config.ts'), '--output', SUPERGRAPH];
  try {
    execFileSync(process.execPath, args, { stdio: 'pipe', timeout: 60_000 });
  } catch (error) {
    throw new Error(`Hive Gateway's supergraph can't be composed: ${messageOf(error).trim().split('\n').at(-1)}`);
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
  title: 'Hive Gateway',
  packages: ['@graphql-hive/gateway', '@graphql-mesh/compose-cli', '@omnigraph/openapi', 'graphql', 'yaml'],
  prepare: compose,
  command: ({ port, upstream }) => ({
    file: process.execPath,
    args: [
      inPackage('@graphql-hive/gateway/dist/bin.js'),
      'supergraph',
      SUPERGRAPH,
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
    // No q3 and q4: the contract doesn't describe joins between types, which take code (`additionalResolvers`).
    m1: {
      query: /* GraphQL */ `mutation M1($input: Name_request_Input!) {
        createNotificationGroup(input: $input) {
          ... on createNotificationGroup_201_response { notificationGroup: data { id: _id name } }
        }
      }`,
    },
    h1: Q1,
    // No b1: the contract has no request that creates several subscribers.
  },
};
