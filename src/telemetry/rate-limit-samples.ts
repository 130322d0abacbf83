import { counter, gauge, type MetricSamples } from './metrics-snapshot.ts';

/** Returns the samples of a store of rate limits that processes share; none without a store. */
export function rateLimitSamples(store: { isUp: boolean; fallbacks: number } | undefined): MetricSamples[] {
  if (store === undefined) {
    return [];
  }
  const { isUp, fallbacks } = store;
  return [
    gauge(
      'notigraph_rate_limit_store_up',
      'Whether Redis counts rate limits (1), or a process on its own (0).',
      isUp ? 1 : 0,
      'min',
    ),
    counter('notigraph_rate_limit_fallbacks_total', 'Times that a process started to count rate limits on its own.', [
      [{}, fallbacks],
    ]),
  ];
}
