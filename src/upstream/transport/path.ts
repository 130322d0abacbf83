import { type Endpoint, invalidInput } from '../errors.ts';
import type { UpstreamCall } from '../request.ts';

/** Maximum length of an id. Real ids are much shorter. */
const MAX_ID_LENGTH = 256;

/** Matches ordinary ids, which need no further checks. */
const PLAIN = /^[\w-]{1,256}$/;

const CONTROL_CHARACTER = /\p{Cc}/u;

/**
 * Returns why an id can't be a single segment of a URL path, or undefined if it can.
 *
 * `encodeURIComponent` doesn't encode `.` and `..`, which URL parsers resolve, so the call would reach another endpoint. An empty id
 * would turn "get one" into "list all". Servers and proxies may decode a segment more than once, so dot segments that are hidden by
 * percent-encoding or slashes are rejected too.
 */
export function findIdProblem(id: string): string | undefined {
  if (PLAIN.test(id)) {
    return undefined;
  }
  if (id === '') {
    return 'must not be empty';
  }
  if (id.length > MAX_ID_LENGTH) {
    return `must not be longer than ${MAX_ID_LENGTH} characters`;
  }
  if (!id.isWellFormed()) {
    return 'must be well-formed Unicode';
  }
  for (const form of decodedForms(id)) {
    if (CONTROL_CHARACTER.test(form)) {
      return 'must not contain control characters';
    }
    // guard: test/graphql/ids.test.ts
    if (form.split(/[/\\]/).some((part) => part === '.' || part === '..')) {
      return 'must not contain the path segments "." or ".."';
    }
  }
  return undefined;
}

/** Yields the id, and its form after each round of percent-decoding. Decodes only ASCII, because the checks need no more. */
function* decodedForms(id: string): Generator<string> {
  let form = id;
  while (true) {
    yield form;
    const decoded = form.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (decoded === form) {
      return;
    }
    form = decoded;
  }
}

/** Fills a path template (`/v1/feeds/{feedId}`) with ids that `findIdProblem` accepts, each as one encoded segment. */
function fillRoute(route: string, params: Readonly<Record<string, string>>): string {
  let path = '';
  let from = 0;
  for (let open = route.indexOf('{'); open >= 0; open = route.indexOf('{', from)) {
    const close = route.indexOf('}', open);
    const name = route.slice(open + 1, close);
    path += route.slice(from, open) + encodeURIComponent(params[name] ?? '');
    from = close + 1;
  }
  return path + route.slice(from);
}

/** Throws an `UpstreamError` (BAD_USER_INPUT) for the first id that can't be a single path segment. */
export function assertPathParams(endpoint: Endpoint, params: Readonly<Record<string, string>>): void {
  for (const name in params) {
    const problem = findIdProblem(params[name] ?? '');
    if (problem !== undefined) {
      throw invalidInput(endpoint, [{ path: [name], message: `The id ${problem}.` }]);
    }
  }
}

type PathParts = Pick<UpstreamCall, 'route' | 'params' | 'query'>;

/** Returns the path and query of a call. Throws if an id can't be a single path segment. */
export function buildPath(endpoint: Endpoint, call: PathParts): string {
  if (call.params !== undefined) {
    assertPathParams(endpoint, call.params);
  }
  return fillPath(call);
}

/** Returns the path and query of a call, whatever its ids are. */
export function fillPath({ route, params, query }: PathParts): string {
  const path = params === undefined ? route : fillRoute(route, params);
  return query === undefined ? path : path + buildQuery(query);
}

/** Returns the path of the service's address, to which the paths of calls are added. */
export const pathPrefixOf = ({ pathname }: URL): string => pathname.replace(/\/+$/, '');

/** Returns the address of the service, the same for all ways to write it. */
export const serviceAddressOf = (upstream: URL): string => upstream.origin + pathPrefixOf(upstream);

/** Returns the query with its question mark, or an empty string. */
function buildQuery(query: NonNullable<UpstreamCall['query']>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) {
      search.set(name, String(value));
    }
  }
  return search.size > 0 ? `?${search}` : '';
}
