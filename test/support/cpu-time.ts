// Measures the CPU time of a function, which other processes don't change.

/** Runs a function. Returns its result and the CPU time of this thread meanwhile, in milliseconds. */
export async function measureCpu<T>(run: () => T | Promise<T>): Promise<{ result: T; cpuMs: number }> {
  const before = process.threadCpuUsage();
  const result = await run();
  const { user, system } = process.threadCpuUsage(before);
  return { result, cpuMs: (user + system) / 1_000 };
}
