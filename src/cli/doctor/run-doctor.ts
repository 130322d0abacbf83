import type { CommandLine, Process } from '../command.ts';
import { readEnvironment } from '../config/environment.ts';
import { loadConfig } from '../config/load-config.ts';
import { findService } from '../service/find-service.ts';
import { readAuthorization } from '../service/read-key.ts';
import { examine, type TitledFinding } from './examine.ts';
import { formatFinding, summarizeFindings } from './format-findings.ts';

/** Variable with the key. A command line would show it to every user of the machine. */
const KEY_VARIABLE = 'NOTIGRAPH_DOCTOR_KEY';

/** Question for the key on a terminal. */
const QUESTION = 'API key of the service (not shown; Enter checks without it): ';

/** Examines the configured service and prints the findings as they come. The exit code is 1 if there are problems. */
export async function runDoctor(commandLine: CommandLine, host: Process, isJson: boolean): Promise<void> {
  const environment = readEnvironment(host.env);
  const { config } = loadConfig(commandLine, environment);
  const { 'key-file': file, workflow, name } = commandLine.options;
  const { url, settings } = findService(config, { name, purpose: 'to examine' });
  const authorization = await readAuthorization(
    { file, variable: environment.values[KEY_VARIABLE], question: QUESTION },
    host,
  );
  const findings: TitledFinding[] = [];
  if (!isJson) {
    host.stdout.write(`${url.href}\n`);
  }
  const options = { url, settings, authorization, workflow, now: () => new Date() };
  for await (const found of examine(options)) {
    if (!isJson) {
      host.stdout.write(formatFinding(found, findings.at(-1)?.section !== found.section, host.stdout));
    }
    findings.push(found);
  }
  const summary = summarizeFindings(findings);
  host.stdout.write(
    isJson ? `${JSON.stringify({ upstream: url.href, summary, findings }, null, 2)}\n` : `\n${summary}\n`,
  );
  host.exitCode = findings.some(({ level }) => level === 'problem') ? 1 : 0;
}
