// Shows how old the data of a view is, and loads it again.

import { useEffect, useState, useSyncExternalStore } from 'react';
import { Button } from '../ui/button.tsx';
import { useKept } from './use-kept.ts';

/** State of a query, as far as it says how current the shown data is. */
export interface LoadState {
  fetching: boolean;
  stale: boolean;
  extensions?: Record<string, unknown> | undefined;
}

interface RefreshProps {
  result: LoadState;
  /** Name of the button, for screen readers. @default 'Refresh' */
  label?: string;
  onRefresh: () => void;
}

/** A reload that fails doesn't change the age. */
export function Refresh({ result, label, onRefresh }: RefreshProps) {
  const { fetching, stale, extensions } = result;
  const loadedAt = useKept(typeof extensions?.loadedAt === 'number' ? extensions.loadedAt : undefined);
  return (
    <span className="section-actions">
      {loadedAt !== undefined && <Updated at={loadedAt} />}
      <Button kind="quiet" isBusy={fetching || stale} onClick={onRefresh} aria-label={label}>
        Refresh
      </Button>
    </span>
  );
}

/** Time between two looks at the clock. */
const TICK_MS = 15_000;

/** Says how old the data is, and whether the browser is offline. */
function Updated({ at }: { at: number }) {
  const isOnline = useSyncExternalStore(subscribeToConnection, () => navigator.onLine);
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <span className="updated">
      {!isOnline && 'Offline. '}
      Updated <time dateTime={new Date(at).toISOString()}>{formatAge(at, Math.max(at, now))}</time>
    </span>
  );
}

function subscribeToConnection(listener: () => void): () => void {
  addEventListener('online', listener);
  addEventListener('offline', listener);
  return () => {
    removeEventListener('online', listener);
    removeEventListener('offline', listener);
  };
}

const FORMAT = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'short' });

/** Returns `just now`, `2 min ago` or `3 hr ago`. */
function formatAge(at: number, now: number): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) {
    return 'just now';
  }
  const text = minutes < 60 ? FORMAT.format(-minutes, 'minute') : FORMAT.format(-Math.floor(minutes / 60), 'hour');
  return text.replace('.', ''); // `min.` in English
}
