// Erases people from the service: from their topics, then their messages, then the subscriber, which is the last that finds the messages.

import type { CommandLine, Process } from '../command.ts';
import { formatCount, printNote, showProgress, writeLines } from '../import/report.ts';
import { explainFileError, ImportError } from '../import/results.ts';
import { countOf, withoutControls } from '../text.ts';
import { OperationError, type Operations, openOperations } from './operations.ts';
import { findTopics, type Person, readMessages, readPeople, readSubscriber, type TopicsOf } from './people.ts';

const RESULT = '{ __typename ... on MutationError { code message } }';
const REMOVE_FROM_TOPIC = `mutation ($key: ID!, $id: ID!) {
  result: removeSubscribersFromTopic(input: { key: $key, subscriberIds: [$id] }) ${RESULT}
}`;
const DELETE_MESSAGE = `mutation ($id: ID!) { result: deleteMessage(input: { id: $id }) ${RESULT} }`;
const DELETE_SUBSCRIBER = `mutation ($id: ID!) { result: deleteSubscriber(input: { subscriberId: $id }) ${RESULT} }`;

/** Creates the failure of what is still there after its deletion. */
const stillThere = (problem: string): OperationError => new OperationError('STILL_THERE', problem, false);

/**
 * Outcome for a person. `pending`: not erased, or not completely; `absent`: nothing to erase; `unchecked`: erased, but a topic may have the id;
 * `unknown`: the last write may have been applied.
 */
type Outcome = 'pending' | 'erased' | 'absent' | 'unchecked' | 'failed' | 'unknown';

/** A person, and what was erased, or would be. */
interface Entry extends Person {
  outcome: Outcome;
  /** Keys. */
  topics: string[];
  messages: number;
  subscriber: boolean;
  code?: string;
  message?: string;
}

/**
 * Erases the people of the command line, or shows what would be erased. The exit code is 0 if nothing is left of all of them, 1 if of some, and 2 if the
 * file or the configuration is invalid.
 */
export async function runErase(commandLine: CommandLine, host: Process): Promise<void> {
  const { yes, report } = commandLine.options;
  const isDryRun = yes === undefined;
  const entries = readPeople(commandLine, 'report').map(
    (person): Entry => ({ ...person, outcome: 'pending', topics: [], messages: 0, subscriber: false }),
  );
  await using operations = await openOperations(commandLine, host, 'erase', !isDryRun);
  const erasure = new Erasure(entries, operations, host, isDryRun);
  const failure = await erasure.run();
  if (report !== undefined) {
    try {
      writeLines(
        report,
        entries.map((entry) => `${JSON.stringify(entry)}\n`),
      );
    } catch (error) {
      throw explainFileError(error, '');
    }
  }
  if (failure !== undefined) {
    host.stderr.write(`${withoutControls(failure)}\n`);
  }
  host.stdout.write(isDryRun && failure !== undefined ? 'Nothing was changed.\n' : describeEnding(entries, isDryRun));
  const isDone = ({ outcome }: Entry) => ['erased', 'absent'].includes(outcome) || (isDryRun && outcome === 'pending');
  if (failure !== undefined || !entries.every(isDone)) {
    host.exitCode = 1;
  }
}

class Erasure {
  readonly #entries: readonly Entry[];
  readonly #operations: Operations;
  readonly #host: Process;
  readonly #isDryRun: boolean;

  constructor(entries: readonly Entry[], operations: Operations, host: Process, isDryRun: boolean) {
    this.#entries = entries;
    this.#operations = operations;
    this.#host = host;
    this.#isDryRun = isDryRun;
  }

  /** Erases or inspects everybody, one after the other. Returns why it ended early; undefined if it didn't. */
  async run(): Promise<string | undefined> {
    const entries = this.#entries;
    let started = 0;
    using _progress = showProgress(this.#host, (columns) => {
      const deleted = entries.reduce((sum, { messages }) => sum + messages, 0);
      const count = formatCount(started);
      return `${count} of ${formatCount(entries.length)} people, ${countOf(deleted, 'message')}`.slice(0, columns);
    });
    try {
      const topics = await findTopics(this.#operations, entries);
      for (const entry of entries) {
        started += 1;
        await this.#take(entry, topics);
      }
      await this.#checkTopics(entries.filter(({ outcome }) => outcome === 'unchecked'));
      return undefined;
    } catch (error) {
      if (!(error instanceof ImportError)) {
        throw error;
      }
      return error.message;
    }
  }

  /** Erases or inspects a person. A failure is noted. @throws {ImportError} if the others would fail too */
  async #take(entry: Entry, topics: TopicsOf): Promise<void> {
    const keys = topics.get(entry.subscriberId)?.map(({ key }) => key) ?? [];
    try {
      await (this.#isDryRun ? this.#inspect(entry, keys) : this.#erase(entry, keys));
    } catch (error) {
      if (!(error instanceof OperationError)) {
        throw error;
      }
      this.#fail(entry, error);
      this.#operations.pace.failed(error.message);
      return;
    }
    this.#operations.pace.succeeded();
    printNote(this.#host, withoutControls(describeEntry(entry, this.#isDryRun)), this.#host.stdout);
  }

  async #inspect(entry: Entry, keys: readonly string[]): Promise<void> {
    entry.topics.push(...keys);
    entry.subscriber = await this.#exists(entry);
    if (entry.subscriber) {
      for await (const page of readMessages(this.#operations, entry.subscriberId)) {
        entry.messages += page.length;
      }
    }
    entry.outcome = isEmpty(entry) ? 'absent' : 'pending';
  }

  async #erase(entry: Entry, keys: readonly string[]): Promise<void> {
    const { subscriberId: id } = entry;
    const exists = await this.#exists(entry);
    for (const key of keys) {
      await this.#operations.write(REMOVE_FROM_TOPIC, { key, id }, id);
      entry.topics.push(key);
    }
    if (exists) {
      await this.#deleteMessages(entry);
      await this.#deleteSubscriber(entry);
    }
    entry.outcome = isEmpty(entry) ? 'absent' : 'unchecked';
  }

