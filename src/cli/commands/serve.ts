import type { Command } from '../command.ts';
import { catchHangups } from '../hangups.ts';
import { writeEntries } from '../help.ts';
import { listSettingOptions, listSettingVariables } from '../setting-options.ts';

/** Serves the GraphQL API. Its options are settings of the settings table. */
export const serve: Command = {
  name: 'serve',
  summary: 'Serves the GraphQL API. The default command.',
  get options() {
    return [
      ...listSettingOptions(),
      {
        name: 'config',
        value: 'FILE',
        description:
          'Configuration file. Default: notigraph.config.yaml, .yml or .json, if it exists. NOTIGRAPH_CONFIG',
      },
    ];
  },
  get details() {
    return `Environment variables:

${writeEntries([
  ['NOTIGRAPH_CONFIG_TEXT', 'The configuration inline, instead of a file.'],
  ...listSettingVariables(),
  ['NODE_ENV', 'If "production", the sandbox and GraphiQL are off unless you turn them on.'],
])}
Limits, timeouts and policies have variables too: see docs/configuration.md.

Options override environment variables, which override the file .env in the
working directory, which overrides the configuration file. Without an upstream,
Notigraph runs the sandbox; with NODE_ENV=production, it exits with an error.`;
  },
  async run(commandLine, host) {
    const hangups = catchHangups(host); // Before anything else, because a SIGHUP would end the process.
    const { runGateway } = await import('../run-gateway.ts');
    return runGateway(commandLine, { host, hangups });
  },
};
