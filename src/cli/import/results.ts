import { z } from 'zod';

/** Outcome of a row. `failed`: the service rejected it, so nothing was changed; `unknown`: it may have been applied. */
export type Outcome = 'created' | 'updated' | 'failed' | 'unknown';

/** First line of a results file. It identifies the run. */
export const RUN = z.object({
  import: z.literal('subscribers'),
  version: z.literal(1),
  /** Part of every idempotency key, so that another run changes the subscribers again. */
  run: z.string(),
  file: z.string(),
  /** SHA-256 of the file. */
  digest: z.string(),
  rows: z.int(),
  /** Address of the service. */
  service: z.string(),
  /** Environment of the API key; absent if the service didn't tell. */
  environmentId: z.string().optional(),
});

/** Beginning of the first line. A process that was killed while it wrote the line may have left less. */
const BEGINNING = '{"import":"subscribers",';

/** Whether a file that has no complete line is the beginning of a results file. */
export const isBeginning = (text: string): boolean => BEGINNING.startsWith(text) || text.startsWith(BEGINNING);

/** First line of a list of problems, for which nothing was sent. */
export const PROBLEMS = z.object({
  import: z.literal('subscribers'),
  version: z.literal(1),
  problems: z.literal(true),
});

/** Line about a row. The last one of a row counts. */
export const RESULT = z.object({
  line: z.int().positive(),
  subscriberId: z.string(),
  outcome: z.enum(['created', 'updated', 'failed', 'unknown']),
  code: z.string().optional(),
  message: z.string().optional(),
});

/** Run of an import, as in the first line of its results. */
export type Run = z.output<typeof RUN>;
/** Result of a row. */
export type RowResult = z.output<typeof RESULT>;

/** Whether a row doesn't have to be sent again. */
export const isApplied = (outcome: Outcome | undefined): boolean => outcome === 'created' || outcome === 'updated';
