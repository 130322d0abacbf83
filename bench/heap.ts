// Measures the heap of subjects that run on Node.js.

import { once } from 'node:events';
import type { RunningSubject } from './processes.ts';
import type { Subject } from './subjects.ts';

const REPORTER = new URL('report-heap.ts', import.meta.url).href;

/** Returns a Node.js subject that reports its heap usage on request. @param flags additional Node.js flags */
export const withHeapReport = (subject: Subject, flags: readonly string[] = []): Subject => ({
  ...subject,
  command(settings) {
    const { args, ...command } = subject.command(settings);
    return { ...command, args: ['--expose-gc', ...flags, '--import', REPORTER, ...args], hasChannel: true };
  },
});

/** Returns the number of heap bytes in use. */
export async function heapBytes(
  { child }: RunningSubject,
  garbage: 'collect garbage' | 'keep garbage',
): Promise<number> {
  const answered = once(child, 'message');
  child.send(garbage);
  const [bytes] = await answered;
  return Number(bytes);
}
