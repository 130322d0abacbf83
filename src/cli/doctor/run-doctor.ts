import { createCredentialFilter } from '../../upstream/credential-filter.ts';
import type { CommandLine, Process } from '../command.ts';
import { readEnvironment } from '../config/environment.ts';
import { loadConfig } from '../config/load-config.ts';
import { findService, type ServiceSettings } from '../service/find-service.ts';
import { readAuthorization } from '../service/read-key.ts';
import { examineKey, examineService, noKey } from './access.ts';
import { examineConnection } from './connection.ts';
import { examineEndpoints } from './endpoints.ts';
import { type Finding, formatFinding, note, summarizeFindings, type TitledFinding } from './finding.ts';
import { examineHeaders, examineLatency } from './responses.ts';
import { openSession } from './session.ts';

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

/** Service to examine. */
export interface ExamineOptions {
  url: URL;
  /** Time limits and sizes are those of the gateway. */
  settings: ServiceSettings;
  /** `Authorization` header; undefined if there is no key. */
  authorization: string | undefined;
  /** Id or identifier of a workflow to read. @default one of the statistics */
  workflow: string | undefined;
  /** Returns the current time. */
  now(): Date;
}

/** Examines a service without changing anything in it. No finding contains the API key. */
export const examine = (options: ExamineOptions): AsyncGenerator<TitledFinding> =>
  withoutKey(examineInOrder(options), options.authorization);

/** Makes the checks in the order in which they depend on each other. */
async function* examineInOrder(options: ExamineOptions): AsyncGenerator<TitledFinding> {
  const { url, settings, authorization, workflow, now } = options;
  await using session = openSession(url, settings, authorization ?? '');

  if (!(yield* titled('Connection', examineConnection(session, now())))) {
    yield skipped('Connection');
    return;
  }
  if (!(yield* titled('Service', examineService(session)))) {
    yield skipped('Service');
    return;
  }
  if (authorization === undefined) {
    yield { section: 'API key', ...noKey() };
    return;
  }
  const list = yield* titled('API key', examineKey(session));
  if (list === undefined) {
    yield skipped('API key');
    return;
  }
  const time = now();
  if (!(yield* titled('Endpoints', examineEndpoints(session, list, workflow)))) {
    yield skipped('Endpoints');
    return;
  }
  yield* titled('Headers', examineHeaders(session, list, time));
  yield* titled('Speed', examineLatency(session, list));
}

/** Adds the title of their section to findings. */
async function* titled<Result>(
  section: string,
  findings: AsyncGenerator<Finding, Result>,
): AsyncGenerator<TitledFinding, Result> {
  for (;;) {
    const { done, value } = await findings.next();
    if (done) {
      return value;
    }
    yield { section, ...value };
  }
}

const skipped = (section: string): TitledFinding => ({ section, ...note('The other checks were skipped.') });

/** Replaces sentences that contain the API key, which a service could repeat in a header. */
async function* withoutKey(
  findings: AsyncIterable<TitledFinding>,
  authorization: string | undefined,
): AsyncGenerator<TitledFinding> {
  const isShowable = authorization === undefined ? () => true : createCredentialFilter(authorization);
  for await (const found of findings) {
    yield isShowable(found.sentence)
      ? found
      : { ...found, sentence: 'A finding is not shown, because it repeats the API key.' };
  }
}
