import { createContext, use, useSyncExternalStore } from 'react';
import { createListeners } from '../listeners.ts';
import { readStored, writeStored } from '../storage.ts';

export const THEMES = ['system', 'light', 'dark'] as const;

/** The chosen colors; `system` follows the operating system. */
export type Theme = (typeof THEMES)[number];

const KEY = 'notigraph-dashboard:theme';

/** The theme of this browser. */
export interface ThemeStore {
  get(): Theme;
  /** Applies a theme and keeps it for the next visit. */
  set(theme: Theme): void;
  subscribe(listener: () => void): () => void;
}

/** Creates the store and applies the stored theme. */
export function createThemeStore(): ThemeStore {
  const { subscribe, notify } = createListeners();
  const stored = readStored(KEY);
  let theme = THEMES.find((candidate) => candidate === stored) ?? 'system';
  const apply = () => {
    document.documentElement.dataset.theme = theme;
  };
  apply();
  return {
    get: () => theme,
    set(next) {
      theme = next;
      apply();
      writeStored(KEY, theme === 'system' ? undefined : theme);
      notify();
    },
    subscribe,
  };
}

export const ThemeContext = createContext<ThemeStore | undefined>(undefined);

/** Returns the theme and a function to change it. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const store = use(ThemeContext);
  if (store === undefined) {
    throw new Error('There is no theme around this component.');
  }
  return [useSyncExternalStore(store.subscribe, store.get), store.set];
}
