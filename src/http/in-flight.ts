import type { Logger } from 'pino';
import type { Identity } from '../auth/identity.ts';
import { logEpisodes, type NoteEvent } from '../lib/episodes.ts';
import type { Refusal } from '../lib/refusal.ts';
import { refuse } from '../settings/refuse.ts';
import type { GatewaySettings } from '../settings/settings.ts';
import type { TenantNames } from '../telemetry/tenant-names.ts';
import { createPerCredential } from '../upstream/resilience/per-credential.ts';

/** Maximum requests in flight. */
export interface InFlightLimits {
  total: number;
  perCaller: number;
  perUpstream: number;
  /** Maximum requests that wait for the signing keys of issuers, which can hang like an upstream. */
  waitingForKeys: number;
}

/** Settings of the limits. */
export type InFlightSettings = Pick<
  GatewaySettings,
  'maxInFlightRequests' | 'maxInFlightRequestsPerCaller' | 'maxInFlightRequestsPerUpstream' | 'upstreams'
>;

/** Returns the limits. A single upstream has no share of its own by default, because there is no other to leave the rest to. */
export function inFlightLimitsOf({
  maxInFlightRequests: total,
  maxInFlightRequestsPerCaller: perCaller = Math.ceil(total / 4),
  maxInFlightRequestsPerUpstream: configured,
  upstreams,
}: InFlightSettings): InFlightLimits {
  const share = configured ?? Math.ceil(total / 2);
  const perUpstream = configured === undefined && upstreams === undefined ? total : share;
  return { total, perCaller, perUpstream, waitingForKeys: share };
}

/** Message for clients if the whole gateway is overloaded. */
export const OVERLOADED_MESSAGE = 'The gateway is overloaded. Send the request again in a moment.';

/** Time after which a rejected request can be sent again. */
const RETRY_AFTER_SECONDS = 1;

/** Limit that a request would exceed. */
type Limit = 'total' | 'caller' | 'upstream';

/** Number of requests in flight. */
interface Count {
  running: number;
}

/**
 * Counts the requests in flight, so that neither a caller nor a service that hangs takes the room of all others. It counts requests and not calls,
 * because a request that joins a call waits as long as the one that started it.
 */
export class InFlightRequests {
  readonly #limits: InFlightLimits;
  readonly #nameTenant: TenantNames;
  readonly #noteRefused: NoteEvent;
  readonly #all: Count = { running: 0 };
  readonly #callers = createPerCredential<Count>(() => ({ running: 0 }));
  readonly #upstreams = new Map<string | undefined, Count>(); // As many as are configured.

  constructor(limits: InFlightLimits, logger: Logger, nameTenant: TenantNames) {
    this.#limits = limits;
    this.#nameTenant = nameTenant;
    this.#noteRefused = logEpisodes(logger, {
      began: 'too many requests are in flight, and further ones are rejected',
      ended: 'requests in flight are below the limit again',
    });
  }

  /**
   * Counts a request until `leave` is called.
   *
   * @throws {Refusal} RATE_LIMITED for the caller's share, OVERLOADED for the others. The request is not counted
   */
  enter(identity: Identity): void {
    const { total, perCaller, perUpstream } = this.#limits;
    const upstream = this.#upstreamOf(identity);
    const caller = this.#callers.enter(identity.callerId);
    const limits: [Limit, Count | undefined, max: number][] = [
      ['caller', caller, perCaller],
      ['total', this.#all, total],
      ['upstream', upstream, perUpstream],
    ];
    for (const [limitOf, count, max] of limits) {
      if (count !== undefined && count.running >= max) {
        this.#callers.leave(identity.callerId);
        throw this.#refuse(limitOf, max, identity);
      }
    }
    this.#all.running += 1;
    caller.running += 1;
    if (upstream !== undefined) {
      upstream.running += 1;
    }
  }

  /** Called exactly once for each counted request, when it has ended. */
  leave(identity: Identity): void {
    this.#all.running -= 1;
    this.#callers.leave(identity.callerId).running -= 1;
    const upstream = this.#upstreamOf(identity);
    if (upstream !== undefined) {
      upstream.running -= 1;
    }
  }

  /** Returns the count of the upstream; undefined without a credential, because no upstream is called then. */
  #upstreamOf({ credential, upstream: name }: Identity): Count | undefined {
    if (credential === undefined) {
      return undefined;
    }
    let count = this.#upstreams.get(name);
    if (count === undefined) {
      count = { running: 0 };
      this.#upstreams.set(name, count);
    }
    return count;
  }

  /** Logs that a limit is reached, and returns the refusal. */
  #refuse(limitOf: Limit, limit: number, { credential, upstream }: Identity): Refusal {
    this.#noteRefused(`${limitOf} ${upstream}`, () => ({
      both: { limitOf, upstream },
      first: { limit, ...(limitOf === 'caller' && credential && { tenant: this.#nameTenant(credential) }) },
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
      case 'total':
        return refuse('OVERLOADED', OVERLOADED_MESSAGE, details);
    }
  }
}
