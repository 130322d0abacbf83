// Serves tools to a desktop client over standard input and output.

import type { Command } from '../command.ts';
import { optionsOfServe } from './serve.ts';

export const mcp: Command = {
  name: 'mcp',
  summary: 'Serves tools to an AI agent over stdio.',
  options: [
    ...optionsOfServe('upstream', 'sandbox', 'config', 'modules', 'log-level', 'log-format'),
    {
      name: 'name',
      value: 'NAME',
      description: 'Name of the service, if upstreams lists several. Default: the one with default.',
    },
    {
      name: 'key-file',
      value: 'FILE',
      description: 'File with an API key of the service. Default: NOTIGRAPH_MCP_KEY, or the key of the sandbox.',
    },
  ],
  details: `The program that uses the tools starts this command, and talks to it over
standard input and output. The log is on standard error. The tools are those of
the setting mcp, by default the shipped queries. Calls take the same path as
requests to notigraph serve.`,
  run: async (commandLine, host) => (await import('../run-mcp.ts')).runMcp(commandLine, host),
};
