import { availableParallelism } from 'node:os';

/** Returns the number of processes that serve: one per CPU for `auto`. */
export const countWorkers = (workers: number | 'auto'): number =>
  workers === 'auto' ? availableParallelism() : workers;
