import type { Settings } from '../settings/settings.ts';
import type { Connections } from './connections.ts';
import type { Exchanges } from './exchanges.ts';
import type { OverloadMonitor } from './overload.ts';

/** Settings of load shedding. */
export type SheddingSettings = Pick<Settings, 'maxInFlightRequests' | 'maxBufferedBytes'>;

/** Dependencies of load shedding. */
export interface SheddingDeps {
  /** Returns the bytes that other parts of the process buffer, such as response bodies of the upstream. @default none */
  bufferedBytes?: () => number;
  /** Monitor of the process. @default none */
  overload?: Pick<OverloadMonitor, 'reason'>;
}

/** Reason why a request is shed. */
export type ShedReason = 'stopping' | 'running' | 'buffered bytes' | NonNullable<ReturnType<OverloadMonitor['reason']>>;

/** Decides whether a server can take another request. */
export interface Shedding {
  /** Requests that were shed so far. */
  readonly counts: Record<ShedReason, number>;
  bufferedBytes(): number;
  /** Returns why the next request would be shed; undefined if it would not. */
  reason(): Exclude<ShedReason, 'stopping'> | undefined;
  /** Closes slow clients if too many bytes are buffered. */
  relieve(): void;
}

/** Pause after a search for slow clients that found too few, in milliseconds: each search looks at all connections. */
const RELIEF_PAUSE_MS = 100;

/** Share of the limit that a search frees beyond what is missing, so that requests are served until the next one. */
const RELIEF_SHARE = 0.25;

export function createShedding(
  exchanges: Exchanges,
  connections: Connections,
  { maxInFlightRequests, maxBufferedBytes }: SheddingSettings,
  { bufferedBytes = () => 0, overload }: SheddingDeps,
): Shedding {
  let relieveAgainAt = 0;
  const allBytes = () => exchanges.receivedBytes() + exchanges.unsentBytes() + bufferedBytes();

  return {
    counts: { stopping: 0, running: 0, 'buffered bytes': 0, 'event loop': 0, heap: 0 },
    bufferedBytes: allBytes,
    reason() {
      if (exchanges.running() >= maxInFlightRequests) {
        return 'running';
      }
      return allBytes() > maxBufferedBytes ? 'buffered bytes' : overload?.reason();
    },
    relieve() {
      const excess = allBytes() - maxBufferedBytes;
      const now = performance.now();
      if (excess > 0 && now >= relieveAgainAt) {
        const freed = connections.free(excess + RELIEF_SHARE * maxBufferedBytes);
        relieveAgainAt = freed < excess ? now + RELIEF_PAUSE_MS : now;
      }
    },
  };
}
