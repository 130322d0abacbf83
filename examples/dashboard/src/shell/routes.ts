import { useSyncExternalStore } from 'react';

/** The views, as they are named in the address and in the navigation. */
export const ROUTES = [
  { name: 'statistics', label: 'Statistics' },
  { name: 'workflows', label: 'Workflows' },
  { name: 'groups', label: 'Groups' },
  { name: 'subscribers', label: 'Subscribers' },
] as const;

export type RouteName = (typeof ROUTES)[number]['name'];

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

/** `#/groups` is the view "groups"; an address that names none is the first view. */
const readRoute = (): RouteName => ROUTES.find(({ name }) => location.hash === `#/${name}`)?.name ?? 'statistics';

export const useRoute = (): RouteName => useSyncExternalStore(subscribe, readRoute);
