import type { Logger } from 'pino';
import type { Authenticator } from '../auth/authenticator.ts';
import type { RulesByClientKind } from '../auth/client-rules.ts';
import { AuthenticationError, type ClaimMismatch, type Identity, normalizeScheme } from '../auth/identity.ts';
import type { Operation } from '../graphql/documents/prepared-documents.ts';
import { logEpisodes, type NoteEvent } from '../lib/episodes.ts';
import { isPromise } from '../lib/is-promise.ts';
import { createPerCredential } from '../lib/per-credential.ts';
import { Refusal, type RefusalError } from '../lib/refusal.ts';
import { toPrintable } from '../lib/to-printable.ts';
import type { Allowance, RateLimiter } from '../rate-limits/rate-limiter.ts';
import { gatewayOverloaded, refuse } from '../settings/refuse.ts';
import type { Scope } from '../settings/scopes.ts';
import type { GatewaySettings } from '../settings/settings.ts';
import type { TenantNames } from '../telemetry/access-log.ts';
import type { Usage } from '../telemetry/usage.ts';

/** Options of `createAuthenticate`. */
export interface AuthenticateOptions {
  authenticator: Authenticator;
  /** Accepted schemes, for the header `WWW-Authenticate`. */
  schemes: readonly ('ApiKey' | 'Bearer')[];
  logger: Pick<Logger, 'debug'>;
  /** Maximum requests whose tokens are being verified, which can take as long as an issuer hangs. One more is OVERLOADED. */
  maxWaiting: number;
}

/**
 * Identifies the caller by the `Authorization` header. Without one, the caller is anonymous.
 *
 * @param requestId id of the request, for the log
 */
export type Authenticate = (authorization: string | undefined, requestId?: string) => Identity | Promise<Identity>;

/** Value of `Retry-After` while an issuer's signing keys are unavailable. */
const KEYS_RETRY_SECONDS = 5;

/** Creates the step that rejects malformed, forged and expired credentials with UNAUTHENTICATED or SIGN_IN_UNAVAILABLE. */
export function createAuthenticate({ authenticator, schemes, maxWaiting, logger }: AuthenticateOptions): Authenticate {
  let waiting = 0;

  function logMismatch({ claim, found, expected }: ClaimMismatch, requestId: string | undefined): void {
    const text = typeof found === 'string' ? found : JSON.stringify(found);
    const printable = found === undefined ? undefined : toPrintable(text);
    logger.debug({ requestId, claim, found: printable, expected }, 'a token was issued for another gateway');
  }

  async function verify(authorization: string | undefined, requestId: string | undefined): Promise<Identity> {
    if (waiting >= maxWaiting) {
      throw gatewayOverloaded();
    }
    waiting += 1;
    try {
      return await authenticator.identify(authorization);
    } catch (error) {
      if (!(error instanceof AuthenticationError)) {
        throw error;
      }
      if (error.mismatch !== undefined) {
        logMismatch(error.mismatch, requestId);
      }
      throw toRefusal(error, authorization, schemes);
    } finally {
      waiting -= 1;
    }
  }
  return (header, requestId) => {
    const authorization = header && normalizeScheme(header);
    return authenticator.identifyNow(authorization) ?? verify(authorization, requestId);
  };
}

function toRefusal(
  { message, reason }: AuthenticationError,
  authorization: string | undefined,
  schemes: AuthenticateOptions['schemes'],
): Refusal {
  if (reason === 'KEYS_UNAVAILABLE') {
    return refuse('SIGN_IN_UNAVAILABLE', message, { retryAfterSeconds: KEYS_RETRY_SECONDS });
  }
  const isToken = authorization?.startsWith('Bearer ') && reason !== 'CREDENTIAL_MALFORMED';
  const details = isToken ? `, error="invalid_token", error_description="${message}"` : '';
  return refuse('UNAUTHENTICATED', message, { reason, headers: challenge(schemes, details) });
}

/**
 * Returns the header that names the accepted schemes.
 *
 * @param tokenDetails further parameters of the scheme `Bearer`. @default none
 */
export function challenge(schemes: AuthenticateOptions['schemes'], tokenDetails = ''): { 'www-authenticate'?: string } {
  const challenges = schemes.map((scheme) => `${scheme} realm="notigraph"${scheme === 'Bearer' ? tokenDetails : ''}`);
  return challenges.length > 0 ? { 'www-authenticate': challenges.join(', ') } : {};
}

/**
 * Checks the scopes of the whole operation before executing any of it, so that a mutation doesn't apply its first field if the second one is
 * forbidden.
 *
 * @throws {Refusal} FORBIDDEN with one error per missing scope
 */
