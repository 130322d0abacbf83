// Identifies people by the sessions of the host.

import { z } from 'zod';
import { refuse } from '../errors/codes.ts';
import type { Scope } from '../settings/scopes.ts';
import { identityOf } from './authenticate.ts';
import type { Identity } from './identity.ts';
import type { TenantKeys } from './tenants.ts';
import { toPerson } from './token-verifier.ts';

/** Person who is signed in at the host. */
export interface HostSession {
  /** Name of a tenant of `clients.browser`. The service is called with its API key. */
  tenant: string;
  /** Id of the person: of the rate limit, idempotency keys, lines of the audit log, and the subscriber whose inbox it is. */
  subject: string;
  /** Scopes of the person. Those that `clients.browser.scopes` doesn't list have no effect. */
  scopes: readonly string[];
}

/** Session of a request; undefined or null without one. */
export type SessionResult = HostSession | null | undefined;

const SESSION = z.object({ tenant: z.string(), subject: z.string().min(1), scopes: z.array(z.string()) });

/** Returns the identity of the person whose session a request has; undefined without one. */
export type IdentifySession<HostRequest> = (request: HostRequest) => Promise<Identity | undefined>;

/**
 * Creates the function that asks the host. What it throws is what the host throws, a TypeError if the result has another form, because a converted subject
 * could be that of two people, or UNAUTHENTICATED if the tenant is unknown.
 *
 * @param ceiling scopes that can be granted
 */
export const createIdentifySession =
  <HostRequest>(
    authenticate: (request: HostRequest) => SessionResult | Promise<SessionResult>,
    { tenantKeys, ceiling }: { tenantKeys: TenantKeys; ceiling: ReadonlySet<Scope> },
  ): IdentifySession<HostRequest> =>
  async (request) => {
    const session = await authenticate(request);
    if (session === undefined || session === null) {
      return undefined;
    }
    const { data } = SESSION.safeParse(session);
    if (data === undefined) {
      throw new TypeError('authenticate must return a tenant, a subject and a list of scopes, or undefined.');
    }
    const identity = identityOf(toPerson(data, ceiling), tenantKeys);
    if (identity === undefined) {
      const reason = 'TENANT_UNKNOWN';
      throw refuse('UNAUTHENTICATED', 'The session names no tenant that this gateway knows.', { reason });
    }
    return identity;
  };
