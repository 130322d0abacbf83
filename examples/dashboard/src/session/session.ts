import { createListeners } from '../listeners.ts';
import { type Credentials, fetchCredentials, SessionRefused } from './issuer.ts';

/** The person who uses the app, or nobody, perhaps because the issuer `ended` the session. */
export type SessionState = { kind: 'signed-out'; ended?: Who } | { kind: 'signed-in'; who: Who };

export type Who = Pick<Credentials, 'person' | 'name' | 'tenant' | 'scopes'>;

/** The session of this page. The token exists only here, in memory. */
export interface Session {
  getState(): SessionState;
  subscribe(listener: () => void): () => void;
  signIn(person: string): Promise<void>;
  signOut(): void;
  /** Returns the current token, or undefined if nobody is signed in. */
  token(): string | undefined;
  /** Returns whether the token has expired, or will before a response arrives. */
  isExpiring(): boolean;
  /**
   * Gets a new token for the same person.
   * @throws SessionRefused if the issuer refuses, which ends the session; RenewalFailed if it is unreachable
   */
  renew(): Promise<void>;
}

/** The issuer is unreachable, so the token wasn't renewed; the session continues. */
export class RenewalFailed extends Error {}

/** Seconds before expiry at which a token is renewed. */
const MARGIN_SECONDS = 10;

export function createSession(): Session {
  let state: SessionState = { kind: 'signed-out' };
  let held: { token: string; expiresAt: number } | undefined;
  let signIns = 0;
  const { subscribe, notify } = createListeners();

  function become(next: SessionState): void {
    state = next;
    notify();
  }

  function hold({ token, expiresInSeconds, person, name, tenant, scopes }: Credentials): void {
    // A token that is hardly longer than the margin is not renewed all the time.
    const margin = Math.min(MARGIN_SECONDS, expiresInSeconds / 2);
    held = { token, expiresAt: Date.now() + (expiresInSeconds - margin) * 1000 };
    become({ kind: 'signed-in', who: { person, name, tenant, scopes } });
  }

  return {
    getState: () => state,
    subscribe,
    async signIn(person) {
      const credentials = await fetchCredentials(person);
      signIns += 1;
      hold(credentials);
    },
    signOut() {
      held = undefined;
      become({ kind: 'signed-out' });
    },
    token: () => held?.token,
    isExpiring: () => held === undefined || Date.now() >= held.expiresAt,
    async renew() {
      if (state.kind === 'signed-out') {
        throw new SessionRefused('Nobody is signed in.');
      }
      const { who } = state;
      const signIn = signIns; // Who has signed out meanwhile, or in as somebody else, is left alone.
      try {
        const credentials = await fetchCredentials(who.person);
        if (signIns === signIn && held !== undefined) {
          hold(credentials);
        }
      } catch (error) {
        if (error instanceof SessionRefused && signIns === signIn && held !== undefined) {
          held = undefined;
          become({ kind: 'signed-out', ended: who });
        }
        throw error instanceof SessionRefused
          ? error
          : new RenewalFailed('The session could not be renewed.', { cause: error });
      }
    },
  };
}
