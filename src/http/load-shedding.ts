import type { Settings } from '../settings/settings.ts';
import type { Connections } from './connections.ts';
import type { OpenResponses } from './open-responses.ts';
import type { OverloadMonitor } from './overload.ts';

/** Settings for load shedding. */
export type SheddingSettings = Pick<Settings, 'maxInFlightRequests' | 'maxBufferedBytes'>;

/** Dependencies of load shedding. */
export interface SheddingDeps {
  /** Returns the bytes buffered by other parts of the process, such as upstream response bodies. @default none */
  bufferedBytes?: () => number;
  /** Overload monitor of the process. @default none */
  overload?: Pick<OverloadMonitor, 'reason'>;
}

/** Reason for shedding a request. */
export type ShedReason = 'stopping' | 'running' | 'buffered bytes' | NonNullable<ReturnType<OverloadMonitor['reason']>>;

/** Decides whether a server can accept another request. */
export interface Shedding {
  /** Number of requests that were shed, by reason. */
  readonly counts: Record<ShedReason, number>;
  /** Returns the bytes of requests and responses in memory. */
  bufferedBytes(): number;
  /** Returns the reason for shedding the next request, or undefined if it can be accepted. */
  reason(): Exclude<ShedReason, 'stopping'> | undefined;
  /** Closes slow clients if too many bytes are buffered. */
  freeMemory(): void;
}

/** Pause after a search that found too few slow clients, in milliseconds. Each search checks all connections. */
const SEARCH_PAUSE_MS = 100;

/** Share of the limit to free beyond the excess, so that requests can be accepted until the next search. */
const EXTRA_SHARE = 0.25;

/** Creates the load shedding of a server. */
export function createShedding(
  responses: OpenResponses,
  connections: Connections,
  { maxInFlightRequests, maxBufferedBytes }: SheddingSettings,
  { bufferedBytes = () => 0, overload }: SheddingDeps,
): Shedding {
  let nextSearchAt = 0;
  const totalBytes = () => responses.receivedBytes() + responses.unsentBytes() + bufferedBytes();

  return {
    counts: { stopping: 0, running: 0, 'buffered bytes': 0, 'event loop': 0, heap: 0 },
    bufferedBytes: totalBytes,
    reason() {
      if (responses.running() >= maxInFlightRequests) {
        return 'running';
      }
      return totalBytes() > maxBufferedBytes ? 'buffered bytes' : overload?.reason();
    },
    freeMemory() {
      const excess = totalBytes() - maxBufferedBytes;
      const now = performance.now();
      if (excess > 0 && now >= nextSearchAt) {
        const freed = connections.free(excess + EXTRA_SHARE * maxBufferedBytes);
        nextSearchAt = freed < excess ? now + SEARCH_PAUSE_MS : now;
      }
    },
  };
}
