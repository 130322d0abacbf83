// Measures the CPU time and memory of processes with all their descendants, from `/proc`.

import { readdirSync, readFileSync } from 'node:fs';

/** Unit of CPU time in `/proc`: a hundredth of a second. */
const TICK_US = 10_000;

/** Returns user and system CPU time of a process and its descendants so far, including ended children, in microseconds. */
export const cpuUs = (pid: number): number =>
  sum(processTree(pid), (member) => TICK_US * sum((fieldsOf(member) ?? []).slice(11, 15), Number));

/** Returns the resident memory of a process and its descendants, in bytes. */
export const rssBytes = (pid: number): number => sum(processTree(pid), (member) => statusOf(member, 'VmRSS'));

/** Returns the peak resident memory of a process and its descendants, in bytes: the sum of their individual peaks. */
export const peakRssBytes = (pid: number): number => sum(processTree(pid), (member) => statusOf(member, 'VmHWM'));

/** Returns the ids of a process and all its descendants. */
function processTree(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    const parent = /^\d+$/.test(entry) ? Number(fieldsOf(Number(entry))?.[1]) : undefined;
    if (parent !== undefined) {
      children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
    }
  }
  const family = [pid];
  for (const member of family) {
    family.push(...(children.get(member) ?? []));
  }
  return family;
}

/** Returns the fields of /proc/<pid>/stat from the third on (state, parent, …); undefined if the process has ended. */
function fieldsOf(pid: number): string[] | undefined {
  const text = read(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

const statusOf = (pid: number, field: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(read(`/proc/${pid}/status`) ?? '')?.[1] ?? 0) * 1024;

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // The process has ended.
  }
}

const sum = <T>(items: readonly T[], amountOf: (item: T) => number): number =>
  items.reduce((total, item) => total + amountOf(item), 0);
