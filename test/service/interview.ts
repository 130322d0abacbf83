// Asks two targets all questions, and tells the unknown differences between their answers from the known ones.

import { isDeepStrictEqual } from 'node:util';
import { type Difference, findDifferences, withNames } from './differences.ts';
import { KNOWN_DIFFERENCES, QUESTIONS, type Question } from './questions.ts';
import { ask, type Target } from './targets.ts';

/** Difference, with the reason that docs/sandbox.md gives for it. */
export type ExplainedDifference = Difference & { reason: string | undefined };

export interface Interview {
  /** Number of questions that were asked. */
  asked: number;
  unknown: number;
  /** Known differences that weren't found. */
  gone: { ask: string | RegExp; reason: string }[];
}

/**
 * Asks both targets.
 *
 * @param onAnswer called after each question
 */
export async function interview(
  sandbox: Target,
  service: Target,
  onAnswer: (question: Question, differences: ExplainedDifference[]) => void = () => {},
): Promise<Interview> {
  const questions = QUESTIONS.filter(({ as }) => as !== 'production' || service.productionKey !== undefined);
  const seen = new Set<object>();
  let unknown = 0;
  for (const question of questions) {
    const differences = await compare(sandbox, service, question);
    const explained = differences.map((difference) => {
      const known = KNOWN_DIFFERENCES.find((each) => each.ask.test(question.ask) && each.at.test(difference.at));
      seen.add(question.differs === undefined ? (known ?? difference) : question);
      return { ...difference, reason: question.differs ?? known?.reason };
    });
    unknown += explained.filter(({ reason }) => reason === undefined).length;
    onAnswer(question, explained);
  }
  const expected = [
    ...questions.flatMap((each) => (each.differs === undefined ? [] : [{ ...each, each, reason: each.differs }])),
    ...KNOWN_DIFFERENCES.map((each) => ({ ...each, each })),
  ];
  const gone = expected.filter(({ each, sometimes }) => sometimes !== true && !seen.has(each));
  return { asked: questions.length, unknown, gone: gone.map(({ ask: target, reason }) => ({ ask: target, reason })) };
}

/** Returns what the two answered differently, each difference once. */
async function compare(sandbox: Target, service: Target, question: Question): Promise<Difference[]> {
  const { times = 1, formOnly = false } = question;
  const answersOf = async (target: Target) => {
    const answers = await Promise.all(Array.from({ length: times }, () => ask(target, question)));
    return answers.map((answer) => withNames(answer, target.values)).toSorted((a, b) => a.status - b.status);
  };
  const [ours, theirs] = [await answersOf(sandbox), await answersOf(service)];
  const found = ours.flatMap((answer, at) => findDifferences(answer, theirs[at] ?? answer, formOnly));
  return found.filter((each, at) => found.findIndex((other) => isDeepStrictEqual(each, other)) === at);
}
