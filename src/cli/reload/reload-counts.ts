import { counter, gauge, type MetricSamples } from '../../telemetry/metrics-snapshot.ts';

/** Counters of reloads. */
export interface ReloadCounts {
  /** Counts a reload. */
  add(result: 'ok' | 'rejected'): void;
  /** Returns the metrics so far. */
  snapshot(): MetricSamples[];
}

/** Creates the counters. The configuration that a process starts with counts as loaded, but not as a reload. */
export function createReloadCounts(now: () => number = Date.now): ReloadCounts {
  const counts = { ok: 0, rejected: 0 };
  let lastOkAt = now();
  return {
    add(result) {
      counts[result] += 1;
      if (result === 'ok') {
        lastOkAt = now();
      }
    },
    snapshot: () => [
      counter(
        'notigraph_config_reloads_total',
        'Reloads of the configuration: applied, or rejected as a whole.',
        Object.entries(counts).map(([result, count]) => [{ result }, count]),
      ),
      gauge(
        'notigraph_config_last_reload_seconds',
        'Time at which the configuration in use was loaded, in seconds since the Unix epoch.',
        lastOkAt / 1_000,
        'max',
      ),
    ],
  };
}
