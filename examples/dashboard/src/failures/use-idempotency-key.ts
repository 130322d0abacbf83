import { useRef } from 'react';
import type { Failure } from './failure.ts';

/** Idempotency keys: the service applies a repeated request only once. */
export interface IdempotencyKeys {
  /** Returns a new key, or the key of the same input if its outcome is unknown. */
  keyFor(input: string): string;
  /** Records the outcome of the request: a key with a known outcome is not used again. */
  settle(failure: Failure | undefined): void;
}

export function useIdempotencyKey(): IdempotencyKeys {
  const last = useRef<{ input: string; key: string }>(undefined);
  return {
    keyFor(input) {
      if (last.current?.input !== input) {
        last.current = { input, key: crypto.randomUUID() };
      }
      return last.current.key;
    },
    settle(failure) {
      if (!failure?.isUncertain) {
        last.current = undefined;
      }
    },
  };
}
