// Examines a service without changing anything in it, and prints what it finds.

import { FileError } from '../../../../src/files/text-file.ts';
import { createCredentialFilter } from '../../../../src/lib/credential-filter.ts';
import { createSchema, endpointsOf } from '../../../../src/modules/schema.ts';
import type { DeclaredEndpoint } from '../../../../src/upstream/endpoint.ts';
import type { SingleResponse } from '../../../../src/upstream/service.ts';
import type { CommandLine, Process } from '../command.ts';
import { type Environment, readEnvironment } from '../config/environment.ts';
import { loadConfig } from '../config/load-config.ts';
import { loadCheckedModules } from '../config/load-modules.ts';
import { ConfigError } from '../config/problem.ts';
import { findService, readCredential, type ServiceSettings } from '../find-service.ts';
import { examineConnection } from './connection.ts';
import { examineEndpoints, examineReads } from './endpoints.ts';
import {
  EndingProblem,
  formatFinding,
  note,
  ok,
  type ReportFinding,
  summarizeFindings,
  type TitledFinding,
  warning,
} from './finding.ts';
import { examineHeaders } from './headers.ts';
import { LIST, openSession, type Session } from './session.ts';

/** Variable with the key. A command line would show it to every user of the machine. */
const KEY_VARIABLE = 'NOTIGRAPH_DOCTOR_KEY';

const QUESTION = 'API key of the service (not shown; Enter checks without it): ';

/** Examines the configured service and prints the findings as they come. The exit code is 1 if there are problems. */
export async function runDoctor(commandLine: CommandLine, host: Process, isJson: boolean): Promise<void> {
  const environment = readEnvironment(host.env);
  const { config, reads } = await loadUsableConfig(commandLine, environment, host);
  const { 'key-file': file, workflow, name } = commandLine.options;
  const { url, settings } = findService(config, name, 'to examine');
  const credential = await readCredential(file, environment.values[KEY_VARIABLE], host, QUESTION);
  const findings: TitledFinding[] = [];
  if (!isJson) {
    host.stdout.write(`${url.href}\n`);
  }
  await examine({ url, settings, credential, workflow, reads }, (finding) => {
    if (!isJson) {
      host.stdout.write(formatFinding(finding, findings.at(-1)?.section !== finding.section, host.stdout));
    }
    findings.push(finding);
  });
  const summary = summarizeFindings(findings);
  host.stdout.write(
    isJson ? `${JSON.stringify({ upstream: url.href, summary, findings }, null, 2)}\n` : `\n${summary}\n`,
  );
  host.exitCode = findings.some(({ level }) => level === 'problem') ? 1 : 0;
}

/** Loads the configuration and its modules. One in the folder that is invalid is ignored if the command line has the address of the service. */
async function loadUsableConfig(commandLine: CommandLine, environment: Environment, { stderr }: Process) {
  try {
    return await loadWithModules(commandLine, environment);
  } catch (error) {
    const { upstream, config } = commandLine.options;
    if (!(error instanceof ConfigError) || upstream === undefined || config !== undefined) {
      throw error;
    }
    const read = () => {
      throw new FileError("doesn't exist", { isMissing: true });
    };
    const loaded = await loadWithModules(commandLine, environment, { read }); // Options and variables must be valid.
    stderr.write('The configuration in this folder is invalid and ignored. "notigraph check" lists its problems.\n');
    return loaded;
  }
}

async function loadWithModules(...args: Parameters<typeof loadConfig>) {
  const { config, locate } = loadConfig(...args);
  const endpoints = endpointsOf(createSchema(config, await loadCheckedModules(config, locate)));
  return { config, reads: endpoints.filter(({ module, method }) => module !== undefined && method === 'GET') };
}

export interface ExamineOptions {
  url: URL;
  /** Time limits and sizes are those of the gateway. */
  settings: ServiceSettings;
  /** `Authorization` header; undefined if there is no key. */
  credential: string | undefined;
  /** Id or identifier of a workflow to read. @default one of the statistics */
  workflow: string | undefined;
  /** Reads of modules. @default none */
  reads?: readonly DeclaredEndpoint[];
}

/** Examines a service without changing anything in it. The checks are in the order in which they depend on each other. */
export async function examine(options: ExamineOptions, onFinding: (finding: TitledFinding) => void): Promise<void> {
  const { url, settings, credential, workflow, reads = [] } = options;
  const isShowable = credential === undefined ? () => true : createCredentialFilter({ credential });
  let section = 'Connection';
  const report: ReportFinding = (finding) => {
    const sentence = 'A finding is not shown, because it repeats the API key.'; // A service could send it in a header.
    onFinding({ section, ...finding, ...(!isShowable(finding.sentence) && { sentence }) });
  };
  await using session = openSession(url, settings, credential);
  try {
    await examineConnection(session, report);
    section = 'Service';
    await examineService(session, report);
    section = 'API key';
    if (credential === undefined) {
      const remedy = 'Set NOTIGRAPH_DOCTOR_KEY, or use --key-file.';
      report(note('No API key was given, so only the connection was checked.', remedy));
      return;
    }
    const list = await examineKey(session, report);
    const time = new Date();
    section = 'Endpoints';
    await examineEndpoints(session, list, workflow, report);
    section = 'Headers';
    await examineHeaders(session, list, time, report);
    section = 'Modules';
    await examineReads(session, reads, report);
  } catch (error) {
    if (!(error instanceof EndingProblem)) {
      throw error;
    }
    report(error.finding);
    report(note('The other checks were skipped.'));
  }
}

/** Checks without the API key whether this is the service. @throws {EndingProblem} if it isn't */
async function examineService({ service, get }: Session, report: ReportFinding): Promise<void> {
  const sentence = await service.probe();
  if (sentence !== undefined) {
    const remedy = sentence.includes('CERTIFICATE_REQUIRED')
      ? 'Set tls.clientCertificate and tls.clientKey.'
      : 'Check the address, the service, and what is in front of it.';
    throw new EndingProblem(sentence, remedy);
  }
  const { status } = await get({ ...LIST, credential: undefined });
  report(
    status <= 299
      ? warning(
          'The service answers reads without an API key.',
          'Check that something in front of it does not add a key to every request.',
        )
      : ok(`A request without an API key is rejected with ${status}.`),
  );
}

/** Checks the API key with the list of notification groups. Returns the response. @throws {EndingProblem} if it is not accepted */
async function examineKey({ get }: Session, report: ReportFinding): Promise<SingleResponse> {
  const response = await get(LIST);
  const { status, retryAfterSeconds: seconds } = response;
  if (status <= 299) {
    report(ok('The API key is accepted.'));
    return response;
  }
  if (status === 401 || status === 403) {
    throw new EndingProblem(
      `The API key is rejected with ${status}.`,
      'Check that the key is complete, current, and of this service and environment. Leave out the word ApiKey.',
    );
  }
  if (status === 429) {
    throw new EndingProblem(
      'The service rejects the request with 429, because the key has used up its rate limit.',
      seconds === undefined ? 'Try again later.' : `Try again in ${seconds} s.`,
    );
  }
  const sentence = `The service responds to GET ${LIST.endpoint.route} with ${status}.`;
  throw new EndingProblem(sentence, 'Check the log of the service.');
}