export function authorize(
  operation: Operation,
  { scopes, withheldScopes }: Identity,
  variables: Readonly<Record<string, unknown>>,
): void {
  if (scopes === 'all') {
    return; // Before the scopes of the operation, which are computed when they are first read.
  }
  const missing = operation.requiredScopes.missing(scopes, variables);
  const [first, ...others] = missing.map((scope) => forbidden(scope, withheldScopes?.has(scope)));
  if (first !== undefined) {
    throw new Refusal(403, [first, ...others]);
  }
}

const forbidden = (scope: Scope, isWithheld = false): RefusalError => ({
  code: 'FORBIDDEN',
  message: isWithheld
    ? `This operation requires the scope ${scope}. The token has it, but clients.browser.scopes doesn't permit it.`
    : `The token lacks the scope ${scope}, which this operation requires.`,
  retryable: false,
  scope,
});

/**
 * Takes one call from the caller's rate limit. The rest is charged when the operation is done and its cost is known.
 *
 * @returns undefined if the caller has no limit
 * @throws {Refusal} RATE_LIMITED
 */
export function takeAllowance(
  admission: Admission,
  identity: Identity,
): AdmissionAllowance | undefined | Promise<AdmissionAllowance> {
  const allowance = admission.take(identity);
  return isPromise(allowance) ? allowance.then(requireAllowed) : allowance && requireAllowed(allowance);
}

function requireAllowed(allowance: AdmissionAllowance): AdmissionAllowance {
  if (allowance.isAllowed) {
    return allowance;
  }
  const { limit, remaining, resetSeconds, retryAfterSeconds = 1 } = allowance;
  throw refuse('RATE_LIMITED', 'The rate limit of this gateway is exceeded. Send the request again later.', {
    retryAfterSeconds,
    headers: {
      'ratelimit-limit': String(limit),
      'ratelimit-remaining': String(remaining),
      'ratelimit-reset': String(resetSeconds),
    },
  });
}

/** State of a rate limit, with the time in which one call is refilled. */
export type AdmissionAllowance = Allowance & { secondsPerCall: number };

/** Applies the rate limits of all kinds of clients. */
export interface Admission {
  /** Takes one call before the operation runs. Returns undefined if there is no limit. */
  take(identity: Identity): AdmissionAllowance | undefined | Promise<AdmissionAllowance>;
  /** Returns the cost of an operation in calls. */
  costOf(usage: Readonly<Usage> | undefined): number;
  /** Charges the difference between the cost of an operation and the call already taken. */
  charge(identity: Identity, cost: number): void;
}

/** Options of `createAdmission`. */
export interface AdmissionOptions {
  limiter: RateLimiter;
  clientRules: RulesByClientKind;
}

/** Creates the admission with a rate limiter and the limits of each kind of client. */
export function createAdmission({ limiter, clientRules }: AdmissionOptions): Admission {
  return {
    take({ clientKind, callerId }) {
      const { rateLimit } = clientRules[clientKind];
      if (rateLimit === undefined) {
        return undefined;
      }
      const secondsPerCall = rateLimit.perSeconds / rateLimit.calls;
      const allowance = limiter.take(callerId, rateLimit, 1);
      return isPromise(allowance)
        ? allowance.then((taken) => Object.assign(taken, { secondsPerCall }))
        : Object.assign(allowance, { secondsPerCall });
    },
    // A read that the cache answers, or that joins a call, counts too, so that a client's limit doesn't depend on what others did.
    costOf: (usage) => (usage === undefined ? 0 : usage.requests + usage.cached + usage.shared),
    charge({ clientKind, callerId }, cost) {
      const { rateLimit } = clientRules[clientKind];
      if (rateLimit !== undefined && cost !== 1) {
        void limiter.charge(callerId, rateLimit, cost - 1);
      }
    },
  };
}

/** Maximum requests in flight. */
export interface InFlightLimits {
  total: number;
  perCaller: number;
  perUpstream: number;
  /** Maximum requests that wait for the signing keys of issuers, which can hang like an upstream. */
  waitingForKeys: number;
}

/** Share of one caller: four that send without end can't keep others out. */
const CALLER_SHARE = 1 / 4;

/** Share of one of several upstreams, and of the requests that wait for signing keys: one that hangs leaves half to the others. */
const UPSTREAM_SHARE = 1 / 2;

/** Returns the limits. A single upstream has no share of its own, because there is no other to leave the rest to. */
export function inFlightLimitsOf({
  maxInFlightRequests: total,
  upstreams,
}: Pick<GatewaySettings, 'maxInFlightRequests' | 'upstreams'>): InFlightLimits {
  const share = Math.ceil(UPSTREAM_SHARE * total);
  return {
    total,
    perCaller: Math.ceil(CALLER_SHARE * total),
    perUpstream: upstreams === undefined ? total : share,
    waitingForKeys: share,
  };
}

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
        return gatewayOverloaded();
    }
  }
}
