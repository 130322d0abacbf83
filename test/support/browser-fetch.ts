// Applies the rules of browsers for requests to other origins (CORS) to `fetch`.

/** Headers that a page may send to another origin without a preflight; `Content-Type` only for forms and text. */
const SAFELISTED = new Set(['accept', 'accept-language', 'content-language']);

/** Creates a `fetch` that permits and hides what that of a browser does for a page of this origin. */
export function createBrowserFetch(origin: string): typeof fetch {
  return async (input, init = {}) => {
    const { url, method } = new Request(input, { method: init.method ?? 'GET' });
    const headers = new Headers(init.headers);
    const names = [...headers.keys()].filter((name) => !SAFELISTED.has(name));
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': names.sort().join(','),
      },
    });
    assertAllowed(preflight, origin);
    const allowed = listOf(preflight, 'access-control-allow-headers');
    const forbidden = names.filter((name) => !allowed.includes(name));
    if (!preflight.ok || forbidden.length > 0 || !listOf(preflight, 'access-control-allow-methods').includes(method)) {
      throw new TypeError(`The preflight of ${method} ${url} does not allow ${forbidden.join(', ') || 'the method'}.`);
    }
    headers.set('origin', origin);
    const response = await fetch(url, { ...init, headers });
    assertAllowed(response, origin);
    return response;
  };
}

function assertAllowed({ url, headers }: Response, origin: string): void {
  if (headers.get('access-control-allow-origin') !== origin) {
    throw new TypeError(`The response of ${url} is not readable for ${origin}.`);
  }
}

const listOf = ({ headers }: Response, name: string): string[] =>
  (headers.get(name) ?? '')
    .split(',')
    .map((value) => (name.endsWith('headers') ? value.trim().toLowerCase() : value.trim()));
