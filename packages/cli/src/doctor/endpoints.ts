// Checks every read endpoint of a service against the contract.

import { arrayOf, isRecord, recordOf } from '../../../../src/lib/is-record.ts';
import type { Deviation, DeviationKind } from '../../../../src/upstream/calls.ts';
import type { DeclaredEndpoint } from '../../../../src/upstream/endpoint.ts';
import { getNotificationGroup, getNotificationStats, getWorkflow } from '../../../../src/upstream/endpoints.ts';
import { findIdProblem } from '../../../../src/upstream/input-rules.ts';
import type { SingleRead, SingleResponse } from '../../../../src/upstream/service.ts';
import { EndingProblem, type Finding, note, ok, problem, type ReportFinding, warning } from './finding.ts';
import { LIST, type Session } from './session.ts';

const UNKNOWN_ID = '000000000000000000000000';

/** Maximum number of workflows of the statistics that are tried, because some may be deleted. */
const MAX_TRIED = 5;

const KINDS: Readonly<Record<DeviationKind, [level: 'problem' | 'warning', clause: string]>> = {
  missing: ['problem', 'is missing'],
  null: ['problem', 'is null'],
  wrong_type: ['problem', 'has the wrong type'],
  unknown_value: ['warning', 'has a value that the contract does not list'],
};

/** Maximum number of places named per finding. */
const MAX_PATHS = 5;

const REMEDIES = {
  problem: 'Operations that select these fields have errors. Correct the service.',
  warning: 'Notigraph leaves out such values.',
};

/**
 * Checks every read endpoint: that it responds, and that its response matches the contract. Ids come from the responses.
 *
 * @param list response of the list of notification groups
 * @param workflow id or identifier of a workflow. @default one of the statistics
 * @throws {EndingProblem} if the service doesn't respond to a read, or not to the first one as expected
 */
export async function examineEndpoints(
  session: Session,
  list: SingleResponse,
  workflow: string | undefined,
  report: ReportFinding,
): Promise<void> {
  const { get } = session;
  if (list.bodyProblem !== undefined) {
    throw new EndingProblem(...unusable(LIST, list.bodyProblem));
  }
  judge(LIST, list).forEach(report);
  report(
    list.isEnvelope
      ? ok('Responses are in an envelope, { "data": … }.')
      : note('Responses have no envelope. Notigraph accepts both.'),
  );

  await examineReads(session, [getNotificationGroup], report, new Map([[LIST.endpoint.route, list.body]]));
  const { status, isForeign } = await get({ endpoint: getNotificationGroup, args: { id: UNKNOWN_ID } });
  report(
    status === 404 && !isForeign
      ? ok('An unknown id is answered with 404.')
      : warning(
          `An unknown id is answered with ${isForeign ? `a ${status} of something in front of the service, or of its router,` : `status ${status}`} instead of a 404 of the service.`,
          'Queries for records that do not exist will have errors instead of null.',
        ),
  );

  const stats = await get(STATISTICS);
  judge(STATISTICS, stats).forEach(report);
  const candidates = workflow === undefined ? workflowsOf(stats.body).slice(0, MAX_TRIED) : [workflow];
  for (const workflowIdOrIdentifier of candidates) {
    const read: SingleRead = { endpoint: getWorkflow, args: { workflowIdOrIdentifier } };
    const response = await get(read);
    // Otherwise it was deleted since.
    if (response.status !== 404 || response.isForeign || workflow !== undefined) {
      judge(read, response).forEach(report);
      return;
    }
  }
  report(note('The statistics name no existing workflow, so none was read.', 'Name one with --workflow ID.'));
}

/** Maximum number of endpoints of modules that are read. */
const MAX_READS = 50;

/**
 * Sends a read to each endpoint: to lists first, because the ids for the paths of others are those of their first records.
 *
 * @param bodies bodies of lists by their routes, to which others are added. @default none
 */
