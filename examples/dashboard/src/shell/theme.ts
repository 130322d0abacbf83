// Applies the colors that were chosen in this browser.

import { readStored, writeStored } from '../storage.ts';
import { createStore, type Store } from '../store.ts';

export const THEMES = ['system', 'light', 'dark'] as const;

/** The chosen colors; `system` follows the operating system. */
export type Theme = (typeof THEMES)[number];

const KEY = 'notigraph-dashboard:theme';

/** Creates the theme of this browser, which is applied, and kept for the next visit. */
export function createTheme(): Store<Theme> {
  const stored = readStored(KEY);
  const theme = createStore<Theme>(THEMES.find((candidate) => candidate === stored) ?? 'system');
  const apply = () => {
    document.documentElement.dataset.theme = theme.get();
  };
  apply();
  theme.subscribe(() => {
    apply();
    writeStored(KEY, theme.get() === 'system' ? undefined : theme.get());
  });
  return theme;
}
