import { remember } from '../remember.ts';

const JSON_TYPE = 'application/json';
const GRAPHQL_TYPE = 'application/graphql-response+json';

/** Accept headers whose answer is remembered; clients send a few. */
const MAX_REMEMBERED = 100;

/** Chooses the media type of an answer by the `Accept` header as Yoga does; undefined: none that is for one result fits. */
export type ChooseMediaType = (accept: string | undefined) => string | undefined;

/** Remembers what it chose: reading the header costs more than the choice is worth. */
export function createChooseMediaType(): ChooseMediaType {
  const chooseOnce = remember(choose, MAX_REMEMBERED);
  return (accept) => chooseOnce(accept || '*/*');
}

/** The first type in the list that can be had; where any will do, it is plain JSON. */
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
