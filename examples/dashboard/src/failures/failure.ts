/** A failure in words, for the person who meets it. */
export interface Failure {
  title: string;
  details: readonly string[];
  /** What is wrong with single fields of the form, by their names. */
  fields: Readonly<Record<string, string>>;
  /** How long to wait before another attempt makes sense. */
  waitSeconds?: number;
  /** Whether the change may have been carried out all the same: look before repeating it. */
  isUncertain: boolean;
  /** Whether the record is not there any more. */
  isGone: boolean;
  /** Finds the request in the gateway's log. */
  requestId?: string;
}

export const UNCERTAIN = 'The change may have been carried out all the same: look before you repeat it.';
export const UNCHANGED = 'Nothing was changed.';

export const createFailure = (title: string, more: Partial<Failure> = {}): Failure => ({
  title,
  details: [],
  fields: {},
  isUncertain: false,
  isGone: false,
  ...more,
});
