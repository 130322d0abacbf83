// Reads the view and its parameters from the address of the page.

import { useSyncExternalStore } from 'react';

/** The views, as they are named in the address and in the navigation. */
export const ROUTES = [
  { name: 'statistics', label: 'Statistics' },
  { name: 'workflows', label: 'Workflows' },
  { name: 'groups', label: 'Groups' },
  { name: 'feeds', label: 'Feeds' },
  { name: 'messages', label: 'Messages' },
  { name: 'subscribers', label: 'Subscribers' },
] as const;

export type RouteName = (typeof ROUTES)[number]['name'];

function subscribe(listener: () => void): () => void {
  const onChange = () => {
    correctAddress();
    listener();
  };
  correctAddress();
  addEventListener('hashchange', onChange);
  return () => removeEventListener('hashchange', onChange);
}

/** Splits `#/statistics?days=7` into `#/statistics` and `days=7`. */
const readAddress = (): [path: string, params: string | undefined] => {
  const [path = '', params] = location.hash.split('?');
  return [path, params];
};

/** `#/groups` is the view "groups"; an address that names none is the first view. */
const readRoute = (): RouteName => ROUTES.find(({ name }) => readAddress()[0] === `#/${name}`)?.name ?? 'statistics';

/** An address that names no view, such as `#/nonsense`, becomes that of the view that is shown. */
function correctAddress(): void {
  const address = `#/${readRoute()}`;
  if (location.hash !== '' && readAddress()[0] !== address) {
    history.replaceState(null, '', address);
  }
}

/** The next person begins at the first view; to be called when no view is shown any more. */
export const forgetRoute = (): void => history.replaceState(null, '', location.pathname + location.search);

export const useRoute = (): RouteName => useSyncExternalStore(subscribe, readRoute);

/** Returns a parameter of the address: `7` is `days` of `#/statistics?days=7`. */
export const useRouteParam = (name: string): string | null =>
  useSyncExternalStore(subscribe, () => new URLSearchParams(readAddress()[1]).get(name));
