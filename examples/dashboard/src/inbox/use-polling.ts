// Calls a function again and again, but not while the page is hidden.

import { useEffect, useEffectEvent } from 'react';

/** Time between two looks for new messages; docs/inbox.md says why. */
const INTERVAL_MS = 30_000;

/** When the page is shown again, the function is called at once. */
export function usePolling(load: () => void): void {
  const poll = useEffectEvent(() => {
    if (!document.hidden) {
      load();
    }
  });
  useEffect(() => {
    const onTime = () => poll();
    const timer = setInterval(onTime, INTERVAL_MS);
    document.addEventListener('visibilitychange', onTime);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', onTime);
    };
  }, []);
}
