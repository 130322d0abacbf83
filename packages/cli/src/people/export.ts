// Exports what the service has of people, as JSON lines.

import { closeSync, constants, rmSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { CommandLine, Process } from '../command.ts';
import { printNote } from '../import/report.ts';
import { explainFileError, openPrivateFile } from '../import/results.ts';
import { withoutControls } from '../text.ts';
import { OperationError, type Operations, openOperations } from './operations.ts';
import { findTopics, readMessages, readPeople, readSubscriber } from './people.ts';

const OF_SUBSCRIBER = 'email firstName lastName phone avatar locale data channels isOnline lastOnlineAt extra';
const OF_MESSAGE =
  'channel status errorText subject content contentBlocks payload data seen read createdAt transactionId workflowIdentifier tags extra';
const CHANNELS = 'channels { email sms inApp chat push }';

const RECORD = z.record(z.string(), z.unknown());
type Fields = z.output<typeof RECORD>;

const PREFERENCES = z.object({ inbox: z.object({ preferences: z.array(RECORD).nullable() }).nullable() });
const GLOBAL = z.object({ inbox: z.object({ globalPreferences: RECORD.nullable() }).nullable() });

/** Writes the records of the people of the command line. The exit code is 1 if a person doesn't exist, or something can't be read. */
export async function runExport(commandLine: CommandLine, host: Process): Promise<void> {
  const people = readPeople(commandLine, 'output');
  await using operations = await openOperations(commandLine, host, 'export', false);
  const { output } = commandLine.options;
  let file: number | undefined;
  try {
    file = output === undefined ? undefined : openPrivateFile(output, constants.O_WRONLY | constants.O_TRUNC);
    const topics = await findTopics(operations, people);
    for (const { subscriberId } of people) {
      const note = (text: string) => {
        printNote(host, withoutControls(`${subscriberId}: ${text}`));
        host.exitCode = 1;
      };
      const write = (kind: string, record: Fields) => {
        const line = `${JSON.stringify({ kind, subscriberId, ...record })}\n`;
        file === undefined ? host.stdout.write(line) : writeFileSync(file, line);
      };
      for (const topic of topics.get(subscriberId) ?? []) {
        write('topic', { ...topic });
      }
      await exportPerson(subscriberId, operations, write, note);
    }
  } catch (error) {
    if (output === undefined || !(error instanceof Error)) {
      throw error;
    }
    if (file !== undefined) {
      rmSync(output); // A part of it would be taken for all of it.
    }
    throw explainFileError(Object.assign(error, { path: output }), '');
  } finally {
    if (file !== undefined) {
      closeSync(file);
    }
  }
}

/** Writes the records of a person, page by page. What can't be read is noted, and the rest is written all the same. */
async function exportPerson(
  id: string,
  operations: Operations,
  write: (kind: string, record: Fields) => void,
  note: (text: string) => void,
): Promise<void> {
  async function part(what: string, step: () => Promise<void>): Promise<void> {
    try {
      await step();
      operations.pace.succeeded();
    } catch (error) {
      if (!(error instanceof OperationError)) {
        throw error;
      }
      note(`the ${what} can't be read: ${error.message}`);
      operations.pace.failed(error.message);
    }
  }

  let exists = true;
  await part('subscriber', async () => {
    const subscriber = await readSubscriber(operations, id, OF_SUBSCRIBER);
    exists = subscriber !== null;
    subscriber === null ? note('there is no such subscriber.') : write('subscriber', subscriber);
  });
  if (!exists) {
    return;
  }
  await part('messages', async () => {
    for await (const page of readMessages(operations, id, OF_MESSAGE)) {
      for (const message of page) {
        write('message', message);
      }
    }
  });
  const readInbox = <Data>(fields: string, schema: z.ZodType<Data>) =>
    operations.read(`query ($id: ID!) { inbox(subscriberId: $id) { ${fields} } }`, schema, { id }, id);
  await part('preferences', async () => {
    const { inbox } = await readInbox(`preferences { identifier ${CHANNELS} }`, PREFERENCES);
    for (const preference of inbox?.preferences ?? []) {
      write('preference', preference);
    }
  });
  await part('global preferences', async () => {
    const { inbox } = await readInbox(`globalPreferences { ${CHANNELS} }`, GLOBAL);
    if (inbox?.globalPreferences != null) {
      write('globalPreference', inbox.globalPreferences);
    }
  });
}
