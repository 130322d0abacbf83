import type { Vitals } from './probed-gateway.ts';

/** Loaded into the gateway's process ahead of its program: answers over the IPC channel what only the process itself can see. */

const TICK_MS = 2;

/** Older versions know it for all threads alone. */
const cpuUsage = process.threadCpuUsage ?? process.cpuUsage;

/** Time on the processor: on a busy machine the clock goes on while this process waits for its turn. */
function busyMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1_000;
}

/** Time on the processor of all threads: those of the garbage collector and the compiler too. */
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
  tickedAt = busyMs(); // Collecting garbage here was the asker's wish.
  longestBlockMs = 0;
  process.send?.(vitals);
});
process.on('disconnect', () => process.exit()); // Nobody is left who would end it.
process.channel?.unref(); // It must not keep alive what is told to stop.
