// Logs when a service goes down, something else answers for it, or it keeps what was to be cleared, and when that is over.

import type { Logger } from 'pino';
import { logEpisodes } from '../../lib/log-limits.ts';
import type { ReportCircuitChange } from '../../upstream/calls.ts';
import { describeCause, type Endpoint } from '../../upstream/errors.ts';
import type { TenantNames } from './access-log.ts';

const OPENED = 'The circuit breaker opened. Calls to the service are paused.';
const OPENED_FOR_KEY =
  'The circuit breaker opened for one API key, because only its calls time out. They are paused, and those with other keys continue.';
const OPENED_FOR_PERSON =
  "The circuit breaker opened for one person of a tenant, because only this one's calls time out. They are paused, and those of others continue.";
const CLOSED = 'The circuit breaker closed. The service responds again.';

/**
 * Creates a function that returns the log of one upstream's circuit breaker: one line when it opens, and one when it closes. Both are warnings, so that
 * a log of warnings shows how long it was open.
 */
export function createCircuitLog(logger: Logger, nameTenant: TenantNames, now: () => Date) {
  const timeBefore = (milliseconds: number) => new Date(now().getTime() - milliseconds).toISOString();

  return (upstreamName: string | undefined): ReportCircuitChange =>
    (change) => {
      if (change.kind === 'closed') {
        const { openMs } = change;
        logger.warn({ upstream: upstreamName, since: timeBefore(openMs), ms: Math.round(openMs) }, CLOSED);
        return;
      }
      const { failure, failingMs, paused } = change;
      const { code, status, cause } = failure;
      const { credential, callerId = credential } = paused ?? {};
      const tenant = credential && nameTenant(credential);
      logger.warn(
        { upstream: upstreamName, tenant, code, status, cause: describeCause(cause), since: timeBefore(failingMs) },
        tenant === undefined ? OPENED : callerId === credential ? OPENED_FOR_KEY : OPENED_FOR_PERSON,
      );
    };
}

const EPISODES = {
  foreign: {
    began:
      'Something else answers for the service: it has no such endpoint, it redirects, or a proxy or firewall in front of it responds. Check the base address of the upstream, and what is in front of it.',
    ended: 'The service itself answers again, or this endpoint is no longer called.',
  },
  uncleared: {
    began:
      'The service kept values that null or an empty list was to clear. Update the service: versions before 31 October 2025 clear only the email of a subscriber. No version clears channels.',
    ended: 'The service clears values again, or none are to be cleared any more.',
  },
};

/** Notes a response that comes from something else than an upstream, or that keeps what was to be cleared. */
export type NoteEpisode = (kind: keyof typeof EPISODES, upstreamName: string | undefined, endpoint: Endpoint) => void;

/** Creates the log of responses that come from something else than an upstream, or keep what was to be cleared: one line when they begin, one when they have ended. */
export function createEpisodeLog(logger: Logger): NoteEpisode {
  const notes = { foreign: logEpisodes(logger, EPISODES.foreign), uncleared: logEpisodes(logger, EPISODES.uncleared) };
  return (kind, upstreamName, { method, route }) =>
    notes[kind]([upstreamName, method, route].join(' '), () => ({
      both: { upstream: upstreamName, method, route },
      first: {},
    }));
}
