// Decides when a process has too much to do, and rejects requests until it has less.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Logger } from 'pino';
import { logEpisodes } from '../../../../src/lib/log-limits.ts';
import type { Connections } from './connections.ts';
import type { ServerSettings } from './settings.ts';

export interface SheddingDeps {
  /** Returns the bytes buffered by other parts of the process, such as upstream response bodies. @default none */
  bufferedBytes?: () => number;
  /** Overload monitor of the process. @default none */
  overload?: { excess(): Excess | undefined };
  /** Log of when shedding begins and ends. @default none */
  logger?: Pick<Logger, 'warn'>;
  /** Time without a shed request after which shedding has ended, in milliseconds. @default 5000 */
  shedQuietMs?: number;
}

/** Measured value above its limit. */
interface Excess {
  reason: 'running' | 'buffered bytes' | 'event loop' | 'heap';
  /** In milliseconds for the event loop, in percent for the heap, otherwise a number of requests or bytes. */
  value: number;
  limit: number;
}

/**
 * Minimum requests that are being answered for one to be shed because of the event loop. With fewer, none queues: other processes make it late, or code
 * that is being compiled.
 */
const MIN_RUNNING = 16;

/** Pause after a search that found too few slow clients, in milliseconds. Each search checks all connections. */
const SEARCH_PAUSE_MS = 100;

/** Share of the limit to free beyond the excess, so that requests can be accepted until the next search. */
const EXTRA_SHARE = 0.25;

const BEGAN = 'requests are shed with 503, because a limit of this process is exceeded';
const ENDED = 'requests are no longer shed';

/** Creates the load shedding of a server, which decides whether it can accept another request. */
export function createShedding(
  connections: Connections,
  { maxInFlightRequests, maxBufferedBytes }: Pick<ServerSettings, 'maxInFlightRequests' | 'maxBufferedBytes'>,
  { bufferedBytes = () => 0, overload, logger, shedQuietMs }: SheddingDeps,
) {
  const counts: Record<Excess['reason'], number> = { running: 0, 'buffered bytes': 0, 'event loop': 0, heap: 0 };
  const noteShed = logger && logEpisodes(logger, { began: BEGAN, ended: ENDED }, shedQuietMs);
  let nextSearchAt = 0;
  const totalBytes = () => connections.bufferedBytes + bufferedBytes();

  /** Returns why the process can't keep up with its requests, regardless of how long they take; undefined if it can. */
  function overloadExcess(): Excess | undefined {
    const excess = overload?.excess();
    return excess?.reason === 'event loop' && connections.running < MIN_RUNNING ? undefined : excess;
  }

  return {
    overloadExcess,
    /** Number of requests that were shed, by reason. */
    counts,
    /** Returns the bytes of requests and responses in memory. */
    bufferedBytes: totalBytes,
    /** Returns why the next request must be shed, or undefined if it can be accepted. */
    excess(): Excess | undefined {
      const { running } = connections;
      if (running >= maxInFlightRequests) {
        return { reason: 'running', value: running, limit: maxInFlightRequests };
      }
      const bytes = totalBytes();
      return bytes > maxBufferedBytes
        ? { reason: 'buffered bytes', value: bytes, limit: maxBufferedBytes }
        : overloadExcess();
    },
    shed({ reason, ...measured }: Excess): void {
      counts[reason] += 1;
      noteShed?.(reason, () => ({ both: { reason }, first: measured }));
    },
    /** Closes slow clients if too many bytes are buffered. */
    freeMemory(): void {
      const excess = totalBytes() - maxBufferedBytes;
      if (excess <= 0) {
        return;
      }
      const now = performance.now();
      if (now >= nextSearchAt) {
        const freed = connections.free(excess + EXTRA_SHARE * maxBufferedBytes);
        nextSearchAt = freed < excess ? now + SEARCH_PAUSE_MS : now;
      }
    },
  };
}

const INTERVAL_MS = 500;

/** Share of the heap above which requests are shed, in percent. V8 spends most of its time on collections when the heap is nearly full. */
const MAX_HEAP_PERCENT = 85;

/** Minimum samples of the event loop delay for a percentile. */
const MIN_SAMPLES = 5;

/** Minimum windows in a row in which the event loop was late. A single one can be due to other processes. */
const MIN_LATE_WINDOWS = 2;

interface MonitorDeps {
  /** Length of a window, in milliseconds. @default 500 */
  intervalMs?: number;
  /** @default 85 */
  maxHeapPercent?: number;
  /** Delays of the event loop, in nanoseconds. @default those of this process */
  delay?: Pick<ReturnType<typeof startDelayMonitor>, 'count' | 'percentile' | 'reset' | 'disable'>;
}

function startDelayMonitor() {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  return delay;
}

/** Creates the monitor of the event loop and the heap of this process. Dispose it to stop its timers. */
export function createOverloadMonitor(
  { maxEventLoopDelayMs }: Pick<ServerSettings, 'maxEventLoopDelayMs'>,
  { intervalMs = INTERVAL_MS, maxHeapPercent = MAX_HEAP_PERCENT, delay = startDelayMonitor() }: MonitorDeps = {},
) {
  let lateWindows = 0;
  let excess: Excess | undefined;

  function measure(): void {
    const heap = getHeapStatistics();
    const heapPercent = (100 * heap.used_heap_size) / heap.heap_size_limit;
    // A blocked event loop produces few samples: keep them until there are enough.
    if (delay.count < MIN_SAMPLES && heapPercent <= maxHeapPercent) {
      return;
    }
    // The 90th percentile ignores a single long garbage collection, but not an event loop that is always late.
    const delayMs = delay.percentile(90) / 1e6;
    lateWindows = delayMs > maxEventLoopDelayMs ? lateWindows + 1 : 0;
    if (heapPercent > maxHeapPercent) {
      excess = { reason: 'heap', value: Math.round(heapPercent), limit: maxHeapPercent }; // It makes the event loop late, too.
    } else if (lateWindows >= MIN_LATE_WINDOWS) {
      excess = { reason: 'event loop', value: Math.round(delayMs), limit: maxEventLoopDelayMs };
    } else {
      excess = undefined;
    }
    delay.reset();
  }

  const timer = setInterval(measure, intervalMs).unref();
  return {
    /** Returns why the process is overloaded, or undefined if it is not. */
    excess: () => excess,
    [Symbol.dispose](): void {
      clearInterval(timer);
      delay.disable();
    },
  };
}
