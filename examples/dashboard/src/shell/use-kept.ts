import { useState } from 'react';

/** The last value that was there: what has been loaded stays on the screen when loading it again fails. */
export function useKept<T>(value: T | null | undefined): T | undefined {
  const [kept, setKept] = useState(value ?? undefined);
  if (value != null && value !== kept) {
    setKept(value);
  }
  return value ?? kept;
}
