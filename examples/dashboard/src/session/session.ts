import { createListeners } from '../listeners.ts';
import { type Credentials, fetchCredentials, SessionRefused } from './issuer.ts';

/** Who uses the app; nobody, perhaps because the issuer has `ended` somebody's session. */
export type SessionState = { kind: 'signed-out'; ended?: Who } | { kind: 'signed-in'; who: Who };

export type Who = Pick<Credentials, 'person' | 'name' | 'tenant' | 'scopes'>;

/** The session of this page: the token is in here, in memory, and nowhere else. */
export interface Session {
  getState(): SessionState;
  subscribe(listener: () => void): () => void;
  signIn(person: string): Promise<void>;
  signOut(): void;
  /** The present token; undefined when nobody is signed in. */
  token(): string | undefined;
  /** Whether the token has expired, or will before an answer can be back. */
  isExpiring(): boolean;
  /**
   * Takes a new token for the same person.
   * @throws SessionRefused when the issuer refuses: then the session has ended; RenewalFailed when it cannot be asked
   */
  renew(): Promise<void>;
}

/** The issuer could not be asked for a new token; the session goes on. */
export class RenewalFailed extends Error {}

/** A token is renewed so many seconds before its end. */
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
