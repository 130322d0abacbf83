// Counts the requests in flight, within the shares of callers and upstreams.

import type { Identity } from '../../auth/identity.ts';
import { gatewayOverloaded, type Refusal, refuse } from '../../errors/codes.ts';
import { logEpisodes } from '../../lib/log-limits.ts';
import { createPerCredential } from '../../lib/per-credential.ts';
import type { HttpParts } from './parts.ts';

/** Share of one caller: four that send without end can't keep others out. */
const CALLER_SHARE = 1 / 4;

/** Share of all API keys together that the service may not know, of the room for its upstream: clients can invent any number of keys. */
const INVENTED_SHARE = 1 / 2;

/** Share of one of several upstreams: one that hangs leaves half to the others. */
const UPSTREAM_SHARE = 1 / 2;

const RETRY_AFTER_SECONDS = 1;

interface Count {
  running: number;
}

interface UpstreamCount extends Count {
  /** Requests with API keys that may be invented. */
  readonly invented: Set<Identity>;
}

/**
 * Counts the requests in flight, so that neither a caller nor a service that hangs takes the room of all others. It counts requests and not calls,
 * because a request that joins a call waits as long as the one that started it.
 */
export function createInFlightRequests({ settings, logger, telemetry, upstreams: services }: HttpParts) {
  const { maxInFlightRequests: total, upstreams } = settings;
  const perCaller = Math.ceil(CALLER_SHARE * total);
  const perUpstream = upstreams === undefined ? total : Math.ceil(UPSTREAM_SHARE * total); // There is no other to leave the rest to.
  const maxInvented = Math.ceil(INVENTED_SHARE * perUpstream);
  const noteRefused = logEpisodes(logger, {
    began: 'too many requests are in flight, and further ones are rejected',
    ended: 'requests in flight are below the limit again',
  });
  const all: Count = { running: 0 };
  const callers = createPerCredential<Count>(() => ({ running: 0 }));
  const names = upstreams === undefined ? [undefined] : Object.keys(upstreams);
  const byUpstream = new Map<string | undefined, UpstreamCount>(
    names.map((name) => [name, { running: 0, invented: new Set() }]),
  );

  /** Returns the count of the upstream; undefined without a credential, because no upstream is called then. */
  const upstreamOf = ({ credential, upstreamName }: Identity): UpstreamCount | undefined =>
    credential === undefined ? undefined : byUpstream.get(upstreamName);

  /** Logs that a limit is reached, and returns the refusal. */
  function refuseFor(
    limitOf: 'total' | 'caller' | 'upstream' | 'unknown keys',
    limit: number,
    { callerId, credential, upstreamName }: Identity,
  ): Refusal {
    callers.leave(callerId);
    noteRefused(`${limitOf} ${upstreamName}`, () => ({
      both: { limitOf, upstream: upstreamName },
      first: { limit, ...(limitOf === 'caller' && credential && { tenant: telemetry.nameTenant(credential) }) },
    }));
    const details = { retryAfterSeconds: RETRY_AFTER_SECONDS };
    switch (limitOf) {
      case 'caller':
        return refuse('RATE_LIMITED', 'Too many of your requests are in flight. Send fewer at once.', details);
      case 'upstream':
        return refuse(
          'OVERLOADED',
          'Too many requests for this notification service are in flight. Send the request again in a moment.',
          details,
        );
      case 'unknown keys': // They would learn which keys are known.
      case 'total':
        return gatewayOverloaded();
    }
  }

  return {
    /**
     * Counts a request until `leave` is called.
     *
     * @param identity one object per request
     * @throws {Refusal} RATE_LIMITED for the caller's share, OVERLOADED for the others. The request is not counted
     */
    enter(identity: Identity): void {
      const upstream = upstreamOf(identity);
      const caller = callers.enter(identity.callerId);
      if (caller.running >= perCaller) {
        throw refuseFor('caller', perCaller, identity);
      }
      if (all.running >= total) {
        throw refuseFor('total', total, identity);
      }
      if (upstream !== undefined && upstream.running >= perUpstream) {
        throw refuseFor('upstream', perUpstream, identity);
      }
      const { clientKind, credential, upstreamName } = identity;
      if (upstream !== undefined && clientKind === 'server' && !services.of(upstreamName).knows(credential)) {
        if (upstream.invented.size >= maxInvented) {
          throw refuseFor('unknown keys', maxInvented, identity);
        }
        upstream.invented.add(identity);
      }
      all.running += 1;
      caller.running += 1;
      if (upstream !== undefined) {
        upstream.running += 1;
      }
    },
    /** Called exactly once for each counted request, when it has ended. */
    leave(identity: Identity): void {
      all.running -= 1;
      callers.leave(identity.callerId).running -= 1;
      const upstream = upstreamOf(identity);
      if (upstream !== undefined) {
        upstream.invented.delete(identity);
        upstream.running -= 1;
      }
    },
  };
}
