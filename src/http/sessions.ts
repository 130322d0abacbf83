// Identifies people by the sessions of the host.

import { z } from 'zod';
import type { Auth } from '../auth/authenticate.ts';
import type { Identity } from '../auth/identity.ts';
import { refuse } from '../errors/codes.ts';
import { isScope } from '../settings/scopes.ts';
import { requirePreflight } from './head.ts';
import type { IncomingRequest, NodeMessage } from './message.ts';

/** Person who is signed in at the host. */
interface HostSession {
  /** Name of a tenant of `clients.browser`. The service is called with its API key. */
  tenant: string;
  /** Id of the person: of the rate limit, idempotency keys, lines of the audit log, and the subscriber whose inbox it is. */
  subject: string;
  /** Scopes of the person. Those that `clients.browser.scopes` doesn't list have no effect. */
  scopes: readonly string[];
}

/** Result of `authenticate`; undefined or null without a session. */
export type SessionResult = HostSession | null | undefined;

const scopes = z.array(z.string()).transform((all) => all.filter(isScope));

const SESSION = z.object({ tenant: z.string(), subject: z.string().min(1), scopes });

/** In an object, so that problems name the option. */
const RESULT = z.object({ authenticate: SESSION.nullish() });

const NO_TENANT = 'The session names no tenant that this gateway knows.';

/**
 * Creates the function that asks the host. It throws what the host throws, a ZodError if the result has another form, because a converted subject could be
 * that of two people, CSRF_REFUSED if a page of another site could have sent the request, or UNAUTHENTICATED if the tenant is unknown.
 */
export const createIdentifySession =
  (
    authenticate: (request: NodeMessage | Request) => SessionResult | Promise<SessionResult>,
    identifyPerson: NonNullable<Auth['identifyPerson']>,
  ) =>
  async (request: IncomingRequest): Promise<Identity | undefined> => {
    const result = request.source && (await authenticate(request.source));
    const { authenticate: session } = RESULT.parse({ authenticate: result });
    if (session === undefined || session === null) {
      return undefined;
    }
    requirePreflight(request); // Browsers send its cookie for any page.
    return (
      identifyPerson(session) ?? Promise.reject(refuse('UNAUTHENTICATED', NO_TENANT, { reason: 'TENANT_UNKNOWN' }))
    );
  };
