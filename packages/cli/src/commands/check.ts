// Checks the configuration that `serve` would start with.

import type { Command } from '../command.ts';
import { readFormat } from '../command-line.ts';
import { serve } from './serve.ts';

export const check: Command = {
  name: 'check',
  summary: 'Checks the configuration without starting anything.',
  options: [
    { name: 'strict', description: 'Fail if there are warnings.' },
    { name: 'without-secrets', description: 'Accept missing secrets, and a missing folder of the audit log.' },
    {
      name: 'format',
      value: 'text|json|github',
      description: 'Form of the output; github prints annotations for GitHub Actions. Default: text.',
    },
    ...serve.options,
  ],
  details: `Options, environment variables, .env and the configuration file are those of
notigraph serve. Keys, secrets and manifests are read; nothing is sent, written
or started. Run it with the environment of the gateway, for example with
NODE_ENV=production. In CI, where the secrets aren't, use --without-secrets.

Exit code: 0 if the configuration is valid, 1 if there are warnings and --strict
is given, 2 if the configuration is invalid.`,
  async run(commandLine, host) {
    const format = readFormat(commandLine);
    const { createReport, formatReport } = await import('../check/report.ts');
    const report = await createReport(commandLine, host);
    host.stdout.write(formatReport(report, format));
    if (report.problems.length > 0) {
      host.exitCode = 2;
    } else if (commandLine.options.strict !== undefined && report.warnings.length > 0) {
      host.exitCode = 1;
    }
  },
};
