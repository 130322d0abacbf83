// Lets components show messages for a few seconds.

import { createContext, use } from 'react';
import { UNSTABLE_ToastQueue as ToastQueue } from 'react-aria-components/Toast';

/** Messages about what was done. Failures stay beside the form they concern. */
export type Toasts = ToastQueue<string>;

export const createToasts = (): Toasts => new ToastQueue<string>();

export const ToastsContext = createContext<Toasts | undefined>(undefined);

export function useToasts(): Toasts {
  const toasts = use(ToastsContext);
  if (toasts === undefined) {
    throw new Error('There are no toasts around this component.');
  }
  return toasts;
}

/** Time until a toast disappears. It stays while the pointer or the focus is on it. */
const TIMEOUT_MS = 6000;

/** Returns a function that shows a message for a few seconds, in place of an earlier one. */
export function useToast(): (message: string) => void {
  const toasts = useToasts();
  return (message) => {
    toasts.clear();
    toasts.add(message, { timeout: TIMEOUT_MS });
  };
}
