import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { OURS, Q1, type Subject } from '../../subjects.ts';
import { asBulk, createEach } from '../bulk.ts';
import { beside, findMissing } from '../packages.ts';
import { commandFor, PACKAGE, prepareRuntime, RUNTIME } from './runtime.ts';

const CACHE = `${RUNTIME}/cache`;

interface StatisticsEntry {
  date: string;
  count: number;
  channels: string[];
  workflows: { workflow: { name: string } }[];
}

/** Empties the cache and writes Tailcall's configuration file, as JSON, which is valid YAML. @returns the file's path */
function writeConfig(port: number): string {
  const path = `${RUNTIME}/config.yaml`;
  const config = {
    server: { port, hostname: '127.0.0.1' },
    upstream: { allowedHeaders: ['authorization'] },
    links: [
      { src: beside(import.meta.url, 'schema.graphql'), type: 'Config' },
      { src: beside(import.meta.url, 'statistics.js'), type: 'Script' },
    ],
  };
  mkdirSync(RUNTIME, { recursive: true });
  rmSync(CACHE, { recursive: true, force: true });
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** Tailcall, a gateway written in Rust and configured by directives, with default options and one worker per core. */
export const TAILCALL: Subject = {
  name: 'tailcall',
  title: 'Tailcall',
  findObstacle: async () =>
    process.platform !== 'linux' || process.arch !== 'x64'
      ? 'The benchmark supports Tailcall only on Linux x64.'
      : (findMissing('Tailcall', [PACKAGE]) ?? (await prepareRuntime())),
  command: ({ port, upstream }) => {
    const { file, args } = commandFor(['start', writeConfig(port)]);
    return {
      file,
      args,
      env: {
        UPSTREAM: upstream,
        TAILCALL_TRACKER: 'false',
        // With an empty cache, it doesn't check for a newer release.
        XDG_CACHE_HOME: CACHE,
        // By default it logs every upstream call.
        TAILCALL_LOG_LEVEL: 'error',
      },
    };
  },
  requests: {
    q1: { query: Q1 },
    q2: { ...OURS.requests.q2 },
    // No q3: a workflow's group can only be joined with a request for one key (`{{.value…}}` in the address) or several (`batchKey`),
    // but the floor joins with the list of all groups.
    q4: {
      query: /* GraphQL */ `query Q4($days: Int!) {
        notificationStats(days: $days) { date count channels workflows { workflow { name } } }
      }`,
      // Lists can't be truncated either, but no day of the workload has more than three workflows.
      normalize: ({ notificationStats }: { notificationStats: StatisticsEntry[] }) => ({
        notificationStats: notificationStats.map(({ workflows, ...entry }) => ({
          ...entry,
          workflows: workflows.map(({ workflow }) => workflow),
        })),
      }),
    },
    m1: {
      query: /* GraphQL */ `mutation M1($input: CreateNotificationGroupInput!) {
        createNotificationGroup(input: $input) { notificationGroup { id: _id name } }
      }`,
    },
    h1: { query: Q1 },
    b1: {
      ...createEach('CreateSubscriberInput', '{ subscriberId }'),
      normalize: (data: Record<string, object>) => asBulk(Object.values(data)),
    },
  },
};
