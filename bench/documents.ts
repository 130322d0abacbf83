// Measures the CPU time of documents that never repeat, so that no cache of documents helps.

import { POPULATION, workflowId } from './ids.ts';
import { type RunningUpstream, startSubject } from './processes.ts';
import { createRequests } from './requests.ts';
import { type MeasureOptions, measureInTurns } from './rounds.ts';
import { median } from './statistics.ts';
import { OURS } from './subjects.ts';
import { WORKLOADS } from './workloads.ts';

/** CPU time per request of documents that never repeat. */
export interface DocumentFigures {
  /** Multiple of a repeated document's, for each round. */
  ratios: number[];
  /** Median of `ratios`. */
  ratio: number;
}

/** Longer than for other workloads: the caches must be full, so that each new document displaces an older one. */
const WARM_UP_SECONDS = 6;

const ALIAS_DIGITS = 6;

/**
 * Returns a document that selects the same fields as Q1, and differs from all others in its operation name, its aliases, the order of its
 * fields and an id. All responses have the same length.
 */
export function createDocument(index: number): string {
  let aliases = 0;
  const alias = (): string => {
    aliases += 1;
    return `a${(index * 32 + aliases).toString(36).padStart(ALIAS_DIGITS, '0')}`;
  };
  const field = (name: string): string => `${alias()}: ${name}`;
  const select = (...fields: string[]): string => {
    const turn = index % fields.length;
    return `{ ${[...fields.slice(turn), ...fields.slice(0, turn)].join(' ')} }`;
  };
  const template = `${field('template')} ${select(field('type'), field('content'), field('subject'))}`;
  const steps = `${field('steps')} ${select(field('name'), field('active'), template)}`;
  const workflow = select(field('name'), field('active'), field('tags'), steps);
  const id = workflowId(index % POPULATION);
  return `query Q${index} { ${field(`workflow(idOrIdentifier: "${id}")`)} ${index % 2 ? workflow : `{ ... on Workflow ${workflow} }`} }`;
}

/** Measures a new gateway with a repeated document and with a stream of new ones, in turns. */
export async function measureDocuments(
  upstream: RunningUpstream,
  folder: string,
  options: MeasureOptions,
): Promise<DocumentFigures> {
  await upstream.setLatency();
  await using running = await startSubject(OURS, upstream.url, folder);
  const { url } = running;
  let created = 0;
  const nextDocument = () => {
    created += 1;
    return createDocument(created);
  };
  const measured = await measureInTurns(
    'documents',
    WORKLOADS.q1,
    [
      { name: 'repeated', running, next: createRequests(url, OURS, WORKLOADS.q1) },
      { name: 'new', running, next: createRequests(url, OURS, { ...WORKLOADS.q1, nextDocument }) },
    ],
    upstream,
    { ...options, warmUpSeconds: WARM_UP_SECONDS },
  );
  const { ratios = [], fault } = measured.new ?? {};
  if (fault !== undefined) {
    throw new Error(fault);
  }
  return { ratios, ratio: median(ratios) };
}
