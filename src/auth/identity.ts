import type { Credential } from './credentials.ts';
import type { Scope } from './scopes.ts';

/**
 * Kind of client. `server`: sends the service's API key; `browser`: sends a signed token; `anonymous`: sends no credential, and gets
 * nothing that needs the service.
 */
export type ClientKind = 'server' | 'browser' | 'anonymous';

/** Who asks, and what for. */
export interface Identity {
  readonly clientKind: ClientKind;
  /** What the service is called with; undefined: it cannot be called. */
  readonly credential: Credential | undefined;
  /** What may be asked for. */
  readonly scopes: ReadonlySet<Scope> | 'all';
  /** The only documents that may be sent, by the SHA-256 of their text; undefined: as the mode of the kind of client says. */
  readonly documents: ReadonlySet<string> | undefined;
  /** Tells callers apart, for their limits and their idempotency keys; never shown. */
  readonly callerId: string;
}

/** Who shows no credential. */
export const ANONYMOUS: Identity = {
  clientKind: 'anonymous',
  credential: undefined,
  scopes: 'all', // Of nothing: without a credential the service cannot be called.
  documents: undefined,
  callerId: 'anonymous',
};
