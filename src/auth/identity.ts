import type { Scope } from '../settings/scopes.ts';
import type { Credential } from './credentials.ts';

/**
 * Kind of client. `server` sends the service's API key, `browser` a signed token. `anonymous` sends no credential and gets nothing that
 * requires the service.
 */
export type ClientKind = 'server' | 'browser' | 'anonymous';

/** Caller of a request and its permissions. */
export interface Identity {
  readonly clientKind: ClientKind;
  /** API key for calls of the service; undefined if it cannot be called. */
  readonly credential: Credential | undefined;
  /** Name of the only upstream that the credential may be sent to; undefined if there is only one, or it is not selected yet. */
  readonly upstream?: string | undefined;
  /** Granted scopes. */
  readonly scopes: ReadonlySet<Scope> | 'all';
  /** SHA-256 of the only documents it may send; undefined if only the mode of its kind of client applies. */
  readonly documents: ReadonlySet<string> | undefined;
  /** Name of the tenant, and the user in its token; undefined for servers, which send only a key. */
  readonly tenant?: string;
  readonly subject?: string | undefined;
  /** Identifies the caller for rate limits and idempotency keys; never returned or logged. */
  readonly callerId: string;
}

/** Identity of callers without a credential. */
export const ANONYMOUS: Identity = {
  clientKind: 'anonymous',
  credential: undefined,
  scopes: 'all', // Harmless: without a credential the service cannot be called.
  documents: undefined,
  callerId: 'anonymous',
};
