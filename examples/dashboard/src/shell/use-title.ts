// Names the view in the tab, the history, and to screen readers.

import { useEffect } from 'react';

export function useTitle(view: string): void {
  useEffect(() => {
    document.title = `${view} · Notigraph dashboard`;
  }, [view]);
}
