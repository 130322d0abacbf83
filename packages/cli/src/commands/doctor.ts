// Examines the service without changing it.

import type { Command } from '../command.ts';
import { readFormat } from '../command-line.ts';
import { optionsOfServe, serviceOptions } from './serve.ts';

export const doctor: Command = {
  name: 'doctor',
  summary: 'Examines the service and suggests remedies.',
  options: [
    ...serviceOptions('NOTIGRAPH_DOCTOR_KEY'),
    ...optionsOfServe('modules'),
    {
      name: 'workflow',
      value: 'ID',
      description: 'Id or identifier of a workflow to read. Default: one of the statistics.',
    },
    { name: 'format', value: 'text|json', description: 'Form of the output. Default: text.' },
  ],
  details: `It checks DNS, TLS, the API key, every read endpoint, also those of modules, the
clock, rate limits, ETags and keep-alive, with the time limits of your
configuration. It sends only GET requests and never prints the key.

Exit code: 0 if there are no problems, 1 if there are, 2 if the configuration is
invalid.`,
  async run(commandLine, host) {
    const format = readFormat(commandLine);
    const { runDoctor } = await import('../doctor/run-doctor.ts');
    await runDoctor(commandLine, host, format === 'json');
  },
};
