import { memoize } from '../lib/memoize.ts';

const JSON_TYPE = 'application/json';
const GRAPHQL_TYPE = 'application/graphql-response+json';

/** Clients send few different headers. */
const MAX_RESULTS = 100;

/** Longer headers are read again each time. */
const MAX_LENGTH = 500;

/** Chooses the media type of a response by the `Accept` header; undefined: the client accepts none that is available. */
export type NegotiateMediaType = (accept: string | undefined) => string | undefined;

/** Caches its choices: reading the header costs more than a pipeline step. */
export function createNegotiateMediaType(): NegotiateMediaType {
  const chooseOnce = memoize(choose, MAX_RESULTS);
  return (accept) => {
    const types = accept || '*/*';
    return types.length > MAX_LENGTH ? choose(types) : chooseOnce(types);
  };
}

/** Returns the first available type in the list; plain JSON if any type is accepted. */
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
