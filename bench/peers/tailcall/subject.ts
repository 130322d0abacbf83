import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { OURS, Q1, type Subject } from '../../subjects.ts';
import { asBulk, createEach } from '../bulk.ts';
import { beside, findMissing } from '../packages.ts';
import { PACKAGE, prepareRuntime, RUNTIME, startOf } from './runtime.ts';

const CACHE = `${RUNTIME}/cache`;

interface StatisticsEntry {
  date: string;
  count: number;
  channels: string[];
  workflows: { workflow: { name: string } }[];
}

/** Makes it a fresh start: Tailcall reads its settings only from a file. @returns its path; JSON is YAML */
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

/** Tailcall, a gateway in Rust that is told by directives what to call; its defaults, as many workers as there are cores. */
export const TAILCALL: Subject = {
  name: 'tailcall',
  title: 'Tailcall',
  findObstacle: async () =>
    process.platform !== 'linux' || process.arch !== 'x64'
      ? 'Tailcall is installed here only for Linux on x64.'
      : (findMissing('Tailcall', [PACKAGE]) ?? (await prepareRuntime())),
  command: ({ port, upstream }) => {
    const { file, args } = startOf(['start', writeConfig(port)]);
    return {
      file,
      args,
      env: {
        UPSTREAM: upstream,
        TAILCALL_TRACKER: 'false',
        // In an empty cache it notes when it started; only later would it look for a newer release.
        XDG_CACHE_HOME: CACHE,
        // By default it writes a line for every call upstream.
        TAILCALL_LOG_LEVEL: 'error',
      },
    };
  },
  requests: {
    q1: { query: Q1 },
    q2: { ...OURS.requests.q2 },
    // q3 is left out: a workflow's group can be joined only by a key that the service is asked with, one (`{{.value…}}` in the address)
    // or many (`batchKey`). The canned service, as the floor uses it, has only the list of all groups.
    q4: {
      query: /* GraphQL */ `query Q4($days: Int!) {
        notificationStats(days: $days) { date count channels workflows { workflow { name } } }
      }`,
      // Lists cannot be cut either; no day of the workload has more than three workflows.
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
