import { Abort, type Signal } from './signal.ts';
import { timeIsOver } from './time-limit.ts';

/** When the calls of one operation have to end. */
export interface OperationTime {
  /** Aborted when the caller is gone or the deadline passes, while a call runs. */
  readonly signal: Signal;
  /** Whether the deadline has passed or the caller is gone. */
  isOver(): boolean;
  /** A call starts: the timer and the caller's signal are watched while any runs. */
  enter(): void;
  /** It has ended. */
  leave(): void;
}

/** @param deadlineAt on the clock of `performance.now()` */
export function createOperationTime(caller: Signal, deadlineAt: number): OperationTime {
  const signal = new Abort();
  const follow = () => signal.abort(caller.reason);
  const expire = () => signal.abort(timeIsOver());
  let running = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    signal,
    isOver: () => caller.aborted || performance.now() >= deadlineAt,
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
