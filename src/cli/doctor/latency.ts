import { readRateLimit } from '../../upstream/transport/rate-limit-headers.ts';
import { type Finding, note, ok, problem, warning } from './finding.ts';
import { LIST, type ReadResponse, type Session } from './session.ts';

/** Number of timed reads. */
const READS = 10;

/** Times the list of notification groups, one read after the other. Leaves enough of a rate limit for others. */
export async function* examineLatency(
  { get, settings }: Session,
  { status, headers }: ReadResponse,
): AsyncGenerator<Finding> {
  const { remaining = Number.POSITIVE_INFINITY } = readRateLimit(status, headers) ?? {};
  if (remaining < READS * 5) {
    yield note(`Response times were not measured, because only ${remaining} calls remain in the key's rate limit.`);
    return;
  }
  const times: number[] = [];
  for (let i = 0; i < READS; i += 1) {
    const result = await get(LIST);
    if (result.failure !== undefined || result.status > 299) {
      const reason = result.failure ?? `responds with ${result.status}`;
      yield problem(`Read ${i + 1} of ${READS}: the service ${reason}.`, 'Check whether the service is stable.');
      return;
    }
    times.push(result.ms);
  }
  times.sort((a, b) => a - b);
  const median = times[Math.floor(READS / 2)] ?? 0;
  const longest = times.at(-1) ?? 0;
  const sentence = `${READS} reads took ${median.toFixed(1)} ms (median), at most ${longest.toFixed(1)} ms`;
  yield longest > settings.attemptTimeoutMs / 2
    ? warning(
        `${sentence}, and the time limit is ${settings.attemptTimeoutMs} ms.`,
        'Make the service faster, or raise attemptTimeoutMs.',
      )
    : ok(`${sentence}.`);
}
