import { isRecord } from '../../lib/is-record.ts';
import { type DeviationKind, findDeviations } from '../../upstream/contract/drift.ts';
import { isEnvelope } from '../../upstream/contract/envelope.ts';
import type { Endpoint } from '../../upstream/errors.ts';
import { findIdProblem } from '../../upstream/transport/path.ts';
import { type Finding, note, ok, problem, warning } from './finding.ts';
import { LIST, type Read, type ReadResponse, type Session } from './session.ts';

/** Id that no record has. */
const UNKNOWN_ID = '000000000000000000000000';

/** Maximum number of workflows of the statistics that are tried, because some may be deleted. */
const MAX_TRIED = 5;

/** Weight and wording of each kind of deviation. */
const KINDS: Readonly<Record<DeviationKind, [level: 'problem' | 'warning', clause: string]>> = {
  missing: ['problem', 'is missing'],
  null: ['problem', 'is null'],
  wrong_type: ['problem', 'has the wrong type'],
  unknown_value: ['warning', 'has a value that the contract does not list'],
};

/** Maximum number of places named per finding. */
const MAX_PATHS = 5;

const CREATE = {
  problem: (sentence: string) =>
    problem(sentence, 'Operations that select these fields have errors. Correct the service.'),
  warning: (sentence: string) => warning(sentence, 'Notigraph leaves out such values.'),
};

/**
 * Checks every read endpoint: that it responds, and that its response matches the contract. Ids come from the responses.
 *
 * @param list response of the list of notification groups
 * @param workflow id or identifier of a workflow. @default one of the statistics
 * @returns whether the service has responded to all reads, and to the first one as expected
 */
export async function* examineEndpoints(
  { get }: Session,
  list: ReadResponse,
  workflow: string | undefined,
): AsyncGenerator<Finding, boolean> {
  yield* judge(LIST, list);
  if (list.bodyProblem !== undefined) {
    return false;
  }
  yield isEnvelope(list.sent)
    ? ok('Responses are in an envelope, { "data": … }.')
    : note('Responses have no envelope. Notigraph accepts both.');

  /** Sends a read and yields what is wrong with its response. */
  async function* examine(read: Read): AsyncGenerator<Finding, ReadResponse | undefined> {
    const result = await get(read);
    if (result.failure !== undefined) {
      yield problem(`${nameOf(read)}: ${result.failure}`, 'Check the log of the service.');
      return undefined;
    }
    yield* judge(read, result);
    return result;
  }

  const [groupId] = idsOf(list.body);
  if (groupId === undefined) {
    yield note('There is no notification group, so reading one was not checked.');
  } else if (!(yield* examine({ route: '/v1/notification-groups/{id}', params: { id: groupId }, expect: 'record' }))) {
    return false;
  }
  const unknown = await get({ route: '/v1/notification-groups/{id}', params: { id: UNKNOWN_ID }, expect: 'record' });
  yield judgeUnknown(unknown.failure === undefined ? unknown.status : undefined);

  const stats = yield* examine({ route: '/v1/notifications/graph/stats', query: { days: '30' }, expect: 'list' });
  if (stats === undefined) {
    return false;
  }
  const candidates = workflow === undefined ? workflowsOf(stats.body).slice(0, MAX_TRIED) : [workflow];
  for (const idOrIdentifier of candidates) {
    const read: Read = { ...WORKFLOW, params: { workflowIdOrIdentifier: idOrIdentifier } };
    const result = await get(read);
    if (result.failure === undefined && result.status === 404 && workflow === undefined) {
      continue; // Deleted since.
    }
    const response = yield* examine(read);
    return response !== undefined && (yield* examineIdentifier(response, examine));
  }
  yield note(
    'The statistics name no existing workflow, so reading one was not checked.',
    'Name one with --workflow <id or identifier>.',
  );
  return true;
}

const WORKFLOW = { route: '/v1/workflows/{workflowIdOrIdentifier}', expect: 'record' } as const satisfies Read;

