// Identifies people by the sessions of the host.

import { z } from 'zod';
import type { Identity } from '../../auth/identity.ts';
import { refuse } from '../../errors/codes.ts';
import { isScope } from '../../settings/scopes.ts';
import { requirePreflight } from '../head.ts';
import type { IncomingRequest } from '../message.ts';
import type { HttpParts } from './parts.ts';

const scopes = z.array(z.string()).transform((all) => all.filter(isScope));

const SESSION = z.object({ tenant: z.string(), subject: z.string().min(1), scopes });

/** In an object, so that problems name the option. */
const RESULT = z.object({ authenticate: SESSION.nullish() });

const NO_TENANT = 'The session names no tenant that this gateway knows.';

/**
 * Creates the function that asks the host; undefined if the host has no sessions, or browsers are not served. It throws what the host throws, a ZodError if the result has another form, because a converted subject could be
 * that of two people, CSRF_REFUSED if a page of another site could have sent the request, or UNAUTHENTICATED if the tenant is unknown.
 */
export function createIdentifySession({ authenticate, auth: { identifyPerson } }: HttpParts) {
  if (authenticate === undefined || identifyPerson === undefined) {
    return undefined;
  }
  return async (request: IncomingRequest): Promise<Identity | undefined> => {
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
}
