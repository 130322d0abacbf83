import { useState } from 'react';
import { readStored, writeStored } from '../storage.ts';
import { useWho } from './session-context.ts';

/** A short list that this browser keeps for the signed-in person: what the service can't list. */
export interface Remembered<Item> {
  readonly items: readonly Item[];
  replace(items: readonly Item[]): void;
}

/** Items that a list keeps; the oldest are forgotten. */
const LIMIT = 20;

/**
 * @param name unique for each list
 * @param isItem tells items from anything else that somebody may have stored
 */
export function useRemembered<Item>(name: string, isItem: (value: unknown) => value is Item): Remembered<Item> {
  const { tenant, person } = useWho();
  const key = `notigraph-dashboard:${tenant}:${person}:${name}`;
  const [items, setItems] = useState<readonly Item[]>(() => {
    const stored = readStored(key);
    return Array.isArray(stored) ? stored.filter(isItem) : [];
  });
  return {
    items,
    replace(next) {
      const kept = next.slice(0, LIMIT);
      setItems(kept);
      writeStored(key, kept.length === 0 ? undefined : kept);
    },
  };
}
