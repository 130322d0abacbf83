import type { Credential } from '../credentials.ts';
import type { Scope } from './scopes.ts';

/**
 * Whom the gateway serves. `server`: holds the service's key and sends it; `browser`: shows a signed token; `local`: shows nothing, on
 * this machine and with the sandbox alone; `anonymous`: shows nothing, and gets nothing that needs the service.
 */
export type Audience = 'server' | 'browser' | 'local' | 'anonymous';

/** Who asks, and what for. */
export interface Identity {
  readonly audience: Audience;
  /** What the service is called with; undefined: it cannot be called. */
  readonly credential: Credential | undefined;
  /** What may be asked for. */
  readonly scopes: ReadonlySet<Scope> | 'all';
  /** The only documents that may be sent, by the SHA-256 of their text; undefined: as the audience's mode says. */
  readonly documents: ReadonlySet<string> | undefined;
  /** Tells callers apart, for their limits and their idempotency keys; never shown. */
  readonly callerId: string;
}

/** Who shows no credential. */
export const ANONYMOUS: Identity = {
  audience: 'anonymous',
  credential: undefined,
  scopes: 'all', // Of nothing: without a credential the service cannot be called.
  documents: undefined,
  callerId: 'anonymous',
};

/** What is known of a request before it is authenticated. */
export interface Caller {
  /** The header `Authorization`. */
  authorization: string | undefined;
  /** Whether it comes from this machine, to a name of this machine. */
  isLocal: boolean;
}
