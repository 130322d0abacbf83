import type { Logger } from 'pino';
import type { ReportDeviation } from '../upstream/contract/drift-check.ts';
import type { CounterMemory } from './counter-memory.ts';

/** Counts of a gateway's deviations from the contract. */
export interface DriftReport {
  /**
   * Returns the function that counts the deviations of an upstream, and logs each one that is the first of its kind at its place. With a
   * name, its metric has the label `upstream`.
   */
  reporterOf(upstream: string | undefined): ReportDeviation;
}

/** Maximum number of places with their own count and log line. A service that sends other bodies altogether could have any number. */
const MAX_PLACES = 200;

/** Path of all further places. No field has this name. */
const OTHER = '(other)';

/** Creates the report of deviations. */
export function createDriftReport(logger: Logger, memory: CounterMemory): DriftReport {
  const addCount = memory.addFamily({
    name: 'notigraph_upstream_deviations_total',
    help: 'Inspected responses of the service that deviate from the contract, by place and kind.',
    type: 'counter',
  });
  const counts = new Map<string, number>();
  let places = 0;

  return {
    reporterOf: (upstream) => (endpoint, deviation) => {
      const { method, route } = endpoint;
      const { kind } = deviation;
      const keyOf = (path: string) => [upstream, method, route, kind, path].join(' ');
      const isKnown = counts.has(keyOf(deviation.path));
      const path = isKnown || places < MAX_PLACES ? deviation.path : OTHER;
      let position = counts.get(keyOf(path));
      if (position === undefined) {
        const labels = { ...(upstream !== undefined && { upstream }), method, route, path, kind };
        position = addCount(labels);
        counts.set(keyOf(path), position);
        places += path === OTHER ? 0 : 1;
        logger.warn(
          labels,
          'a response of the service deviates from the contract; operations that do not use the field are unaffected',
        );
      }
      memory.increase(position, 1);
    },
  };
}
