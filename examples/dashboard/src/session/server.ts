// Asks the app's server for sessions and tokens.

/** A person who can sign in at the development issuer. */
export interface Person {
  id: string;
  name: string;
  role: string;
  tenant: string;
  scopes: readonly string[];
}

/** The server's response to a sign-in, and to a request for a new token. */
export interface Credentials {
  token: string;
  /** Lifetime of the token. Not a point in time, because the clocks of this computer and the issuer may differ. */
  expiresInSeconds: number;
  person: string;
  name: string;
  tenant: string;
  /** The token's scopes, so that the app can disable what would be rejected. */
  scopes: readonly string[];
}

/** There is no session, or the issuer refuses this person. */
export class SessionRefused extends Error {}

/** People who can sign in. */
export const fetchPeople = (): Promise<Person[]> => fetchJson('session/people');

/**
 * Signs in at the app's server, which sets the session's cookie. No script can read it.
 * @throws SessionRefused when the issuer refuses, another error when it cannot be reached
 */
export const startSession = (person: string): Promise<Credentials> =>
  fetchJson('session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ person }),
  });

/**
 * Returns a new token for the person of the session, after a reload and each time one has expired.
 * @throws SessionRefused when there is no session, another error when the server cannot be reached
 */
export const fetchCredentials = (): Promise<Credentials> => fetchJson('session/token', { method: 'POST' });

/** Ends the session at the server, also if the page is closed meanwhile. @throws if the server cannot be reached */
export async function endSession(): Promise<void> {
  await send('session', { method: 'DELETE', keepalive: true });
}

const fetchJson = async <Body>(path: string, init?: RequestInit): Promise<Body> => JSON.parse(await send(path, init));

/**
 * @param path below the app's own address: the cookie belongs to its origin
 * @returns the body
 */
async function send(path: string, init?: RequestInit): Promise<string> {
  const response = await fetch(path, { ...init, redirect: 'error' }); // As to the sign-in page of a proxy.
  const body = await response.text();
  if (response.status === 401 || response.status === 403) {
    throw new SessionRefused('The sign-in service has ended your session.');
  }
  if (!response.ok) {
    throw new Error(`The sign-in service responded with ${response.status}.`);
  }
  return body;
}
