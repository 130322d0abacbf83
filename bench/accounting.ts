import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts a process's CPU time in hundredths of a second for everybody. */
const TICK_US = 10_000;

/** CPU time of a process and its descendants so far, in microseconds: user and system, and that of children that have ended. */
export const cpuUs = (pid: number): number =>
  sum(familyOf(pid), (member) => TICK_US * sum((fieldsOf(member) ?? []).slice(11, 15), Number));

/** Memory of a process and its descendants that is resident now, in bytes. */
export const rssBytes = (pid: number): number => sum(familyOf(pid), (member) => statusOf(member, 'VmRSS'));

/** The most that has been resident since they started; of several processes, each at its own time. */
export const peakRssBytes = (pid: number): number => sum(familyOf(pid), (member) => statusOf(member, 'VmHWM'));

/** A process with its children, theirs, and so on. */
function familyOf(pid: number): number[] {
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

/** The fields of /proc/<pid>/stat from the third on (state, parent, …); undefined: there is no such process any more. */
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
    return undefined; // It has ended meanwhile.
  }
}

const sum = <T>(items: readonly T[], amountOf: (item: T) => number): number =>
  items.reduce((total, item) => total + amountOf(item), 0);
