import { useState } from 'react';
import { useWho } from '../session/who-context.ts';
import { readStored, writeStored } from '../storage.ts';

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

/** Feeds that are kept; the oldest are forgotten. */
const LIMIT = 20;

/**
 * The feeds that this browser keeps for the signed-in person: those that were created in it, or named by the service when it deleted one. The
 * service has no list of feeds.
 *
 * @returns the feeds, and the function that replaces them
 */
export function useKnownFeeds(): [readonly KnownFeed[], (feeds: readonly KnownFeed[]) => void] {
  const { tenant, person } = useWho();
  const key = `notigraph-dashboard:${tenant}:${person}:feeds`;
  const [feeds, setFeeds] = useState<readonly KnownFeed[]>(() => {
    const stored = readStored(key);
    return Array.isArray(stored) ? stored.filter(isFeed) : [];
  });
  const replace = (next: readonly KnownFeed[]) => {
    const kept = next.slice(0, LIMIT);
    setFeeds(kept);
    writeStored(key, kept.length === 0 ? undefined : kept);
  };
  return [feeds, replace];
}
