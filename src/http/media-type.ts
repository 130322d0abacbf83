import { memoize } from '../lib/memoize.ts';

const JSON_TYPE = 'application/json';
const GRAPHQL_TYPE = 'application/graphql-response+json';

/** Maximum cached results. Clients send few different headers. */
const MAX_RESULTS = 100;

/** Maximum length of a cached header. Longer ones are parsed each time. */
const MAX_LENGTH = 500;

/** Returns the media type of a response for an `Accept` header, or undefined if none of its types is available. */
export type NegotiateMediaType = (accept: string | undefined) => string | undefined;

/** Creates the function that chooses media types. Results are cached, because parsing the header costs more than a pipeline step. */
export function createNegotiateMediaType(): NegotiateMediaType {
  const chooseOnce = memoize(choose, MAX_RESULTS);
  return (accept) => {
    const types = accept || '*/*';
    return types.length > MAX_LENGTH ? choose(types) : chooseOnce(types);
  };
}

/** Returns the first available type in the list, or JSON for a wildcard. */
function choose(accept: string): string | undefined {
  for (const entry of accept.replace(/\s/g, '').toLowerCase().split(',')) {
    const [type, ...params] = entry.split(';');
    const charset = params.find((param) => param.includes('charset=')) ?? 'charset=utf-8';
    if (charset === 'charset=utf-8') {
      if (type === JSON_TYPE || type === 'application/*' || type === '*/*' || type === '*/json') {
        return `${JSON_TYPE}; charset=utf-8`;
      }
      if (type === GRAPHQL_TYPE) {
        return `${GRAPHQL_TYPE}; charset=utf-8`;
      }
    }
  }
  return undefined;
}
