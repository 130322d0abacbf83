import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Settings } from '../settings/settings.ts';

/** Settings for the overload monitor. */
export type OverloadSettings = Pick<Settings, 'maxEventLoopDelayMs' | 'maxHeapPercent'>;

/** Interval between measurements, in milliseconds. */
const INTERVAL_MS = 500;

/** Minimum samples of the event loop delay for a percentile. */
const MIN_SAMPLES = 5;

/** Measured value above its limit. */
export interface Excess<Reason extends string = string> {
  reason: Reason;
  /** In milliseconds for the event loop, in percent for the heap, otherwise a number of requests or bytes. */
  value: number;
  limit: number;
}

/** Monitor of the event loop and the heap of this process. Dispose it to stop its timers. */
export interface OverloadMonitor extends Disposable {
  /** Returns why the process is overloaded, or undefined if it is not. */
  excess(): Excess<'event loop' | 'heap'> | undefined;
}

/** Starts to monitor the process. */
export function createOverloadMonitor(
  { maxEventLoopDelayMs, maxHeapPercent }: OverloadSettings,
  intervalMs = INTERVAL_MS,
): OverloadMonitor {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  let excess: ReturnType<OverloadMonitor['excess']>;

  function measure(): void {
    const heap = getHeapStatistics();
    const heapPercent = (100 * heap.used_heap_size) / heap.heap_size_limit;
    // A blocked event loop produces few samples: keep them until there are enough.
    if (delay.count < MIN_SAMPLES && heapPercent <= maxHeapPercent) {
      return;
    }
    // The 90th percentile ignores a single long garbage collection, but not an event loop that is always late.
    const delayMs = delay.percentile(90) / 1e6;
    if (delayMs > maxEventLoopDelayMs) {
      excess = { reason: 'event loop', value: Math.round(delayMs), limit: maxEventLoopDelayMs };
    } else if (heapPercent > maxHeapPercent) {
      excess = { reason: 'heap', value: Math.round(heapPercent), limit: maxHeapPercent };
    } else {
      excess = undefined;
    }
    delay.reset();
  }

  const timer = setInterval(measure, intervalMs).unref();
  return {
    excess: () => excess,
    [Symbol.dispose]() {
      clearInterval(timer);
      delay.disable();
    },
  };
}
