import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { createCondition } from '../../lib/condition.ts';

/** Requests of a client that are not answered yet. */
export interface PendingRequests {
  /** Returns a transport that does the same as another one, and keeps track of its requests. Calls `onClose` when it closes. */
  watch(transport: Transport, onClose: () => void): Transport;
  /** Resolves once all requests received so far are answered or cancelled. */
  answered(): Promise<void>;
}

/** Creates the record of requests, which is empty. */
export function createPendingRequests(): PendingRequests {
  const pending = new Set<unknown>();
  const allAnswered = createCondition(() => pending.size === 0);

  function remove(id: unknown): void {
    pending.delete(id);
    allAnswered.check();
  }

  function onReceived(message: JSONRPCMessage): void {
    if ('method' in message && 'id' in message) {
      pending.add(message.id);
    } else if ('method' in message && message.method === 'notifications/cancelled') {
      remove(message.params?.requestId); // It gets no response.
    }
  }

  return {
    watch(inner, onClose) {
      const outer: Transport = {
        start() {
          inner.onmessage = (message, extra) => {
            onReceived(message);
            outer.onmessage?.(message, extra);
          };
          inner.onerror = (error) => outer.onerror?.(error);
          inner.onclose = () => {
            outer.onclose?.();
            onClose();
          };
          return inner.start();
        },
        async send(message, options) {
          await inner.send(message, options);
          if (!('method' in message)) {
            remove(message.id);
          }
        },
        close: () => inner.close(),
      };
      return outer;
    },
    answered: allAnswered.met,
  };
}
