import type { StoreStatus } from '../redis/store-state.ts';
import type { RateLimit } from '../settings/rate-limits.ts';

/** State of a caller's limit. */
export interface Allowance {
  /** Whether the calls were granted. */
  isAllowed: boolean;
  /** Maximum of `remaining`: the limit's `calls`. */
  limit: number;
  /** Whole calls that are left; 0 or more. */
  remaining: number;
  /** Whole seconds until `remaining` is `limit` again. */
  resetSeconds: number;
  /** Whole seconds, 1 or more, until the calls would be granted; absent if they were. */
  retryAfterSeconds?: number;
}

/**
 * Counts upstream calls per caller.
 *
 * The cost of an operation is known only after it has run, because loaders and concurrent operations share calls, and later calls depend on
 * earlier responses. So an operation takes 1 call before it runs, and the difference is charged afterwards. If it costs more than is left,
 * the caller is in debt, and further operations are rejected until the debt is paid off. Only in-flight operations can exceed the limit.
 * The debt is bounded by `MAX_DEBT`, so that no caller is locked out for hours.
 */
export interface RateLimiter extends AsyncDisposable {
  /** Takes calls before they are made, or none if there are too few. A promise never rejects. */
  take(key: string, limit: RateLimit, cost: number): Allowance | Promise<Allowance>;
  /** Charges the calls made beyond those taken, even if too few are left. A negative cost gives calls back. A promise never rejects. */
  charge(key: string, limit: RateLimit, cost: number): Allowance | Promise<Allowance>;
  /** Resolves once the first attempt to connect to the shared store has succeeded or failed, after two seconds at most. Never rejects. */
  connected(): Promise<void>;
  /** Returns the state of the store that processes share; undefined if each one counts in its own memory. */
  status(): Readonly<StoreStatus> | undefined;
  /** Closes connections. */
  dispose(): Promise<void>;
}
