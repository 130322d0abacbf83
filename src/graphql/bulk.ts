import { createLimit } from '../lib/limit.ts';

/** Calls at a time of one bulk mutation: as many as a credential may have running. */
const CONCURRENCY = 10;

/** Runs `work` for every item with bounded concurrency; results are in the items' order. */
export const mapBounded = <Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> => {
  const limit = createLimit(CONCURRENCY);
  return Promise.all(items.map((item, index) => limit(() => work(item, index))));
};
