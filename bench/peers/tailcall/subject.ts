// Prepares Tailcall, writes its configuration, and describes it as a subject.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../progress.ts';
import { OURS, type Subject } from '../../subjects.ts';
import { SUBSCRIBERS } from '../../workloads.ts';
import { inPackage } from '../packages.ts';

const beside = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const PACKAGE = '@tailcallhq/core-linux-x64-gnu';
const BINARY = inPackage(`${PACKAGE}/bin/tailcall`);
/** Folder for files created at run time. */
const RUNTIME = beside('.runtime');
const CACHE = `${RUNTIME}/cache`;
const LIBRARIES = `${RUNTIME}/glibc/usr/lib/x86_64-linux-gnu`;
const LOADER = `${LIBRARIES}/ld-linux-x86-64.so.2`;
const TIMEOUT_MS = 60_000;

/** Returns the command that starts the binary, with the downloaded libraries if there are any, or else with the system's. */
const commandFor = (...args: string[]): { file: string; args: string[] } =>
  existsSync(LOADER) ? { file: LOADER, args: ['--library-path', LIBRARIES, BINARY, ...args] } : { file: BINARY, args };

function isRunnable(): boolean {
  const { file, args } = commandFor('--version');
  try {
    execFileSync(file, args, { stdio: 'ignore', timeout: TIMEOUT_MS, env: { TAILCALL_TRACKER: 'false' } });
    return true;
  } catch {
    return false;
  }
}

/** Makes sure that the binary runs. It requires glibc 2.39, which is downloaded if the system's is older. */
function prepare(): void {
  if (isRunnable()) {
    return;
  }
  try {
    downloadLibraries();
  } catch (error) {
    const reason = messageOf(error).trim().split('\n').at(-1);
    throw new Error(`Tailcall requires glibc 2.39, and Debian's packages of it can't be downloaded: ${reason}`);
  }
  if (!isRunnable()) {
    throw new Error('Tailcall does not run, even with the downloaded glibc.');
  }
}

/** Downloads the libraries of Debian 13 from the system's mirror and unpacks them into `RUNTIME`. Installs nothing. */
function downloadLibraries(): void {
  const folder = `${RUNTIME}/download`;
  const run = (file: string, ...args: string[]): string =>
    execFileSync(file, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe', timeout: TIMEOUT_MS });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(`${folder}/lists/partial`, { recursive: true });
  const mirror = run('apt-get', 'indextargets', '--format', '$(REPO_URI)', 'Identifier: Packages')
    .split('\n')
    .find((address) => !address.includes('security'));
  writeFileSync(`${folder}/sources.list`, `deb ${mirror} trixie main\n`);
  // Separate package lists, so that the system's are not changed.
  const options = [
    `Dir::Etc::SourceList=${folder}/sources.list`,
    'Dir::Etc::SourceParts=-',
    `Dir::State::Lists=${folder}/lists`,
    `Dir::Cache=${folder}`,
    'Acquire::Languages=none',
  ].flatMap((option) => ['-o', option]);
  run('apt-get', '-qq', ...options, 'update');
  run('apt-get', '-qq', ...options, 'download', 'libc6', 'libgcc-s1');
  for (const name of readdirSync(folder).filter((name) => name.endsWith('.deb'))) {
    run('dpkg-deb', '-x', name, 'glibc');
  }
  renameSync(`${folder}/glibc`, `${RUNTIME}/glibc`);
  rmSync(folder, { recursive: true });
}

/** Empties the cache and writes Tailcall's configuration file, as JSON, which is valid YAML. @returns the file's path */
function writeConfig(port: number): string {
  const path = `${RUNTIME}/config.yaml`;
  const config = {
    server: { port, hostname: '127.0.0.1' },
    upstream: { allowedHeaders: ['authorization'] },
    links: [
      { src: beside('schema.graphql'), type: 'Config' },
      { src: beside('statistics.js'), type: 'Script' },
    ],
  };
  mkdirSync(RUNTIME, { recursive: true });
  rmSync(CACHE, { recursive: true, force: true });
  writeFileSync(path, JSON.stringify(config));
  return path;
}

interface StatisticsEntry {
  date: string;
  count: number;
  channels: string[];
  workflows: { workflow: { name: string } }[];
}

const { q1, q2, h1 } = OURS.requests;

/** Tailcall, a gateway written in Rust and configured by directives, with default options and one worker per core. */
export const TAILCALL: Subject = {
  name: 'tailcall',
  title: 'Tailcall',
  packages: [PACKAGE],
  prepare,
  command: ({ port, upstream }) => ({
    ...commandFor('start', writeConfig(port)),
    env: {
      UPSTREAM: upstream,
      TAILCALL_TRACKER: 'false',
      XDG_CACHE_HOME: CACHE, // With an empty cache, it doesn't check for a newer release.
      TAILCALL_LOG_LEVEL: 'error', // By default it logs every upstream call.
    },
  }),
  requests: {
    q1: { ...q1 },
    q2: { ...q2 },
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
    h1: { ...h1 },
    // One field per subscriber, because a list of inputs can't be turned into several requests.
    b1: {
      query: `mutation B1(${SUBSCRIBERS.map((_, index) => `$s${index}: CreateSubscriberInput!`).join(' ')}) {
        ${SUBSCRIBERS.map((_, index) => `s${index}: createSubscriber(input: $s${index}) { subscriberId }`).join('\n')}
      }`,
      variables: () => Object.fromEntries(SUBSCRIBERS.map((subscriber, index) => [`s${index}`, subscriber])),
      normalize: (data: Record<string, object>) => {
        const results = Object.values(data).map((subscriber) => ({ subscriber }));
        return { createSubscribers: { succeeded: results.length, results } };
      },
    },
  },
};
