import { useEffect } from 'react';

/** Names the view in the tab, the history, and to screen readers. */
export function useTitle(view: string): void {
  useEffect(() => {
    document.title = `${view} · Notigraph dashboard`;
  }, [view]);
}
