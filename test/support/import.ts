// Imports subscribers into a service that records them.

import { readFile, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { runCommand } from './command.ts';
import { group, subscriber } from './records.ts';
import { createTestFolder } from './sandbox-files.ts';
import { type ServiceResponse, startService } from './service.ts';

/** API key of the imports. */
export const KEY = 'canaryKeyOfTheImport';

/** Fields that the service gets. */
export interface Sent {
  subscriberId: string;
  email?: string;
  data?: unknown;
  /** Those that are sent together. */
  subscribers?: Sent[];
}

/** Faults of the service instead of a response. */
const FAULTS = {
  'broken connection': (end: () => void) => end(),
  'no response': () => undefined,
};

/**
 * Starts a service, writes a file into an empty folder, and returns functions that import it.
 *
 * @param respond returns the response to a row, to rows that are sent together, or to a read of a subscriber; undefined if they are created, or it doesn't exist
 * @param env further environment variables
 * @param isDown called for each request; if it returns true, the connection breaks
 */
export async function setUpImport(
  content: string,
  respond: (row: Sent, path: string, key: string) => ServiceResponse | keyof typeof FAULTS | undefined = () =>
    undefined,
  env: Readonly<Record<string, string>> = {},
  isDown: (method: string) => boolean = () => false,
) {
  let environment = 'env-1';
  let hasGroups = true;
  const folder = await createTestFolder();
  await writeFile(folder.path('users.csv'), content);
  const service = await startService(({ method, path, headers, body }, { end }) => {
    const answer = (response: ServiceResponse | keyof typeof FAULTS) =>
      typeof response === 'string' ? FAULTS[response](end) : response;
    if (isDown(method)) {
      return end();
    }
    if (method === 'GET' && path.includes('/v1/subscribers/')) {
      return answer(
        respond({ subscriberId: path.replace(/.*\//, '') }, path, '') ?? { status: 404, body: { statusCode: 404 } },
      );
    }
    if (method === 'GET') {
      return { body: { data: hasGroups ? [group({ _environmentId: environment })] : [] } };
    }
    const row: Sent = JSON.parse(body);
    const { subscriberId, subscribers } = row;
    const record = { subscriberId, _environmentId: environment, createdAt: new Date().toISOString() };
    const response = respond(row, path, headers['idempotency-key'] ?? '') ?? {
      status: 201,
      body: {
        data: subscribers === undefined ? subscriber(record) : { updated: [], created: subscribers, failed: [] },
      },
    };
    return answer(response);
  });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const optionsFor = (file: string, ...args: string[]) => ({
    cwd: folder.path(),
    args: ['subscribers', 'import', file, '--upstream', service.url, ...args],
    env: { NOTIGRAPH_IMPORT_KEY: KEY, NOTIGRAPH_CACHE: 'on', ...env },
  });
  const optionsOf = (...args: string[]) => optionsFor('users.csv', ...args);
  return {
    folder,
    /** Returns the options of an import, for a command or a process of its own. */
    optionsOf,
    run: (...args: string[]) => runCommand(optionsOf(...args)),
    /** Imports another file of the folder. */
    importFile: (file: string, ...args: string[]) => runCommand(optionsFor(file, ...args)),
    /** Imports standard input. */
    pipe: (text: string, ...args: string[]) =>
      runCommand({ ...optionsFor('-', ...args), input: { text, isTTY: false } }),
    /** Changes the environment of the API key. @param groups whether it has notification groups */
    switchEnvironment(id: string, groups = true): void {
      environment = id;
      hasGroups = groups;
    },
    /** Requests that the service got. */
    requests: service.requests,
    /** Returns the rows that were sent, with their keys. */
    sent: () =>
      service.requests
        .filter(({ method }) => method === 'POST')
        .map(({ body, headers }) => ({ ...(JSON.parse(body) as Sent), key: headers['idempotency-key'] })),
    /** Returns the rows of the results file by their outcomes, without those that were not sent. */
    results: () => readResults(folder.path('users.csv.results.db')),
    /** Returns the lines of a report. */
    report: async (name: string) =>
      (await readFile(folder.path(name), 'utf8'))
        .split('\n')
        .filter(Boolean)
        .map((line): Record<string, unknown> => JSON.parse(line)),
  };
}

/** Reads the rows of a results file that were sent. */
export function readResults(path: string): Record<string, unknown>[] {
  using database = new DatabaseSync(path, { readOnly: true });
  return database
    .prepare("SELECT * FROM outcomes WHERE outcome <> 'pending' ORDER BY line")
    .all()
    .map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)));
}
