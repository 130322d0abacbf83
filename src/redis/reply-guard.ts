import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';

/** Maximum time for receiving a reply, in milliseconds. */
const MAX_RECEIVE_MS = 5_000;

/** Channel on which Node.js publishes new sockets of clients: https://nodejs.org/api/diagnostics_channel.html#net */
const NEW_SOCKET = 'net.client.socket';

/** The reply doesn't end. */
class EndlessReplyError extends Error {
  readonly code = 'ENDLESS_REPLY';
}

/**
 * Creates a guard that destroys a socket whose server sends a reply without end, which would keep the process busy and fill its memory. The
 * client of Redis has no limit, and hides its sockets.
 *
 * @param maxBytes maximum bytes without a complete reply
 */
export function createReplyGuard(maxBytes: number) {
  const context = new AsyncLocalStorage<object>();
  const store = {};
  let bytes = 0;
  let receivingSince: number | undefined;

  function reset(): void {
    bytes = 0;
    receivingSince = undefined;
  }

  function watch(socket: Socket): void {
    reset();
    socket.on('data', (chunk) => {
      const now = performance.now();
      bytes += chunk.length;
      receivingSince ??= now;
      if (bytes > maxBytes || now - receivingSince > MAX_RECEIVE_MS) {
        socket.destroy(new EndlessReplyError());
      }
    });
  }

  function onNewSocket(message: unknown): void {
    const socket = typeof message === 'object' && message !== null && 'socket' in message ? message.socket : undefined;
    if (socket instanceof Socket && context.getStore() === store) {
      watch(socket);
    }
  }

  subscribe(NEW_SOCKET, onNewSocket);
  return {
    /** Calls a function of the client. The sockets that it opens, also later in order to reconnect, are guarded. */
    run: <Result>(call: () => Result): Result => context.run(store, call),
    /** Reports a complete reply. */
    replied: reset,
    [Symbol.dispose]: () => void unsubscribe(NEW_SOCKET, onNewSocket),
  };
}
