import { POPULATION } from './ids.ts';
import type { MeasureOptions } from './measure.ts';
import { measureLoad } from './measure-load.ts';
import { type RunningUpstream, startSubject } from './processes.ts';
import { createRequests, type Outgoing, requestBody, requestHead } from './requests.ts';
import { median } from './statistics.ts';
import { OURS } from './subjects.ts';
import { createDocument } from './unique-document.ts';
import { DEFAULT_SETTINGS } from './upstream/settings.ts';
import { WORKLOADS } from './workloads.ts';

/** CPU time per request of a repeated document and of documents that never repeat: medians over the rounds. */
export interface DocumentFigures {
  repeatedUs: number;
  uniqueUs: number;
  /** Unique as a multiple of repeated, for each round. */
  ratios: number[];
  /** Median of `ratios`. */
  ratio: number;
}

/** Longer than for other workloads: the caches must be full, so that each new document displaces an older one. */
const WARM_UP_SECONDS = 6;

/** Returns a function that creates requests with a new document each. */
function createUnique(url: string): (index: number) => Outgoing {
  const heads: Buffer[] = [];
  let created = 0;
  return () => {
    created += 1;
    const body = JSON.stringify({ query: createDocument(created) });
    const credential = created % POPULATION;
    heads[credential] ??= requestHead(url, {}, credential);
    return { kind: 'new', bytes: Buffer.concat([heads[credential], requestBody(body)]) };
  };
}

/** Measures a new gateway with a repeated document and with a stream of new ones, in turns. */
export async function measureDocuments(
  upstream: RunningUpstream,
  folder: string,
  { rounds, seconds, report }: MeasureOptions,
): Promise<DocumentFigures> {
  await upstream.apply(DEFAULT_SETTINGS);
  await using running = await startSubject(OURS, upstream.url, folder);
  const { url } = running;
  const { connections } = WORKLOADS.q1;
  const measure = async (next: (index: number, connection: number) => Outgoing, duration: number) =>
    (await measureLoad(running, upstream, { connections, seconds: duration, next })).cpuUs;
  const repeated = createRequests(url, WORKLOADS.q1, OURS.requests.q1 ?? {});
  const unique = createUnique(url);
  await measure(repeated, WARM_UP_SECONDS);
  await measure(unique, WARM_UP_SECONDS);
  const turns: { repeatedUs: number; uniqueUs: number }[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const turn = { repeatedUs: await measure(repeated, seconds), uniqueUs: await measure(unique, seconds) };
    turns.push(turn);
    report(
      `documents round ${round} of ${rounds}: ${turn.repeatedUs.toFixed(0)} µs repeated, ${turn.uniqueUs.toFixed(0)} µs new`,
    );
  }
  const ratios = turns.map(({ repeatedUs, uniqueUs }) => uniqueUs / repeatedUs);
  return {
    repeatedUs: median(turns.map(({ repeatedUs }) => repeatedUs)),
    uniqueUs: median(turns.map(({ uniqueUs }) => uniqueUs)),
    ratios,
    ratio: median(ratios),
  };
}
