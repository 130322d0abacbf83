// Exports people from the service, and erases them.

import type { Command, CommandOption } from '../command.ts';
import { serviceOptions } from './serve.ts';

/** Options of commands for people. The key is that of the import, which has the same people. */
const OPTIONS: readonly CommandOption[] = [
  { name: 'file', value: 'FILE', description: 'File with an id per line, instead of ID.' },
  { name: 'rate', value: 'N', description: 'Maximum calls per second, retries included. Default: unlimited.' },
  { name: 'max-wait', value: 'SECONDS', description: 'Longest wait for the service or its limit. Default: 600.' },
  ...serviceOptions('NOTIGRAPH_IMPORT_KEY'),
];

export const subscribersErase: Command = {
  name: 'subscribers erase',
  summary: 'Deletes people with their messages.',
  args: ['[ID]'],
  options: [
    { name: 'yes', short: 'y', description: 'Erase. Without it, nothing is changed: you see what would be erased.' },
    { name: 'report', value: 'FILE', description: 'Write the outcome for every person to this file, as JSON lines.' },
    ...OPTIONS,
  ],
  details: `ID is the id of the subscriber in your system. For each person it deletes the
membership of topics, the messages, and then the subscriber, and checks that
nothing is left. After an interruption, run the same command again. With the
setting audit, each step has its lines in the audit log. See
docs/data-protection.md for what stays.

Exit code: 0 if nothing is left of all people, 1 if something is left of some, 2
if the file or the configuration is invalid.`,
  run: async (commandLine, host) => (await import('../people/erase.ts')).runErase(commandLine, host),
};

export const subscribersExport: Command = {
  name: 'subscribers export',
  summary: 'Prints what the service has of people, as JSON lines.',
  args: ['[ID]'],
  options: [
    { name: 'output', value: 'FILE', description: 'File to write, which only you can read. Default: standard output.' },
    ...OPTIONS,
  ],
  details: `ID is the id of the subscriber in your system. Each line has a kind: topic,
subscriber, message, preference or globalPreference. It changes nothing.

Exit code: 0 if everything was read, 1 if a person doesn't exist or something
can't be read, 2 if the file or the configuration is invalid.`,
  run: async (commandLine, host) => (await import('../people/export.ts')).runExport(commandLine, host),
};