/** Reads a workflow again by its trigger's identifier. */
async function* examineIdentifier(
  { body }: ReadResponse,
  examine: (read: Read) => AsyncGenerator<Finding, ReadResponse | undefined>,
): AsyncGenerator<Finding, boolean> {
  const [trigger] = isRecord(body) && Array.isArray(body.triggers) ? body.triggers : [];
  const identifier: unknown = isRecord(trigger) ? trigger.identifier : undefined;
  if (!isId(identifier) || !isRecord(body)) {
    return true; // Already reported as a deviation, unless the workflow has no trigger.
  }
  const again = yield* examine({
    ...WORKFLOW,
    label: 'by identifier',
    params: { workflowIdOrIdentifier: identifier },
  });
  if (again !== undefined && isRecord(again.body) && again.body._id !== body._id) {
    yield warning(
      'The same workflow has different ids when it is read by id and by identifier.',
      'Check whether two workflows have the same identifier.',
    );
  }
  return again !== undefined;
}

const nameOf = ({ route, label }: Read): string => `GET ${route}${label === undefined ? '' : ` ${label}`}`;

/** Yields what a response says about its endpoint. */
function* judge(read: Read, { status, sent, body, bodyProblem, ms, bytes }: ReadResponse): Generator<Finding> {
  const { route, expect } = read;
  const subject = nameOf(read);
  if (status > 299) {
    yield problem(`${subject} responds with ${status}.`, 'Check that the service has this endpoint, and its log.');
    return;
  }
  if (bodyProblem !== undefined) {
    yield problem(`${subject}: ${bodyProblem}.`, 'The contract is schema/upstream.openapi.yaml.');
    return;
  }
  const findings = describeDeviations(subject, { method: 'GET', route }, sent);
  const items = expect === 'list' && Array.isArray(body) ? `${body.length} records, ` : '';
  if (findings.every(({ level }) => level === 'note')) {
    yield ok(`${subject} matches the contract (${items}${formatBytes(bytes)}, ${Math.ceil(ms)} ms).`);
  }
  yield* findings;
}

/** Judges the response for an id that no record has. */
function judgeUnknown(status: number | undefined): Finding {
  return status === 404
    ? ok('An unknown id is answered with 404.')
    : warning(
        `An unknown id is answered with ${status === undefined ? 'nothing' : `status ${status}`} instead of 404.`,
        'Queries for records that do not exist will have errors instead of null.',
      );
}

/** Compares a body with the contract, and returns a finding for each weight of deviations. */
function describeDeviations(subject: string, endpoint: Endpoint, sent: unknown): Finding[] {
  const byLevel = Map.groupBy(
    findDeviations(endpoint, sent).map(({ kind, path }) => {
      const [level, clause] = KINDS[kind];
      return { level, clause: `${path} ${clause}` };
    }),
    ({ level }) => level,
  );
  return (['problem', 'warning'] as const).flatMap((level) => {
    const found = byLevel.get(level) ?? [];
    const clauses = found.slice(0, MAX_PATHS).map(({ clause }) => clause);
    const more = found.length > clauses.length ? [`${found.length - clauses.length} more`] : [];
    return found.length === 0 ? [] : [CREATE[level](`${subject}: ${[...clauses, ...more].join(', ')}.`)];
  });
}

const isId = (value: unknown): value is string => typeof value === 'string' && findIdProblem(value) === undefined;

/** Returns the ids of the records of a list. */
const idsOf = (list: unknown): string[] =>
  Array.isArray(list)
    ? list.map((record) => (isRecord(record) ? (record._id ?? record.id) : undefined)).filter(isId)
    : [];

/** Returns the ids of the workflows in statistics, each once. */
const workflowsOf = (stats: unknown): string[] =>
  Array.isArray(stats) ? [...new Set(stats.flatMap((day) => (isRecord(day) ? day.templates : [])))].filter(isId) : [];

const formatBytes = (bytes: number): string =>
  bytes < 1024
    ? `${bytes} bytes`
    : bytes < 1024 * 1024
      ? `${(bytes / 1024).toFixed(1)} KiB`
      : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
