import type { GatewayOptions } from '../../gateway.ts';
import type { OverloadOptions } from '../../http/overload.ts';
import type { ServerOptions } from '../../http/server.ts';

interface Range {
  default: number;
  min: number;
  max: number;
}

const range = (fallback: number, min: number, max: number): Range => ({ default: fallback, min, max });

/**
 * Every number of the policies that an operator may set, each by the environment variable that `variableOf` names. Times are in
 * milliseconds, sizes in bytes.
 */
export const TUNING = {
  operationTimeoutMs: range(15_000, 100, 600_000),
  attemptTimeoutMs: range(6_000, 50, 600_000),
  connectTimeoutMs: range(2_000, 50, 60_000),
  headersTimeoutMs: range(5_000, 50, 600_000),
  maxRetries: range(2, 0, 10),
  retryBaseDelayMs: range(100, 1, 10_000),
  retryMaxDelayMs: range(1_000, 1, 60_000),
  maxRetryAfterSeconds: range(2, 0, 60),
  retryBudgetPercent: range(20, 0, 100),
  retryBudgetFloor: range(3, 0, 1_000),
  breakerPercent: range(50, 1, 100),
  breakerMinimumCalls: range(20, 1, 100_000),
  breakerWindowMs: range(10_000, 100, 600_000),
  breakerOpenMs: range(2_000, 10, 600_000),
  breakerMaxOpenMs: range(8_000, 10, 600_000),
  sockets: range(64, 1, 10_000),
  socketIdleMs: range(4_000, 1, 600_000),
  maxRunningPerKey: range(10, 1, 10_000),
  maxWaitingPerKey: range(100, 0, 100_000),
  maxUpstreamCalls: range(50, 1, 10_000),
  maxBulkItems: range(100, 1, 10_000),
  maxUpstreamBodyBytes: range(5 * 1024 * 1024, 1_024, 1024 * 1024 * 1024),
  maxUpstreamListItems: range(10_000, 1, 1_000_000),
  maxBodyBytes: range(256 * 1024, 1_024, 64 * 1024 * 1024),
  maxDocumentCharacters: range(32 * 1024, 256, 64 * 1024 * 1024),
  maxTokens: range(1_000, 10, 1_000_000),
  maxDepth: range(10, 1, 1_000),
  maxAliases: range(30, 0, 10_000),
  maxRootFields: range(20, 1, 10_000),
  maxFields: range(500, 1, 1_000_000),
  maxDirectives: range(10, 0, 10_000),
  maxInputListItems: range(1_000, 1, 1_000_000),
  maxErrors: range(100, 1, 10_000),
  maxResultValues: range(250_000, 1_000, 100_000_000),
  maxResponseBytes: range(4 * 1024 * 1024, 1_024, 1024 * 1024 * 1024),
  maxRunning: range(512, 1, 100_000),
  maxEventLoopDelayMs: range(200, 10, 60_000),
  maxHeapPercent: range(85, 10, 100),
  clientHeadersTimeoutMs: range(10_000, 100, 600_000),
  clientRequestTimeoutMs: range(30_000, 100, 600_000),
  clientStallTimeoutMs: range(30_000, 300, 600_000),
  clientMinBytesPerSecond: range(100, 0, 1_000_000),
  maxConnections: range(10_000, 10, 1_000_000),
  maxBufferedBytes: range(64 * 1024 * 1024, 1024 * 1024, 64 * 1024 * 1024 * 1024),
  lameDuckMs: range(500, 0, 60_000),
  drainTimeoutMs: range(20_000, 0, 600_000),
} as const satisfies Record<string, Range>;

export type TuningName = keyof typeof TUNING;

/** A value for every number. */
export type Tuning = Record<TuningName, number>;

/** The environment variable of a setting: `maxRetries` is set by NOTIGRAPH_MAX_RETRIES. */
export const variableOf = (name: string): string =>
  `NOTIGRAPH_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

/** The numbers in the places where gateway, server and overload monitor take them. */
export function applyTuning(tuning: Tuning): {
  gateway: Required<
    Pick<GatewayOptions, 'operationTimeoutMs' | 'maxBodyBytes' | 'documents' | 'results' | 'connections' | 'policies'>
  >;
  server: Partial<ServerOptions>;
  overload: OverloadOptions;
} {
  const { operationTimeoutMs, maxBodyBytes, attemptTimeoutMs, connectTimeoutMs, headersTimeoutMs, maxRetries } = tuning;
  const { maxDocumentCharacters: maxCharacters, maxTokens, maxDepth, maxAliases, maxRootFields, maxFields } = tuning;
  const { maxDirectives } = tuning;
  return {
    gateway: {
      operationTimeoutMs,
      maxBodyBytes,
      documents: { maxCharacters, maxTokens, maxDepth, maxAliases, maxRootFields, maxFields, maxDirectives },
      results: {
        maxErrors: tuning.maxErrors,
        maxValues: tuning.maxResultValues,
        maxResponseBytes: tuning.maxResponseBytes,
        maxListItems: tuning.maxUpstreamListItems,
        maxInputListItems: tuning.maxInputListItems,
      },
      connections: {
        connections: tuning.sockets,
        connectTimeoutMs,
        headersTimeoutMs,
        keepAliveTimeoutMs: tuning.socketIdleMs,
        maxBufferedBytes: tuning.maxBufferedBytes,
      },
      policies: {
        attemptTimeoutMs,
        maxBodyBytes: tuning.maxUpstreamBodyBytes,
        maxListItems: tuning.maxUpstreamListItems,
        maxCalls: tuning.maxUpstreamCalls,
        maxBulkItems: tuning.maxBulkItems,
        retry: {
          maxRetries,
          baseDelayMs: tuning.retryBaseDelayMs,
          maxDelayMs: tuning.retryMaxDelayMs,
          maxRetryAfterSeconds: tuning.maxRetryAfterSeconds,
          budgetShare: tuning.retryBudgetPercent / 100,
          budgetFloor: tuning.retryBudgetFloor,
        },
        circuitBreaker: {
          threshold: tuning.breakerPercent / 100,
          minimumCalls: tuning.breakerMinimumCalls,
          windowMs: tuning.breakerWindowMs,
          openMs: tuning.breakerOpenMs,
          maxOpenMs: tuning.breakerMaxOpenMs,
        },
        concurrency: { maxRunning: tuning.maxRunningPerKey, maxWaiting: tuning.maxWaitingPerKey },
      },
    },
    server: {
      maxRunning: tuning.maxRunning,
      headersTimeoutMs: tuning.clientHeadersTimeoutMs,
      requestTimeoutMs: tuning.clientRequestTimeoutMs,
      stallTimeoutMs: tuning.clientStallTimeoutMs,
      minBytesPerSecond: tuning.clientMinBytesPerSecond,
      maxConnections: tuning.maxConnections,
      maxBufferedBytes: tuning.maxBufferedBytes,
      maxBodyBytes,
      lameDuckMs: tuning.lameDuckMs,
      drainTimeoutMs: tuning.drainTimeoutMs,
    },
    overload: { maxEventLoopDelayMs: tuning.maxEventLoopDelayMs, maxHeapShare: tuning.maxHeapPercent / 100 },
  };
}
