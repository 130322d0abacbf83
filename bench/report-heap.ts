/**
 * Loaded into the gateway's process before the gateway (`node --import`): tells the process that started it how much of the heap is in use.
 * The channel between them keeps nothing alive.
 */
process.on('message', (question) => {
  if (question === 'collect garbage') {
    globalThis.gc?.();
  }
  process.send?.(process.memoryUsage().heapUsed);
});
process.channel?.unref();
