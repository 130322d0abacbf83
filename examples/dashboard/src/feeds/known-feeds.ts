import { type Remembered, useRemembered } from '../session/use-remembered.ts';

/** A feed as this browser knows it. */
export interface KnownFeed {
  id: string;
  name: string;
}

const isFeed = (value: unknown): value is KnownFeed =>
  typeof value === 'object' &&
  value !== null &&
  'id' in value &&
  'name' in value &&
  typeof value.id === 'string' &&
  typeof value.name === 'string';

/** The feeds that were created in this browser, or named by the service when it deleted one: it has no list of feeds. */
export const useKnownFeeds = (): Remembered<KnownFeed> => useRemembered('feeds', isFeed);
