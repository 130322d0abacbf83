import { formatProblem, type Problem } from '../config/problem.ts';
import type { Report } from './report.ts';

/** Formats a report: `text`, `json`, or `github` for the annotations of GitHub Actions. */
export function formatReport({ isValid, problems, warnings, summary }: Report, format: string): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify({ valid: isValid, summary, problems: problems.map(toJson), warnings: warnings.map(toJson) }, null, 2)}\n`;
    case 'github':
      return toLines([
        ...problems.map((problem) => toAnnotation('error', problem)),
        ...warnings.map((warning) => toAnnotation('warning', warning)),
        summary,
      ]);
    default:
      return toLines([
        ...problems.map(formatProblem),
        ...warnings.map(({ place, sentence }) => formatProblem({ place, sentence: `warning: ${sentence}` })),
        summary,
      ]);
  }
}

const toLines = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

const toJson = ({ place: { source: file, line, column } = { source: '' }, sentence: message }: Problem) => ({
  ...(file !== '' && { file, line, column }),
  message,
});

/** Returns a command of GitHub Actions that marks the place of a problem. */
function toAnnotation(level: 'error' | 'warning', { place, sentence }: Problem): string {
  const { source: file, line, column: col } = place ?? {};
  const properties = Object.entries({ file, line, col })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${escapeText(String(value)).replaceAll(':', '%3A').replaceAll(',', '%2C')}`);
  return `::${[level, properties.join(',')].filter((part) => part !== '').join(' ')}::${escapeText(sentence)}`;
}

const escapeText = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
