// Defines what the app says about a failure.

/** A failure, explained to the user. */
export interface Failure {
  title: string;
  details: readonly string[];
  /** Messages for single fields of the form, by field name. */
  fields: Readonly<Record<string, string>>;
  /** Time to wait before another attempt. */
  waitSeconds?: number;
  /** Whether the change may have been applied: check before repeating it. */
  isUncertain: boolean;
  /** Whether the record no longer exists. */
  isGone: boolean;
  /** Whether another record has this name. */
  isTaken: boolean;
  /** Id of the request in the gateway's log. */
  requestId?: string;
}

export const UNCERTAIN = 'The change may have been applied. Check before you repeat it.';
export const UNCHANGED = 'Nothing was changed.';

export const createFailure = (title: string, more: Partial<Failure> = {}): Failure => ({
  title,
  details: [],
  fields: {},
  isUncertain: false,
  isGone: false,
  isTaken: false,
  ...more,
});
