/**
 * Loaded before the gateway with `node --import`. Responds to messages of the parent process with the number of heap bytes in use.
 * The IPC channel doesn't keep the process alive.
 */
process.on('message', (question) => {
  if (question === 'collect garbage') {
    globalThis.gc?.();
  }
  process.send?.(process.memoryUsage().heapUsed);
});
process.channel?.unref();
