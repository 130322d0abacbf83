// Slows down the clocks of a program that runs under valgrind. Loaded before it with `node --import`.

/**
 * Larger than the factor by which valgrind slows down the program: about 50, and more on a busy machine. Otherwise, work that happens per second
 * (writing the log, inspecting a sample of responses) would be counted for every request.
 */
const FACTOR = 1_000;

const { performance } = globalThis; // Each use of the global one calls a getter, which is no work of the program.
const { now } = performance;
performance.now = () => now.call(performance) / FACTOR;

const slow = <Start extends typeof setTimeout | typeof setInterval>(start: Start): Start =>
  new Proxy(start, {
    apply: (target, self, [callback, ms = 0, ...rest]) => Reflect.apply(target, self, [callback, ms * FACTOR, ...rest]),
  });
globalThis.setTimeout = slow(setTimeout);
globalThis.setInterval = slow(setInterval);
