import type { Process } from './command.ts';

/** SIGHUP of this process, which no longer ends it. */
export interface Hangups {
  /** Handles each SIGHUP, and one that arrived before, until the result is disposed. Then they are ignored again. */
  handle(onHangup: () => void): Disposable;
}

/** Catches SIGHUP from now on: it must not end a process that is starting or shutting down. */
export function catchHangups(host: Process): Hangups {
  let isPending = false;
  const ignore = () => {
    isPending = true;
  };
  let handler = ignore;
  host.on('SIGHUP', () => handler());
  return {
    handle(onHangup) {
      handler = onHangup;
      const pending = setImmediate(() => isPending && onHangup()); // When the caller handles the other signals too.
      return {
        [Symbol.dispose]() {
          clearImmediate(pending);
          handler = ignore;
        },
      };
    },
  };
}
