/** Weight of a finding. A `problem` makes operations fail, a `warning` can, and a `note` is for information. */
export type Level = 'ok' | 'note' | 'warning' | 'problem';

/** Result of one check of the service. */
export interface Finding {
  level: Level;
  /** One sentence. Never contains the API key or a value of a record. */
  sentence: string;
  /** Sentence that says what to do. @default nothing */
  remedy?: string;
}

/** Creates the finding of a check that found nothing wrong. */
export const ok = (sentence: string): Finding => ({ level: 'ok', sentence });
/** Creates a finding for information. */
export const note = (sentence: string, remedy?: string): Finding => toFinding('note', sentence, remedy);
/** Creates the finding of something that can make operations fail. */
export const warning = (sentence: string, remedy: string): Finding => toFinding('warning', sentence, remedy);
/** Creates the finding of something that makes operations fail. */
export const problem = (sentence: string, remedy: string): Finding => toFinding('problem', sentence, remedy);

const toFinding = (level: Level, sentence: string, remedy: string | undefined): Finding => ({
  level,
  sentence,
  ...(remedy !== undefined && { remedy }),
});
