import type { CheckedFile } from './check-rows.ts';

/** Longest row that a dry run shows completely. */
const MAX_SHOWN = 300;

/** Returns the lines that a dry run prints. */
export const describeDryRun = ({ samples }: CheckedFile): string =>
  [
    'The first rows, as they would be sent to POST /v1/subscribers:',
    ...samples.map(({ line, subscriber }) => {
      const json = JSON.stringify(subscriber);
      return `  line ${line}: ${json.length > MAX_SHOWN ? `${json.slice(0, MAX_SHOWN - 1)}…` : json}`;
    }),
    'Nothing was sent.',
    '',
  ].join('\n');
