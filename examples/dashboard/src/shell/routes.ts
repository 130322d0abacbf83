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

/** `#/groups` is the view "groups"; an address that names none is the first view. */
const readRoute = (): RouteName => ROUTES.find(({ name }) => location.hash === `#/${name}`)?.name ?? 'statistics';

/** An address that names no view, such as `#/nonsense`, becomes that of the view that is shown. */
function correctAddress(): void {
  const address = `#/${readRoute()}`;
  if (location.hash !== '' && location.hash !== address) {
    history.replaceState(null, '', address);
  }
}

/** The next person begins at the first view; to be called when no view is shown any more. */
export const forgetRoute = (): void => history.replaceState(null, '', location.pathname + location.search);

export const useRoute = (): RouteName => useSyncExternalStore(subscribe, readRoute);
