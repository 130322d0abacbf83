import { useState } from 'react';

/** Returns the last defined value, so that loaded data stays on the screen if reloading fails. */
export function useKept<T>(value: T | null | undefined): T | undefined {
  const [kept, setKept] = useState(value ?? undefined);
  if (value != null && value !== kept) {
    setKept(value);
  }
  return value ?? kept;
}
