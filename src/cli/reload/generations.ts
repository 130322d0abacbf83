import type { RequestListener } from 'node:http';
import type { Gateway } from '../../gateway.ts';

/** Gateways of this process: the one that handles new requests, and those that it replaced, until their requests have ended. */
export interface Generations extends AsyncDisposable {
  /** Passes each request to the current gateway. */
  listener: RequestListener;
  /** Returns the gateway that handles new requests. */
  current(): Gateway;
  /** Returns the bytes of upstream responses that any of the gateways is receiving. */
  bufferedBytes(): number;
  /** Replaces the current gateway. Its requests finish on it. */
  replace(next: Gateway): void;
}

/** Creates the first generation. All gateways are disposed with it. */
export function createGenerations(first: Gateway): Generations {
  let current = first;
  const disposals = new Map<Gateway, Promise<void>>();

  const dispose = (gateway: Gateway) => gateway.dispose().finally(() => disposals.delete(gateway));
  return {
    listener: (request, response) => current.listener(request, response),
    current: () => current,
    bufferedBytes: () => [current, ...disposals.keys()].reduce((sum, gateway) => sum + gateway.bufferedBytes(), 0),
    replace(next) {
      disposals.set(current, dispose(current));
      current = next;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([dispose(current), ...disposals.values()]);
    },
  };
}
