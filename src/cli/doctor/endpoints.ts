// Checks every read endpoint of a service against the contract.

import { isRecord } from '../../lib/is-record.ts';
import { type DeviationKind, findDeviations } from '../../upstream/contract/drift.ts';
import { type DeclaredEndpoint, isEnvelope } from '../../upstream/endpoint.ts';
import { getNotificationGroup, getNotificationStats, getWorkflow } from '../../upstream/endpoints.ts';
import { findIdProblem } from '../../upstream/transport/path.ts';
import { EndingProblem, type Finding, note, ok, problem, type Report, warning } from './finding.ts';
import { LIST, type Read, type ReadResponse, type Session } from './session.ts';

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
  { get }: Session,
  list: ReadResponse,
  workflow: string | undefined,
  report: Report,
): Promise<void> {
  if (list.bodyProblem !== undefined) {
    throw new EndingProblem(...unusable(LIST, list.bodyProblem));
  }
  judge(LIST, list).forEach(report);
  report(
    isEnvelope(list.sent)
      ? ok('Responses are in an envelope, { "data": … }.')
      : note('Responses have no envelope. Notigraph accepts both.'),
  );

  const [groupId] = idsOf(list.body);
  if (groupId === undefined) {
    report(note('There is no notification group, so reading one was not checked.'));
  } else {
    const read: Read = { endpoint: getNotificationGroup, args: { id: groupId } };
    judge(read, await get(read)).forEach(report);
  }
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
    const read: Read = { endpoint: getWorkflow, args: { workflowIdOrIdentifier } };
    const response = await get(read);
    // Otherwise it was deleted since.
    if (response.status !== 404 || response.isForeign || workflow !== undefined) {
      judge(read, response).forEach(report);
      return;
    }
  }
  report(
    note(
      'The statistics name no existing workflow, so reading one was not checked.',
      'Name one with --workflow <id or identifier>.',
    ),
  );
}

const STATISTICS: Read = { endpoint: getNotificationStats, args: { query: { days: 30 } } };

/** Returns what a response says about its endpoint. */
function judge(read: Read, { status, sent, body, bodyProblem, ms, bytes }: ReadResponse): Finding[] {
  const { endpoint } = read;
  const { route, expect } = endpoint;
  const subject = `GET ${route}`;
  if (status > 299) {
    return [problem(`${subject} responds with ${status}.`, 'Check that the service has this endpoint, and its log.')];
  }
  if (bodyProblem !== undefined) {
    return [problem(...unusable(read, bodyProblem))];
  }
  const deviations = describeDeviations(subject, endpoint, sent);
  const items = expect === 'list' && Array.isArray(body) ? `${body.length} records, ` : '';
  const size = `${items}${Math.ceil(bytes / 1024)} KiB, ${Math.ceil(ms)} ms`;
  return deviations.length > 0 ? deviations : [ok(`${subject} matches the contract (${size}).`)];
}

const unusable = ({ endpoint }: Read, clause: string): [sentence: string, remedy: string] => [
  `GET ${endpoint.route}: ${clause}.`,
  'The contract is schema/upstream.openapi.yaml.',
];

/** Compares a body with the contract, and returns a finding for each weight of deviations. */
function describeDeviations(subject: string, endpoint: DeclaredEndpoint, sent: unknown): Finding[] {
  const deviations = findDeviations(endpoint, sent);
  return (['problem', 'warning'] as const).flatMap((level): Finding[] => {
    const found = deviations.filter(({ kind }) => KINDS[kind][0] === level);
    const clauses = found.slice(0, MAX_PATHS).map(({ kind, path }) => `${path} ${KINDS[kind][1]}`);
    const more = found.length > clauses.length ? [`${found.length - clauses.length} more`] : [];
    const sentence = `${subject}: ${[...clauses, ...more].join(', ')}.`;
    return found.length === 0 ? [] : [{ level, sentence, remedy: REMEDIES[level] }];
  });
}

const isId = (value: unknown): value is string => typeof value === 'string' && findIdProblem(value) === undefined;

const idsOf = (list: unknown): string[] =>
  Array.isArray(list)
    ? list.map((record) => (isRecord(record) ? (record._id ?? record.id) : undefined)).filter(isId)
    : [];

/** Returns the ids of the workflows in statistics, each once. */
const workflowsOf = (stats: unknown): string[] =>
  Array.isArray(stats) ? [...new Set(stats.flatMap((day) => (isRecord(day) ? day.templates : [])))].filter(isId) : [];
