import type { Round } from './figures.ts';
import { drive, type LoadOptions } from './load.ts';
import type { RunningSubject, RunningUpstream } from './processes.ts';

/** Maximum number of loads until one has no refused request. */
const ATTEMPTS = 3;

/**
 * Puts a subject under load once, and again if it refuses requests, which a gateway does when other load on the machine delays it.
 * @throws {Error} if responses were wrong or every load had refused requests
 */
export async function measureLoad(
  running: RunningSubject,
  upstream: RunningUpstream,
  options: LoadOptions,
): Promise<Round> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    running.emptyLog();
    const [callsBefore, cpuBefore] = [await upstream.count(), running.cpuUs()];
    const { answered, failed, refused, seconds, p50Us, p99Us } = await drive(running.url, options);
    const [cpuAfter, callsAfter] = [running.cpuUs(), await upstream.count()];
    if (failed > 0) {
      throw new Error(`${failed} of ${answered + failed + refused} responses were wrong`);
    }
    if (refused === 0) {
      return {
        cpuUs: (cpuAfter - cpuBefore) / answered,
        perSecond: answered / seconds,
        p50Us,
        p99Us,
        calls: (callsAfter - callsBefore) / answered,
      };
    }
  }
  throw new Error(`requests were refused in ${ATTEMPTS} loads`);
}
