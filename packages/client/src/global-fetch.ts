// Calls the global `fetch`, and explains failures because of the URL.

// Browsers and workers have one of these, and resolve a relative URL against it.
declare const document: { baseURI: string } | undefined;
declare const location: { href: string } | undefined;

/** URL that can't be that of a gateway, so no attempt can succeed. */
export class InvalidUrlError extends TypeError {
  override readonly name = 'InvalidUrlError';

  constructor(url: string | URL) {
    const address = String(url);
    const quote = address.includes('@') ? '' : ` It is "${address}".`; // It may contain a password.
    super(
      `The option url must be the full address of the gateway's GraphQL endpoint, such as https://graphql.example.com/graphql, without a user name or password.${quote}`,
    );
  }
}

/**
 * Calls the global `fetch`.
 *
 * @throws {InvalidUrlError} if it failed because of the URL. The URL isn't checked before, because a replaced `fetch` may accept more
 */
export async function globalFetch(url: string | URL, init: RequestInit): Promise<Response> {
  try {
    return await globalThis.fetch(url, init); // Found at each call, because tests replace it.
  } catch (error) {
    throw isUsable(url) ? error : new InvalidUrlError(url);
  }
}

function isUsable(url: string | URL): boolean {
  try {
    const { protocol, username, password } = new URL(url, baseAddress());
    return /^https?:$/.test(protocol) && username === '' && password === '';
  } catch {
    return false;
  }
}

function baseAddress(): string | undefined {
  if (typeof document !== 'undefined') {
    return document.baseURI;
  }
  return typeof location === 'undefined' ? undefined : location.href;
}
