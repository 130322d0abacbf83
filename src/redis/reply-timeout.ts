/** Reason of a rejection by `withReplyTimeout`. */
export const TIMED_OUT = Symbol('timed out');

/** Number of parts of the time. A part counts once, however late its timer is. */
const PARTS = 10;

/**
 * Settles like the promise, or rejects with `TIMED_OUT`. Only time in which this process could have received the reply counts: on a busy
 * process, a timer fires before a reply is read that has been waiting in the socket all the time.
 *
 * @param milliseconds time to wait if the event loop isn't blocked
 */
export function withReplyTimeout<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    let left = PARTS;
    let timer: NodeJS.Timeout | undefined;
    let lastChance: NodeJS.Immediate | undefined;
    function waitForPart(): void {
      timer = setTimeout(() => {
        left -= 1;
        if (left > 0) {
          waitForPart();
        } else {
          lastChance = setImmediate(() => reject(TIMED_OUT)); // Immediates run after sockets were read.
        }
      }, milliseconds / PARTS);
    }
    waitForPart();
    promise.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      clearImmediate(lastChance);
    });
  });
}
