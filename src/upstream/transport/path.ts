import type { Endpoint } from '../errors/errors.ts';
import { refusedInput } from '../errors/failures.ts';

/** No service id is near this long; a longer one is a mistake or an attack. */
const MAX_ID_LENGTH = 256;

/** What ids look like; such a one needs no closer look, and no encoding. */
const PLAIN = /^[\w-]{1,256}$/;

const CONTROL_CHARACTER = /\p{Cc}/u;

/**
 * Says what is wrong with an id as one segment of a URL path, or undefined when nothing is.
 *
 * `encodeURIComponent` leaves `.` and `..` as they are, and whoever parses the URL on the way then removes segments, so that the
 * call reaches another endpoint; an empty id turns "get one" into "list all". Servers and proxies on the way may decode a
 * segment more than once, so dot segments hidden behind percent-encoding or slashes are refused as well.
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
    if (form.split(/[/\\]/).some((part) => part === '.' || part === '..')) {
      return 'must not contain the path segments "." or ".."';
    }
  }
  return undefined;
}

/** The id as it is, and as it reads after each round of percent-decoding. Only ASCII matters to the checks. */
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

/** Fills a path template (`/v1/feeds/{feedId}`) with ids that `findIdProblem` has passed, each one encoded segment. */
export function fillRoute(route: string, params: Readonly<Record<string, string>>): string {
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

/** Throws `UpstreamError` BAD_USER_INPUT for the first id that cannot be one path segment. */
export function assertPathParams(endpoint: Endpoint, params: Readonly<Record<string, string>>): void {
  for (const name in params) {
    const problem = findIdProblem(params[name] ?? '');
    if (problem !== undefined) {
      throw refusedInput(endpoint, { path: [name], message: `The id ${problem}.` });
    }
  }
}
