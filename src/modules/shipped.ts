// The modules of this package by their names, each loaded on demand.

import { listAny } from '../lib/words.ts';

const SHIPPED: Readonly<Record<string, () => Promise<unknown>>> = {
  'notigraph/modules/events': () => import('./shipped/events.ts'),
  'notigraph/modules/inbox': () => import('./shipped/inbox.ts'),
  'notigraph/modules/messages': () => import('./shipped/messages.ts'),
  'notigraph/modules/subscribers': () => import('./shipped/subscribers.ts'),
  'notigraph/modules/topics': () => import('./shipped/topics.ts'),
  'notigraph/modules/workflows': () => import('./shipped/workflows.ts'),
};

/** Names of the modules of this package, with which the sandbox starts. */
export const SHIPPED_MODULES = Object.keys(SHIPPED);

/**
 * Imports a module of this package. Returns undefined for the name of another one.
 *
 * @throws {TypeError} if this package has no such module
 */
export function loadShipped(name: string): Promise<unknown> | undefined {
  const load = SHIPPED[name];
  if (load === undefined && name.startsWith('notigraph/modules/')) {
    throw new TypeError(`${name} is not a module of Notigraph; use ${listAny(SHIPPED_MODULES)}`);
  }
  return load?.();
}
