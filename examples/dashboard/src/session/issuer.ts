import { ISSUER_URL } from '../settings.ts';

/** A person who can sign in at the development issuer. */
export interface Person {
  id: string;
  name: string;
  role: string;
  tenant: string;
  scopes: readonly string[];
}

/** The issuer's response to a sign-in. */
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

/** The issuer gives this person no token. */
export class SessionRefused extends Error {}

/** People who can sign in. */
export async function fetchPeople(): Promise<Person[]> {
  const response = await fetch(`${ISSUER_URL}/people`);
  if (!response.ok) {
    throw new Error(`The issuer answered ${response.status}.`);
  }
  return response.json();
}

/**
 * A token for a person, at sign-in and each time one has expired.
 * @throws SessionRefused when the issuer refuses, another error when it cannot be reached
 */
export async function fetchCredentials(person: string): Promise<Credentials> {
  const response = await fetch(`${ISSUER_URL}/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ person }),
  });
  if (response.status === 401 || response.status === 403) {
    throw new SessionRefused('The sign-in service has ended your session.');
  }
  if (!response.ok) {
    throw new Error(`The sign-in service responded with ${response.status}.`);
  }
  return response.json();
}
