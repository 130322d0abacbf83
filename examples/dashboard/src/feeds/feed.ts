// Defines the type of feeds, and tells the cache about changes of them.

import type { FeedsResult } from '../documents.gen.ts';

export type Feed = NonNullable<NonNullable<FeedsResult['feeds']>[number]>;

/** Tells the cache that an operation concerns feeds even if its result has none, such as a deletion or an empty list. */
export const FEEDS_CHANGE = { additionalTypenames: ['Feed'] };
