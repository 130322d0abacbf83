import type { StoreStats } from '../upstream/cache/store.ts';
import { counter, gauge, type MetricSamples } from './metrics-snapshot.ts';

/** Returns the samples of the cache's store; none without a cache. */
export function cacheSamples(stats: StoreStats | undefined): MetricSamples[] {
  if (stats === undefined) {
    return [];
  }
  const { entries, bytes, evictions, problem } = stats;
  return [
    ...(entries === undefined
      ? [
          gauge(
            'notigraph_cache_store_up',
            'Whether Redis, which holds the cache, works.',
            problem === undefined ? 1 : 0,
            'min',
          ),
        ]
      : [gauge('notigraph_cache_entries', 'Stored responses in memory.', entries)]),
    ...(bytes === undefined
      ? []
      : [gauge('notigraph_cache_bytes', 'Size of the stored responses on the heap.', bytes)]),
    ...(evictions === undefined
      ? []
      : [
          counter('notigraph_cache_evictions_total', 'Stored responses that were removed because the store was full.', [
            [{}, evictions],
          ]),
        ]),
  ];
}
