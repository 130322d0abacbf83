// Measures the gateway process from inside and reports over the IPC channel. Loaded before the program with `--import`.

import type { Vitals } from './probed-gateway.ts';

const TICK_MS = 2;

/** Older Node.js versions only measure all threads together. */
const cpuUsage = process.threadCpuUsage ?? process.cpuUsage;

/** Returns CPU time instead of wall time, because on a busy machine the process also waits for the CPU. */
function busyMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1_000;
}

/** Returns the CPU time of all threads, including garbage collection and compilation. */
function processMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

let tickedAt = busyMs();
let longestBlockMs = 0;

function tick(): void {
  const now = busyMs();
  longestBlockMs = Math.max(longestBlockMs, now - tickedAt);
  tickedAt = now;
}

setInterval(tick, TICK_MS).unref();

process.on('message', (request) => {
  tick();
  if (request === 'collect garbage') {
    globalThis.gc?.();
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  const vitals: Vitals = {
    rssMb: rss / 2 ** 20,
    heapMb: heapUsed / 2 ** 20,
    externalMb: external / 2 ** 20,
    longestBlockMs,
    cpuMs: processMs(),
    resources: process.getActiveResourcesInfo().toSorted(),
  };
  tickedAt = busyMs(); // Excludes the requested garbage collection from the next measurement.
  longestBlockMs = 0;
  process.send?.(vitals);
});
process.on('disconnect', () => process.exit()); // The parent process that would stop it is gone.
process.channel?.unref(); // The channel must not keep a stopping process alive.
