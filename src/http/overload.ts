import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Settings } from '../settings/settings.ts';

/** Settings for the overload monitor. */
export type OverloadSettings = Pick<Settings, 'maxEventLoopDelayMs' | 'maxHeapPercent'>;

/** Interval between measurements, in milliseconds. */
const INTERVAL_MS = 500;

/** Minimum samples of the event loop delay for a percentile. */
const MIN_SAMPLES = 5;

/** Monitor of the event loop and the heap of this process. Dispose it to stop its timers. */
export interface OverloadMonitor extends Disposable {
  /** Returns the reason for shedding requests, or undefined if the process is not overloaded. */
  reason(): 'event loop' | 'heap' | undefined;
}

/** Starts to monitor the process. */
export function createOverloadMonitor(
  { maxEventLoopDelayMs, maxHeapPercent }: OverloadSettings,
  intervalMs = INTERVAL_MS,
): OverloadMonitor {
  const maxHeapShare = maxHeapPercent / 100;
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  let reason: ReturnType<OverloadMonitor['reason']>;

  function measure(): void {
    const heap = getHeapStatistics();
    // A blocked event loop produces few samples: keep them until there are enough.
    if (delay.count < MIN_SAMPLES && heap.used_heap_size <= maxHeapShare * heap.heap_size_limit) {
      return;
    }
    // The 90th percentile ignores a single long garbage collection, but not an event loop that is always late.
    if (delay.percentile(90) / 1e6 > maxEventLoopDelayMs) {
      reason = 'event loop';
    } else if (heap.used_heap_size > maxHeapShare * heap.heap_size_limit) {
      reason = 'heap';
    } else {
      reason = undefined;
    }
    delay.reset();
  }

  const timer = setInterval(measure, intervalMs).unref();
  return {
    reason: () => reason,
    [Symbol.dispose]() {
      clearInterval(timer);
      delay.disable();
    },
  };
}