export async function examineReads(
  { get }: Session,
  endpoints: readonly DeclaredEndpoint[],
  report: ReportFinding,
  bodies = new Map<string, unknown>(),
): Promise<void> {
  const sorted = endpoints.toSorted((a, b) => a.params.length - b.params.length);
  for (const endpoint of sorted.slice(0, MAX_READS)) {
    const { route, params } = endpoint;
    const bodyOf = (name: string) => bodies.get(route.slice(0, route.indexOf(`/{${name}}`)));
    const args = Object.fromEntries(params.map((name) => [name, idFor(name, bodyOf(name), endpoint)]));
    const unknown = params.find((name) => args[name] === undefined);
    if (unknown !== undefined) {
      report(note(`GET ${route} was not checked, because no list has an id for {${unknown}}.`));
      continue;
    }
    const response = await get({ endpoint, args });
    bodies.set(route, response.body);
    judge({ endpoint }, response).forEach(report);
  }
  if (sorted.length > MAX_READS) {
    report(note(`${sorted.length - MAX_READS} more endpoints of modules were not checked.`));
  }
}

const STATISTICS: SingleRead = { endpoint: getNotificationStats, args: { query: { days: 30 } } };

/** Returns what a response says about its endpoint. */
function judge(read: SingleRead, { status, body, bodyProblem, deviations = [], ms, bytes }: SingleResponse): Finding[] {
  const { endpoint } = read;
  const { route, expect, module, response } = endpoint;
  const subject = `GET ${route}`;
  if (module !== undefined && (status === 400 || status === 422)) {
    return [note(`${subject} responds with ${status}, probably because it requires arguments.`)];
  }
  if (status > 299) {
    return [problem(`${subject} responds with ${status}.`, 'Check that the service has this endpoint, and its log.')];
  }
  if (bodyProblem !== undefined) {
    return [problem(...unusable(read, bodyProblem))];
  }
  const described = describeDeviations(subject, deviations);
  const items = expect === 'list' && Array.isArray(body) ? `${body.length} records, ` : '';
  const size = `${items}${Math.ceil(bytes / 1024)} KiB, ${Math.ceil(ms)} ms`;
  const result = module === undefined || response !== undefined ? 'matches the contract' : 'responds as declared';
  return described.length > 0 ? described : [ok(`${subject} ${result} (${size}).`)];
}

const unusable = ({ endpoint }: SingleRead, clause: string): [sentence: string, remedy: string] => [
  `GET ${endpoint.route}: ${clause}.`,
  endpoint.module === undefined
    ? 'The contract is schema/upstream.openapi.yaml.'
    : 'Correct the service, or the module.',
];

/** Returns a finding for each weight of deviations. */
function describeDeviations(subject: string, deviations: readonly Deviation[]): Finding[] {
  return (['problem', 'warning'] as const).flatMap((level): Finding[] => {
    const found = deviations.filter(({ kind }) => KINDS[kind][0] === level);
    const clauses = found.slice(0, MAX_PATHS).map(({ kind, path }) => `${path} ${KINDS[kind][1]}`);
    const more = found.length > clauses.length ? [`${found.length - clauses.length} more`] : [];
    const sentence = `${subject}: ${[...clauses, ...more].join(', ')}.`;
    return found.length === 0 ? [] : [{ level, sentence, remedy: REMEDIES[level] }];
  });
}

const isId = (value: unknown, allowsSlashes = false): value is string =>
  typeof value === 'string' && findIdProblem(value, allowsSlashes) === undefined;

/** Returns the id of a list's first record for a parameter of a path: the member with its name, such as `topicKey`, or `key`, or what most services call it. */
function idFor(param: string, list: unknown, { slashesInIds }: DeclaredEndpoint): string | undefined {
  const record = recordOf(arrayOf(isRecord(list) ? list.data : list)[0]);
  const lastWord = /[A-Z][a-z]*$/.exec(param)?.[0].toLowerCase() ?? param;
  return [param, lastWord, '_id', 'id'].map((name) => record[name]).find((id) => isId(id, slashesInIds));
}

/** Returns the ids of the workflows in statistics, each once. */
const workflowsOf = (stats: unknown): string[] =>
  [...new Set(arrayOf(stats).flatMap((day) => arrayOf(recordOf(day).templates)))].filter((id) => isId(id));