  /** Deletes messages until the first page is empty: each deletion moves the others forward. */
  async #deleteMessages(entry: Entry): Promise<void> {
    const deleted = new Set<string>();
    for (;;) {
      const listed = await this.#firstMessages(entry);
      const left = listed.filter(({ id }) => !deleted.has(id));
      if (listed.length === 0) {
        return;
      }
      if (left.length === 0) {
        const count = countOf(listed.length, 'message');
        throw stillThere(`The service still lists ${count} after the deletion.`);
      }
      for (const { id } of left) {
        await this.#operations.write(DELETE_MESSAGE, { id }, entry.subscriberId);
        deleted.add(id);
        entry.messages += 1;
      }
    }
  }

  /** Deletes the subscriber, and reads what the service has then, which also decides about a deletion whose outcome is unknown. */
  async #deleteSubscriber(entry: Entry): Promise<void> {
    const { subscriberId: id } = entry;
    let failure: OperationError | undefined;
    try {
      await this.#operations.write(DELETE_SUBSCRIBER, { id }, id);
    } catch (error) {
      if (!(error instanceof OperationError && error.isUnknown)) {
        throw error;
      }
      failure = error;
    }
    if (await this.#exists(entry)) {
      throw failure ?? stillThere('The service still has the subscriber after the deletion.');
    }
    entry.subscriber = true;
    const { length: left } = await this.#firstMessages(entry);
    if (left > 0) {
      throw stillThere(`The service still has ${countOf(left, 'message')}.`);
    }
  }

  /** Reads the topics again. Another program may have added a person. */
  async #checkTopics(entries: readonly Entry[]): Promise<void> {
    const topics: TopicsOf = entries.length === 0 ? new Map() : await findTopics(this.#operations, entries);
    for (const entry of entries) {
      const keys = topics.get(entry.subscriberId)?.map(({ key }) => key) ?? [];
      entry.outcome = 'erased';
      if (keys.length > 0) {
        this.#fail(entry, stillThere(`The id is still in ${describeTopics(keys)}.`));
      }
    }
  }

  #fail(entry: Entry, error: OperationError): void {
    const { code, message, isUnknown } = error;
    Object.assign(entry, { outcome: isUnknown ? 'unknown' : 'failed', code, message } satisfies Partial<Entry>);
    printNote(this.#host, withoutControls(`${entry.subscriberId}: ${message}`));
  }

  #exists = async ({ subscriberId }: Entry): Promise<boolean> =>
    (await readSubscriber(this.#operations, subscriberId)) !== null;

  async #firstMessages({ subscriberId }: Entry) {
    const { value: messages = [] } = await readMessages(this.#operations, subscriberId).next();
    return messages;
  }
}

const isEmpty = ({ topics, messages, subscriber }: Entry): boolean => topics.length + messages === 0 && !subscriber;

/** Topics that a line names. */
const NAMED = 5;

function describeTopics(keys: readonly string[]): string {
  const more = keys.length > NAMED ? ', …' : '';
  return `${countOf(keys.length, 'topic')} (${keys.slice(0, NAMED).join(', ')}${more})`;
}

function describeEntry({ subscriberId, topics, messages, subscriber, outcome }: Entry, isDryRun: boolean): string {
  if (outcome === 'absent') {
    return `${subscriberId}: nothing to erase: erased before, or never there.`;
  }
  const parts = [
    topics.length > 0 && `membership of ${describeTopics(topics)}`,
    messages > 0 && countOf(messages, 'message'),
    subscriber && 'the subscriber',
  ].filter((part) => part !== false);
  return `${subscriberId}: ${isDryRun ? 'would be erased' : 'erased'}: ${parts.join(', ')}.`;
}

const STAYS =
  "Not reachable by /v1: preferences, events, jobs and activity of the service, messages of subscribers that were deleted before, and what providers have sent. Ask the service's operator.";

const RETURNS =
  'If a file that you import has an erased id, the next import creates the person again. Remove the row: the import then removes the id from its results file, too.';

/** Returns the lines to print at the end. */
function describeEnding(entries: readonly Entry[], isDryRun: boolean): string {
  const countIn = (...outcomes: Outcome[]) => entries.filter(({ outcome }) => outcomes.includes(outcome)).length;
  const [erased, absent, failed, unknown] = [
    countIn('erased'),
    countIn('absent'),
    countIn('failed'),
    countIn('unknown'),
  ];
  const total = formatCount(entries.length);
  const left = countIn('pending', 'unchecked');
  const lines = isDryRun
    ? ['Nothing was changed. To erase, add --yes.', STAYS]
    : [
        `Erased ${formatCount(erased)} of ${total} ${entries.length === 1 ? 'person' : 'people'}.`,
        absent > 0 && `${formatCount(absent)} had nothing to erase.`,
        failed > 0 && `${formatCount(failed)} failed.`,
        unknown > 0 && `${formatCount(unknown)} failed in a call that may have been applied.`,
        left > 0 && `${formatCount(left)} not finished, or not checked.`,
        failed + unknown + left > 0 && 'Run the same command again: it erases what is left.',
        STAYS,
        RETURNS,
      ];
  return lines.flatMap((line) => (line === false ? [] : `${line}\n`)).join('');
}
