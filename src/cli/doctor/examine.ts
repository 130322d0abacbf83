import { createCredentialFilter } from '../../upstream/credential-filter.ts';
import type { ServiceSettings } from '../service/find-service.ts';
import { examineKey, examineService, noKey } from './access.ts';
import { examineConnection } from './connection.ts';
import { examineEndpoints } from './endpoints.ts';
import { type Finding, note } from './finding.ts';
import { examineHeaders } from './headers.ts';
import { examineLatency } from './latency.ts';
import { openSession } from './session.ts';

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

/** Finding with the title of its section. */
export interface TitledFinding extends Finding {
  section: string;
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
