// Writes a module from an OpenAPI document.

import type { Command } from '../command.ts';
import { optionsOfServe } from './serve.ts';

export const moduleNew: Command = {
  name: 'module new',
  summary: 'Writes a module from an OpenAPI document.',
  args: ['NAME'],
  options: [
    { name: 'openapi', value: 'FILE', description: 'OpenAPI document, version 3.0 or 3.1, in JSON or YAML.' },
    {
      name: 'path',
      value: 'PATTERN',
      description: "Paths to write, such as '/v1/topics*'. * stands for any text. Default: all.",
    },
    { name: 'output', value: 'FILE', description: 'File to write, which must not exist. Default: NAME.ts.' },
    ...optionsOfServe('modules', 'config'),
  ],
  details: `The file has endpoints, types, loaders of records by their ids, queries for GET
and mutations for the rest. It is a start: TODO comments mark what the document
doesn't say, and fields that are named like secrets have a scope of their own.
What can't be written, or a shipped or configured module has, is listed. See
docs/modules.md.`,
  run: async (commandLine, host) => (await import('../module/new-module.ts')).runNewModule(commandLine, host),
};
