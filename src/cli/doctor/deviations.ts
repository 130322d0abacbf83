import { type DeviationKind, findDeviations } from '../../upstream/contract/drift.ts';
import type { Endpoint } from '../../upstream/errors.ts';
import { type Finding, problem, warning } from './finding.ts';

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

/** Compares a body with the contract, and returns a finding for each weight of deviations. */
export function describeDeviations(subject: string, endpoint: Endpoint, sent: unknown): Finding[] {
  const clauses = Map.groupBy(
    findDeviations(endpoint, sent).map(({ kind, path }) => {
      const [level, clause] = KINDS[kind];
      return { level, clause: `${path} ${clause}` };
    }),
    ({ level }) => level,
  );
  return (['problem', 'warning'] as const).flatMap((level) => {
    const found = clauses.get(level) ?? [];
    const shown = found.slice(0, MAX_PATHS).map(({ clause }) => clause);
    const more = found.length > shown.length ? [`${found.length - shown.length} more`] : [];
    return found.length === 0 ? [] : [CREATE[level](`${subject}: ${[...shown, ...more].join(', ')}.`)];
  });
}
