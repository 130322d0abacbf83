// Knows who is signed in on this page, and renews the token.

import { createStore, type ReadOnlyStore } from '../store.ts';
import { type Credentials, endSession, fetchCredentials, SessionRefused, startSession } from './server.ts';

/** The person who uses the app, or nobody, perhaps because the server `ended` the session. */
export type SessionState =
  | { kind: 'resuming' }
  | { kind: 'signed-out'; ended?: Who; hasSignOutFailed?: true }
  | { kind: 'signed-in'; who: Who };

export type Who = Pick<Credentials, 'person' | 'name' | 'tenant' | 'scopes'>;

/** The session of this page. The token exists only here, in memory; the session's cookie is for the app's server only. */
export interface Session extends ReadOnlyStore<SessionState> {
  /** Continues the session that the browser has a cookie of, if there is one. */
  resume(): Promise<void>;
  signIn(person: string): Promise<void>;
  /** Signs out here at once and then at the server. If that fails, the state says so. */
  signOut(): Promise<void>;
  /** Returns the current token, or undefined if nobody is signed in. */
  token(): string | undefined;
  /** Returns whether the token has expired, or will before a response arrives. */
  isExpiring(): boolean;
  /**
   * Gets a new token for the same person.
   * @throws SessionRefused if the server refuses, which ends the session; RenewalFailed if it is unreachable
   */
  renew(): Promise<void>;
}

/** The server is unreachable, so the token wasn't renewed; the session continues. */
export class RenewalFailed extends Error {}

/** Seconds before expiry at which a token is renewed. */
const MARGIN_SECONDS = 10;

export function createSession(): Session {
  const { get, set: become, subscribe } = createStore<SessionState>({ kind: 'resuming' });
  let held: { token: string; expiresAt: number } | undefined;
  let signIns = 0;
  let signingOut: Promise<void> | undefined;

  function hold({ token, expiresInSeconds, person, name, tenant, scopes }: Credentials): void {
    // A token that is hardly longer than the margin is not renewed all the time.
    const margin = Math.min(MARGIN_SECONDS, expiresInSeconds / 2);
    held = { token, expiresAt: Date.now() + (expiresInSeconds - margin) * 1000 };
    become({ kind: 'signed-in', who: { person, name, tenant, scopes } });
  }

  return {
    get,
    subscribe,
    async resume() {
      try {
        hold(await fetchCredentials());
      } catch {
        become({ kind: 'signed-out' });
      }
    },
    async signIn(person) {
      await signingOut; // Its response removes the cookie, so it must not arrive after that of the sign-in.
      const credentials = await startSession(person);
      signIns += 1;
      hold(credentials);
    },
    signOut() {
      held = undefined;
      become({ kind: 'signed-out' });
      signingOut = endSession().catch(() => {
        const state = get();
        if (state.kind === 'signed-out') {
          become({ ...state, hasSignOutFailed: true });
        }
      });
      return signingOut;
    },
    token: () => held?.token,
    isExpiring: () => held === undefined || Date.now() >= held.expiresAt,
    async renew() {
      const state = get();
      if (state.kind !== 'signed-in') {
        throw new SessionRefused('Nobody is signed in.');
      }
      const { who } = state;
      const signIn = signIns; // Who has signed out meanwhile, or in as somebody else, is left alone.
      try {
        const credentials = await fetchCredentials();
        if (credentials.person !== who.person) {
          throw new SessionRefused('Somebody else has signed in with this browser.'); // In another tab.
        }
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
