/** How many upstream calls one identity may cause. It is filled up steadily: `calls` every `perSeconds`. */
export interface RateLimit {
  /** More than 0. */
  calls: number;
  /** More than 0. */
  perSeconds: number;
  /** The most that is saved up while the identity is idle; at least 1. @default calls */
  burst?: number | undefined;
}

/** What an identity may do next. */
export interface Allowance {
  /** Whether the calls were granted. */
  isAllowed: boolean;
  /** The most that can remain: the limit's `burst`. */
  limit: number;
  /** Calls that are left, whole, 0 and more. */
  remaining: number;
  /** Whole seconds until `remaining` is `limit` again. */
  resetSeconds: number;
  /** Where they were not granted: whole seconds, 1 and more, after which they would be. */
  retryAfterSeconds?: number;
}

/**
 * Counts upstream calls for each identity.
 *
 * What an operation costs is known only when it has run: loaders share calls, answers are shared between operations, and what is asked for
 * next depends on the answers. So an operation takes 1 before it runs, and settles the difference after it. It may cost more than is
 * left; then the identity is in debt, and its next operations wait until that is paid off. What goes over the limit is bounded by what the
 * operations that run at a time may call, and the debt by `MAX_DEBT`, so that nobody is locked out for hours.
 */
export interface RateLimiter extends AsyncDisposable {
  /** Takes calls before they are made. Where there are not enough, nothing is taken. A promise never rejects. */
  take(key: string, limit: RateLimit, cost: number): Allowance | Promise<Allowance>;
  /** Takes what was made beyond what was taken, whether it is there or not; less than 0 gives back. It is always allowed. A promise never rejects. */
  charge(key: string, limit: RateLimit, cost: number): Allowance | Promise<Allowance>;
  /** Ends what it has open. */
  dispose(): Promise<void>;
}
