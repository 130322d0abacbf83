// Pauses the thread.

/** Blocks the thread for a time, in milliseconds. Only for writes that must not be left to a later turn of the event loop. */
export function pauseSync(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
