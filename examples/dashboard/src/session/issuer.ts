import { ISSUER_URL } from '../settings.ts';

/** Somebody who can sign in at the development issuer. */
export interface Person {
  id: string;
  name: string;
  role: string;
  tenant: string;
  scopes: readonly string[];
}

/** What the issuer gives who signs in. */
export interface Credentials {
  token: string;
  /** How long the token is good. Not a time of day: the clocks of this computer and the issuer may differ. */
  expiresInSeconds: number;
  person: string;
  name: string;
  tenant: string;
  /** What the token permits, so that the app can say beforehand what will be refused. */
  scopes: readonly string[];
}

/** The issuer gives this person no token. */
export class SessionRefused extends Error {}

/** Who can sign in. */
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
    throw new Error(`The sign-in service answered ${response.status}.`);
  }
  return response.json();
}
