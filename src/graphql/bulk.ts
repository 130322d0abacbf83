import { createLimit } from './limit.ts';

/** Maximum concurrent calls of one bulk mutation, equal to the limit per credential. */
const CONCURRENCY = 10;

/** Runs `work` for every item with bounded concurrency. Results are in the order of the items. */
export const mapBounded = <Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> => {
  const limit = createLimit(CONCURRENCY);
  return Promise.all(items.map((item, index) => limit(() => work(item, index))));
};
