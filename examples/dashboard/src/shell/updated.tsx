import { useEffect, useState, useSyncExternalStore } from 'react';
import { formatAge } from './format-age.ts';

/** Time between two looks at the clock. */
const TICK_MS = 15_000;

/** Says how old the shown data is, without loading it again, and whether the browser is offline. */
export function Updated({ at }: { at: number | undefined }) {
  const isOnline = useSyncExternalStore(subscribeToConnection, () => navigator.onLine);
  const now = useNow();
  if (at === undefined) {
    return null;
  }
  return (
    <span className="updated">
      {!isOnline && 'Offline. '}
      Updated <time dateTime={new Date(at).toISOString()}>{formatAge(at, Math.max(at, now))}</time>
    </span>
  );
}

function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

function subscribeToConnection(listener: () => void): () => void {
  addEventListener('online', listener);
  addEventListener('offline', listener);
  return () => {
    removeEventListener('online', listener);
    removeEventListener('offline', listener);
  };
}
