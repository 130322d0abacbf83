import type { CachedReadResult, CacheObserver, InvalidationReason } from '../upstream/transport/observer.ts';
import type { CounterMemory } from './counter-memory.ts';
import type { Labels } from './metrics-snapshot.ts';

/** Counts of the caches of all upstreams. */
export interface CacheCounts {
  /** Returns the observer of an upstream's cache. With a name, its metrics have the label `upstream`. */
  observerOf(upstream: string | undefined): CacheObserver;
}

type Resource = Parameters<CacheObserver['read']>[0];

/** Positions of counts in the memory, which are added when they are first needed. */
type Positions<Key extends string> = Partial<Record<Key, number>>;

/** Creates the counts of caches. */
export function createCacheCounts(memory: CounterMemory): CacheCounts {
  const addRead = memory.addFamily({
    name: 'notigraph_cache_reads_total',
    help: 'Reads that can be cached, by the answer: from the cache (fresh, revalidating, stale) or the service (miss, bypass, unavailable).',
    type: 'counter',
  });
  const addStaleAge = memory.addFamily({
    name: 'notigraph_cache_stale_seconds_total',
    help: 'Sum of the ages of stored responses that were used because the service failed.',
    type: 'counter',
  });
  const addInvalidation = memory.addFamily({
    name: 'notigraph_cache_invalidations_total',
    help: 'Times that stored responses became unusable because of a write or a rejected key.',
    type: 'counter',
  });
  // By name, so that a gateway that replaces another one continues its counts.
  const observers = new Map<string | undefined, CacheObserver>();

  function createObserver(labels: Labels): CacheObserver {
    const reads: Partial<Record<Resource, Positions<CachedReadResult>>> = {};
    const staleAges: Positions<Resource> = {};
    const invalidations: Positions<InvalidationReason> = {};
    return {
      read(resource, result, ageMs = 0) {
        reads[resource] ??= {};
        const positions = reads[resource];
        positions[result] ??= addRead({ ...labels, resource, result });
        memory.increase(positions[result], 1);
        if (result === 'stale') {
          staleAges[resource] ??= addStaleAge({ ...labels, resource });
          memory.increase(staleAges[resource], ageMs / 1_000);
        }
      },
      invalidated(reason) {
        invalidations[reason] ??= addInvalidation({ ...labels, reason });
        memory.increase(invalidations[reason], 1);
      },
    };
  }

  return {
    observerOf(upstream) {
      const observer = observers.get(upstream) ?? createObserver(upstream === undefined ? {} : { upstream });
      observers.set(upstream, observer);
      return observer;
    },
  };
}
