import { styleText } from 'node:util';
import type { TitledFinding } from './examine.ts';
import type { Level } from './finding.ts';

const STYLES = { ok: 'green', note: 'dim', warning: 'yellow', problem: 'red' } as const satisfies Record<Level, string>;

/** Width of the column with the levels. */
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
  const countOf = (level: Level) => `${count(level) || 'no'} ${level}${count(level) === 1 ? '' : 's'}`;
  return `${count('ok')} ok, ${countOf('note')}, ${countOf('warning')}, ${countOf('problem')}.`;
}
