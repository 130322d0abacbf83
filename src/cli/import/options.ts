import type { CommandLine } from '../command.ts';
import { ConfigError } from '../config/problem.ts';
import type { Format } from './row.ts';

/** Options of an import. */
export interface ImportOptions {
  path: string;
  format: Format;
  /** Path of the results file. */
  results: string;
  /** Maximum calls per second. @default unlimited */
  rate: number | undefined;
  /** Longest time to wait for the service or its rate limit, in milliseconds. */
  maxWaitMs: number;
  isDryRun: boolean;
  /** Whether to begin a new run, whatever an earlier one did. */
  restarts: boolean;
}

/** Default of `--max-wait`, in seconds. */
const DEFAULT_MAX_WAIT = 600;

/**
 * Reads the options of the command.
 *
 * @throws {ConfigError} with all problems
 */
export function readOptions({ argument: path = '', options, problems: usage }: CommandLine): ImportOptions {
  const { rate, 'max-wait': maxWait = String(DEFAULT_MAX_WAIT), results = `${path}.results.jsonl` } = options;
  const format = formatOf(options.format ?? /\.(\w+)$/.exec(path)?.[1]?.toLowerCase());
  const problems = [...usage];
  if (path === '-') {
    problems.push("Standard input can't be imported, because the file is read twice. Use a file.");
  } else if (format === undefined && usage.length === 0) {
    problems.push(
      options.format === undefined
        ? 'The name of the file must end with .csv or .jsonl. Or set --format.'
        : '--format must be csv or jsonl.',
    );
  }
  if (rate !== undefined && !/^[1-9]\d{0,5}$/.test(rate)) {
    problems.push('--rate must be a whole number from 1 to 999999.');
  }
  if (!/^\d{1,6}$/.test(maxWait)) {
    problems.push('--max-wait must be a whole number from 0 to 999999.');
  }
  if (format === undefined || problems.length > 0) {
    throw new ConfigError(problems);
  }
  return {
    path,
    format,
    results,
    rate: rate === undefined ? undefined : Number(rate),
    maxWaitMs: Number(maxWait) * 1_000,
    isDryRun: options['dry-run'] !== undefined,
    restarts: options.restart !== undefined,
  };
}

function formatOf(name: string | undefined): Format | undefined {
  switch (name) {
    case 'csv':
    case 'jsonl':
      return name;
    case 'ndjson':
      return 'jsonl';
    default:
      return undefined;
  }
}
