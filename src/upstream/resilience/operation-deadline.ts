import { Abort, type Signal } from '../transport/signal.ts';
import { timeoutError } from './abortable.ts';

/** When the calls of one operation have to end. */
export interface OperationDeadline {
  /** Aborted when the caller is gone or the deadline passes, while a call runs. */
  readonly signal: Signal;
  /** Returns why no call may start any more: the deadline has passed or the caller is gone; undefined while they may. */
  endReason(): { reason: DOMException } | undefined;
  /** A call starts: the timer and the caller's signal are watched while any runs. */
  enter(): void;
  /** It has ended. */
  leave(): void;
}

/** Not the caller's own reason: it may be a time limit of its own, which is not the operation's deadline. */
const callerLeft = (): DOMException => new DOMException('The caller has left.', 'AbortError');

/** @param deadlineAt on the clock of `performance.now()` */
export function createOperationDeadline(caller: Signal, deadlineAt: number): OperationDeadline {
  const signal = new Abort();
  const follow = () => signal.abort(callerLeft());
  const expire = () => signal.abort(timeoutError());
  let running = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    signal,
    endReason() {
      if (caller.aborted) {
        return { reason: callerLeft() };
      }
      return performance.now() >= deadlineAt ? { reason: timeoutError() } : undefined;
    },
    enter() {
      running += 1;
      if (running === 1) {
        timer = setTimeout(expire, deadlineAt - performance.now());
        caller.addEventListener('abort', follow, { once: true });
      }
    },
    leave() {
      running -= 1;
      if (running === 0) {
        clearTimeout(timer);
        caller.removeEventListener('abort', follow);
      }
    },
  };
}
