/** Character codes of `a`, `c` and `h`. */
const [A, C, H] = [0x61, 0x63, 0x68];

/** Bit that converts the code of a letter to lower case. */
const LOWER_CASE = 0x20;

/**
 * Returns the name of a header that must occur only once but occurs again: `Authorization`, `Content-Type` or `Host`.
 *
 * Node.js keeps only the first of them, but a proxy in front may have used the last (RFC 9110, 5.3). Because this runs for every request, it
 * compares length and first letter before it converts a name to lower case.
 */
export function findDuplicateHeader(rawHeaders: readonly string[]): string | undefined {
  let [hosts, contentTypes, authorizations] = [0, 0, 0];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    const first = name.charCodeAt(0) | LOWER_CASE;
    if (name.length === 4 && first === H) {
      hosts += Number(name.toLowerCase() === 'host');
    } else if (name.length === 12 && first === C) {
      contentTypes += Number(name.toLowerCase() === 'content-type');
    } else if (name.length === 13 && first === A) {
      authorizations += Number(name.toLowerCase() === 'authorization');
    }
  }
  if (hosts > 1) {
    return 'Host';
  }
  if (contentTypes > 1) {
    return 'Content-Type';
  }
  return authorizations > 1 ? 'Authorization' : undefined;
}
