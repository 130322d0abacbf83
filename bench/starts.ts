import { startSubject } from './processes.ts';
import { median } from './statistics.ts';
import { FROM_SOURCE, PACKAGED, type Subject } from './subjects.ts';

/** Number of starts of each kind. One more start before them fills the compile cache. */
const STARTS = 7;

/** Times from process start to first response, in milliseconds: medians. */
export interface StartFigures {
  packagedMs: number;
  sourceMs: number;
}

/** Measures both ways to start the gateway, in turns and with a warm compile cache. */
export async function measureStarts(
  upstream: string,
  folder: string,
  report: (line: string) => void,
): Promise<StartFigures> {
  const times = { packaged: [] as number[], source: [] as number[] };
  for (let start = 0; start <= STARTS; start += 1) {
    const packaged = await startOnce(PACKAGED, upstream, folder);
    const source = await startOnce(FROM_SOURCE, upstream, folder);
    if (start > 0) {
      times.packaged.push(packaged);
      times.source.push(source);
    }
    report(`start: packaged ${packaged.toFixed(0)} ms, from source ${source.toFixed(0)} ms`);
  }
  return { packagedMs: median(times.packaged), sourceMs: median(times.source) };
}

async function startOnce(subject: Subject, upstream: string, folder: string): Promise<number> {
  await using running = await startSubject(subject, upstream, folder);
  return running.startMs;
}
