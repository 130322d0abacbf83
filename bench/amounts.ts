/** Minimum number of rounds for a p99 that counts. Single values vary by a factor of two. */
export const MIN_LATENCY_ROUNDS = 10;

/** Numbers of mixed requests after which memory is compared. */
export const MEMORY_SPAN = { early: 100_000, late: 300_000 };
