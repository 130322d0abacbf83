import { useRef } from 'react';
import type { Failure } from './failure.ts';

/** Keys by which the service carries out a repeated request once. */
export interface IdempotencyKeys {
  /** A new key, or that of the same input whose outcome is not known. */
  keyFor(input: string): string;
  /** What became of the request: a key that the service has answered for is not used again. */
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
