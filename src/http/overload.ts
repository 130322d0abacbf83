import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Settings } from '../settings/settings.ts';

/** Settings of the overload monitor. */
export type OverloadSettings = Pick<Settings, 'maxEventLoopDelayMs' | 'maxHeapPercent'>;

/** Time between two measurements, in milliseconds. */
const INTERVAL_MS = 500;

/** Fewer measurements of the delay say nothing. */
const MIN_SAMPLES = 5;

/** Watches whether this process can take more work. Whoever creates it disposes it. */
export interface OverloadMonitor extends Disposable {
  /** Why requests are shed at present; undefined: they are not. */
  reason(): 'event loop' | 'heap' | undefined;
}

export function createOverloadMonitor(
  { maxEventLoopDelayMs, maxHeapPercent }: OverloadSettings,
  intervalMs = INTERVAL_MS,
): OverloadMonitor {
  const maxHeapShare = maxHeapPercent / 100;
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  let reason: ReturnType<OverloadMonitor['reason']>;

  function look(): void {
    const heap = getHeapStatistics();
    // A late loop gives few samples: they are kept until they say something.
    if (delay.count < MIN_SAMPLES && heap.used_heap_size <= maxHeapShare * heap.heap_size_limit) {
      return;
    }
    // The 90th percentile: one long garbage collection is no overload, and a loop that is always late is.
    if (delay.percentile(90) / 1e6 > maxEventLoopDelayMs) {
      reason = 'event loop';
    } else if (heap.used_heap_size > maxHeapShare * heap.heap_size_limit) {
      reason = 'heap';
    } else {
      reason = undefined;
    }
    delay.reset();
  }

  const timer = setInterval(look, intervalMs).unref();
  return {
    reason: () => reason,
    [Symbol.dispose]() {
      clearInterval(timer);
      delay.disable();
    },
  };
}
