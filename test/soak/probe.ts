import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Vitals } from './gateway.ts';

/** Loaded into the gateway's process ahead of its program: answers over the IPC channel what only the process itself can see. */

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

process.on('message', (request) => {
  if (request === 'collect garbage') {
    globalThis.gc?.();
  }
  const { rss, heapUsed } = process.memoryUsage();
  const vitals: Vitals = {
    rssMb: rss / 2 ** 20,
    heapMb: heapUsed / 2 ** 20,
    longestBlockMs: delay.max / 1e6,
    resources: process.getActiveResourcesInfo().toSorted(),
  };
  delay.reset();
  process.send?.(vitals);
});
process.on('disconnect', () => process.exit()); // Nobody is left who would end it.
process.channel?.unref(); // It must not keep alive what is told to stop.
