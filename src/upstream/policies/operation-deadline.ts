import { Abort, type Signal, timeoutError } from '../signal.ts';

/** Deadline of all calls of one operation. */
export interface OperationDeadline {
  /** Aborted if the client disconnects or the deadline passes while a call is in flight. */
  readonly signal: Signal;
  /** Returns the reason if no more calls may start, because the deadline has passed or the client has disconnected. */
  endReason(): { reason: DOMException } | undefined;
  /** Called before a call starts. Timer and listener exist only while calls are in flight. */
  startCall(): void;
  /** Called when a call has ended. */
  endCall(): void;
}

/** Creates the reason for a disconnect. The caller's own reason could be a `TimeoutError`, which would look like the deadline. */
const clientDisconnected = (): DOMException => new DOMException('The client has disconnected.', 'AbortError');

/**
 * Creates the deadline of one operation.
 *
 * @param caller aborted when the client disconnects
 * @param deadlineAt time on the clock of `performance.now()`
 */
export function createOperationDeadline(caller: Signal, deadlineAt: number): OperationDeadline {
  const signal = new Abort();
  const onDisconnect = () => signal.abort(clientDisconnected());
  const onTimeout = () => signal.abort(timeoutError());
  let running = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    signal,
    endReason() {
      if (caller.aborted) {
        return { reason: clientDisconnected() };
      }
      return performance.now() >= deadlineAt ? { reason: timeoutError() } : undefined;
    },
    startCall() {
      running += 1;
      if (running === 1) {
        timer = setTimeout(onTimeout, deadlineAt - performance.now());
        caller.addEventListener('abort', onDisconnect, { once: true });
      }
    },
    endCall() {
      running -= 1;
      if (running === 0) {
        clearTimeout(timer);
        caller.removeEventListener('abort', onDisconnect);
      }
    },
  };
}
