import type { SubscriberFields } from '../../upstream/endpoints/subscribers.ts';

/** Valid row of the file. */
export interface Row {
  /** Line of the file in which it starts, from 1. Identifies the row. */
  line: number;
  subscriber: SubscriberFields;
}

/** Problem of a row, or of the file. */
export interface RowProblem {
  line: number;
  /** Absent if it is missing or invalid. */
  subscriberId?: string | undefined;
  /** Sentence without values of the row, which are personal data. */
  problem: string;
}

/** Form of the file. */
export type Format = 'csv' | 'jsonl';

/** Maximum length of a row in characters, so that an unclosed quote can't read the whole file into memory. */
export const MAX_ROW_LENGTH = 256 * 1024;
