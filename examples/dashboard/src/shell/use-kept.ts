// Keeps loaded data on the screen if reloading fails.

import { useState } from 'react';

/** Returns the last defined value. */
export function useKept<T>(value: T | null | undefined): T | undefined {
  const [kept, setKept] = useState(value ?? undefined);
  if (value != null && value !== kept) {
    setKept(value);
  }
  return value ?? kept;
}
