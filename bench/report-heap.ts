// Reports the number of heap bytes in use to the parent process. Loaded before the gateway with `node --import`.

process.on('message', (question) => {
  if (question === 'collect garbage') {
    globalThis.gc?.();
  }
  process.send?.(process.memoryUsage().heapUsed);
});
process.channel?.unref(); // The channel must not keep the process alive.
