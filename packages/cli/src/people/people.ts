// Reads which people a command is about, and finds the topics that they are in.

import { lstatSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { findIdProblem } from '../../../../src/upstream/input-rules.ts';
import type { CommandLine } from '../command.ts';
import { readNamedFile, rejectProblems } from '../config/problem.ts';
import { findFileProblem } from '../files.ts';
import { ImportError } from '../import/results.ts';
import { OperationError, type Operations } from './operations.ts';

/** Maximum size of a file with ids: about a million. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** Line with which a file may begin, as in a column of a spreadsheet. */
const HEADER = 'subscriberId';

export interface Person {
  /** Line of the file. Absent if the id is an argument. */
  line?: number;
  subscriberId: string;
}

/**
 * Returns the people that the command line names, by an id or a file with an id per line.
 *
 * @param output option with the file that the command writes
 * @throws {ConfigError} with all problems, so that nothing is sent for a file with a wrong line
 */
export function readPeople({ args: [id], options, problems: usage }: CommandLine, output: string): Person[] {
  const { file, [output]: written } = options;
  const problems = [...usage];
  if ((id === undefined) === (file === undefined)) {
    problems.push('Name one person by ID, or several with --file FILE.');
  }
  const problem = written === undefined ? undefined : findFileProblem(written, lstatSync);
  if (problem !== undefined) {
    problems.push(`--${output}: ${problem}.`);
  }
  if (file !== undefined && written !== undefined && resolve(file) === resolve(written)) {
    problems.push(`--${output} must name another file than --file.`);
  }
  rejectProblems(problems);
  if (file === undefined) {
    const problem = findIdProblem(id ?? '');
    rejectProblems(problem === undefined ? [] : [`The id ${problem}.`]);
    return [{ subscriberId: id ?? '' }];
  }
  const text = readNamedFile(file, MAX_FILE_BYTES, `--file: the file ${file}`);
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/);
  const people = new Map<string, number>();
  for (const [i, subscriberId] of lines.entries()) {
    const line = i + 1;
    const first = people.get(subscriberId);
    const problem = findIdProblem(subscriberId);
    if (i === 0 && subscriberId === HEADER) {
      continue;
    }
    if (i === 0 && /^(?:.*[,;\t])?subscriberId[,;\t]|[,;\t]subscriberId$/.test(subscriberId)) {
      problems.push(`${file} must have one id per line: export only the column subscriberId.`);
      break;
    }
    if (problem !== undefined || first !== undefined) {
      problems.push(`${file}:${line}: The id ${problem ?? `is that of line ${first} too`}.`);
    }
    people.set(subscriberId, line);
  }
  if (people.size === 0 && problems.length === 0) {
    problems.push(`${file} has no ids.`);
  }
  rejectProblems(problems);
  return Array.from(people, ([subscriberId, line]) => ({ line, subscriberId }));
}

/** As many as a page can have. */
const TOPICS_PER_PAGE = 10;

const TOPIC = z.object({ key: z.string(), name: z.string() });

const TOPICS = z.object({
  topics: z
    .object({ totalCount: z.number(), topics: z.array(TOPIC.extend({ subscriberIds: z.array(z.string()) })) })
    .nullable(),
});

/** Topics of people, by their ids. */
export type TopicsOf = ReadonlyMap<string, z.output<typeof TOPIC>[]>;

/**
 * Reads all topics, once for all people: the service has no list of those of one person.
 *
 * @throws {ImportError} if they can't be read
 */
export async function findTopics(operations: Operations, people: readonly Person[]): Promise<TopicsOf> {
  const found = new Map(people.map(({ subscriberId }): [string, z.output<typeof TOPIC>[]] => [subscriberId, []]));
  const query = `query ($page: Int!) {
    topics(page: $page, pageSize: ${TOPICS_PER_PAGE}) { totalCount topics { key name subscriberIds } }
  }`;
  for (let page = 0, more = true; more; page += 1) {
    const { topics } = await operations.read(query, TOPICS, { page }, 'topics').catch((error: unknown) => {
      throw error instanceof OperationError ? new ImportError(`The topics can't be read: ${error.message}`) : error;
    });
    for (const { key, name, subscriberIds } of topics?.topics ?? []) {
      for (const id of subscriberIds) {
        const own = found.get(id);
        // A topic that is created meanwhile moves others to the next page.
        if (own?.every((topic) => topic.key !== key)) {
          own.push({ key, name });
        }
      }
    }
    more = (page + 1) * TOPICS_PER_PAGE < (topics?.totalCount ?? 0);
  }
  return found;
}

const SUBSCRIBER = z.object({ subscriber: z.looseObject({}).nullable() });

/** Reads fields of a subscriber; null if there is none. */
export async function readSubscriber(operations: Operations, id: string, fields = 'subscriberId') {
  const query = `query ($id: ID!) { subscriber(subscriberId: $id) { ${fields} } }`;
  return (await operations.read(query, SUBSCRIBER, { id }, id)).subscriber;
}

const MESSAGES = z.object({
  messages: z.object({ hasMore: z.boolean(), messages: z.array(z.looseObject({ id: z.string() })) }).nullable(),
});

/** Reads the messages of a subscriber, page by page. Without a subscriber there are none. */
export async function* readMessages(operations: Operations, id: string, fields = '') {
  const query = `query ($id: ID!, $page: Int!) {
    messages(subscriberId: $id, page: $page, limit: 100) { hasMore messages { id ${fields} } }
  }`;
  for (let page = 0, more = true; more; page += 1) {
    const { messages } = await operations.read(query, MESSAGES, { id, page }, id);
    yield messages?.messages ?? [];
    more = messages?.hasMore === true && messages.messages.length > 0;
  }
}
