// Sends the subscribers of a file to the service.

import type { Command } from '../command.ts';
import { serviceOptions } from './serve.ts';

export const subscribersImport: Command = {
  name: 'subscribers import',
  summary: 'Creates or updates the subscribers of a file.',
  args: ['FILE'],
  options: [
    { name: 'dry-run', description: 'Check the file and show what would be sent. Sends nothing, and needs no key.' },
    { name: 'format', value: 'csv|tsv|jsonl|json', description: 'Form of the file. Default: the end of its name.' },
    { name: 'skip-invalid', description: 'Send the valid rows if others are invalid.' },
    { name: 'delimiter', value: 'CHARACTER', description: 'Delimiter of CSV, or tab. Default: that of the header.' },
    { name: 'map', value: 'COLUMN=FIELD …', description: 'Field of a column, as in "E-Mail=email". Repeatable.' },
    { name: 'map-file', value: 'FILE', description: 'The same as lines of a file. "Notes=" ignores the column Notes.' },
    { name: 'ignore', value: 'COLUMN …', description: 'Leave a column out. Repeatable.' },
    { name: 'null', value: 'TEXT …', description: 'Read a cell such as NULL as empty: no value. Repeatable.' },
    {
      name: 'rejected',
      value: 'FILE',
      description:
        'File for rows that the check or the service rejects, with reasons. Default: FILE.rejected.csv (.tsv, .jsonl), and none with --dry-run.',
    },
    { name: 'results', value: 'FILE', description: 'Results file, a SQLite database. Default: FILE.results.db.' },
    { name: 'report', value: 'FILE', description: 'Write the outcome of every row to this file, as JSON lines.' },
    { name: 'restart', description: 'Send all rows, also those that are already applied. Resumes an interrupted one.' },
    { name: 'merge-data', description: 'Read each subscriber first, and keep other members of its data.' },
    { name: 'bulk', description: 'For first loads: send up to 500 rows per call.' },
    { name: 'rate', value: 'N', description: 'Maximum calls per second, retries included. Default: unlimited.' },
    { name: 'max-wait', value: 'SECONDS', description: 'Longest wait for the service or its limit. Default: 600.' },
    ...serviceOptions('NOTIGRAPH_IMPORT_KEY'),
  ],
  details: `FILE is CSV or TSV with a header, one JSON object per line, or a JSON array. It
can be compressed (.gz), or - for standard input, with --format and --results.
Its columns are fields of the input of createSubscriber; data.plan is a member
of data.
All rows are checked before the first is sent. To resume after an interruption,
or after you have corrected rows of the file, run the same command again: it
sends the rows that are not applied. See docs/import.md.

Exit code: 0 if all rows are applied, 1 if some are not, 2 if the file or the
configuration is invalid.`,
  run: async (commandLine, host) => (await import('../import/run-import.ts')).runImport(commandLine, host),
};
