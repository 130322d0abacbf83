// Chooses the media type of a response by the header `Accept`.

import { memoize } from '../../lib/memoize.ts';

const JSON_TYPE = 'application/json';
const GRAPHQL_TYPE = 'application/graphql-response+json';

/** Maximum cached results. Clients send few different headers. */
const MAX_RESULTS = 100;

/** Maximum length of a cached header, because clients choose it. Longer ones are parsed each time. */
const MAX_LENGTH = 500;

/**
 * Creates the function that returns the media type of a response for an `Accept` header; undefined if none of its types is available. Results are
 * cached, because parsing the header costs more than a pipeline step.
 */
export function createNegotiateMediaType() {
  const chooseOnce = memoize(choose, MAX_RESULTS, MAX_LENGTH);
  return (accept: string | undefined): string | undefined => chooseOnce(accept || '*/*');
}

/** Quoted value of a parameter. One without an end reaches to the end of the header. */
const QUOTED = /"(?:[^"\\]|\\.)*\\?(?:"|$)/g;

/**
 * Returns the available type with the highest weight (RFC 9110, 12.5.1). The weight of a type is that of the entry that names it most precisely.
 * Of types with the same weight, an exactly named one is preferred to a wildcard, then the first in the list, then JSON.
 */
function choose(accept: string): string | undefined {
  const text = accept.toLowerCase().replace(QUOTED, (value) => value.replace(/[",;\\]/g, ''));
  const ranges = text.replace(/\s/g, '').split(',').filter(Boolean).map(toMediaRange);
  const offers = [JSON_TYPE, GRAPHQL_TYPE].flatMap((type) => {
    const matches = ranges.map((range) => ({ ...range, type, precision: precisionOf(range, type) }));
    const [best] = matches.sort((a, b) => b.precision - a.precision);
    return best !== undefined && best.precision >= 0 && best.weight > 0 ? [best] : [];
  });
  const [chosen] = offers.sort(
    (a, b) => b.weight - a.weight || Math.floor(b.precision) - Math.floor(a.precision) || a.index - b.index,
  );
  return chosen && `${chosen.type}; charset=utf-8`;
}

function toMediaRange(entry: string, index: number) {
  const [, charset] = /;charset=([^;]*)/.exec(entry) ?? [];
  const [, weight = 1] = /;q=([01](?:\.\d*)?)(?:;|$)/.exec(entry) ?? [];
  return { range: entry.split(';', 1)[0] ?? '', charset, weight: Math.min(1, Number(weight)), index };
}

/** Returns how precisely an entry names a type; a negative number if it doesn't. */
function precisionOf({ range, charset }: ReturnType<typeof toMediaRange>, type: string): number {
  return charset === undefined || /^utf-?8$/.test(charset) // Some clients leave out the dash.
    ? ['*/*', 'application/*', type].indexOf(range) + (charset === undefined ? 0 : 0.5)
    : -1;
}
