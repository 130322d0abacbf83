// Results of the doctor's checks, and their form for people.

import { styleText } from 'node:util';
import { countOf } from '../text.ts';

/** Weight of a finding. A `problem` makes operations fail, a `warning` can, and a `note` is for information. */
type Level = 'ok' | 'note' | 'warning' | 'problem';

export interface Finding {
  level: Level;
  /** One sentence. Never contains the API key or a value of a record. */
  sentence: string;
  /** Sentence that says what to do. @default nothing */
  remedy?: string | undefined;
}

export type ReportFinding = (finding: Finding) => void;

/** Ends the examination with a problem, without which the other checks make no sense. */
export class EndingProblem extends Error {
  override readonly name = 'EndingProblem';
  readonly finding: Finding;

  constructor(sentence: string, remedy: string) {
    super(sentence);
    this.finding = problem(sentence, remedy);
  }
}

export interface TitledFinding extends Finding {
  section: string;
}

/** Creates the finding of a check that found nothing wrong. */
export const ok = (sentence: string): Finding => ({ level: 'ok', sentence });
export const note = (sentence: string, remedy?: string): Finding => ({ level: 'note', sentence, remedy });
/** Creates the finding of something that can make operations fail. */
export const warning = (sentence: string, remedy: string): Finding => ({ level: 'warning', sentence, remedy });
/** Creates the finding of something that makes operations fail. */
export const problem = (sentence: string, remedy: string): Finding => ({ level: 'problem', sentence, remedy });

const STYLES = { ok: 'green', note: 'dim', warning: 'yellow', problem: 'red' } as const satisfies Record<Level, string>;

const WIDTH = 'problem'.length + 2;

/** Formats a finding for people. The first one of a section begins with its title. */
export function formatFinding(
  { section, level, sentence, remedy }: TitledFinding,
  isFirst: boolean,
  stream: NodeJS.WritableStream,
): string {
  const style = (format: Parameters<typeof styleText>[0], text: string) => styleText(format, text, { stream });
  const lines = [
    ...(isFirst ? ['', style('bold', section)] : []),
    `  ${style(STYLES[level], level)}${' '.repeat(WIDTH - level.length)}${sentence}`,
    ...(remedy === undefined ? [] : [`  ${' '.repeat(WIDTH)}→ ${remedy}`]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** Returns the last line: `14 ok, 2 notes, 1 warning, no problems.` */
export function summarizeFindings(findings: readonly TitledFinding[]): string {
  const count = (level: Level) => findings.filter((finding) => finding.level === level).length;
  const describe = (level: Level) => countOf(count(level), level).replace(/^0 /, 'no ');
  return `${count('ok')} ok, ${describe('note')}, ${describe('warning')}, ${describe('problem')}.`;
}
