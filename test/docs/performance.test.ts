import { readFileSync } from 'node:fs';
import { buildSchema, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { createDocument } from '../../bench/documents.ts';
import { summarize } from '../../bench/figures.ts';
import { createReport } from '../../bench/report.ts';
import type { Results } from '../../bench/results.ts';
import { compareWithTargets } from '../../bench/targets.ts';
import { WORKLOADS } from '../../bench/workloads.ts';

it('the tables of the docs show the newest results', () => {
  for (const [path, content] of Object.entries(createReport())) {
    expect(readFileSync(path, 'utf8'), `${path}: run "node bench/report.ts"`).toBe(content);
  }
});

describe('documents that never repeat', () => {
  const documents = Array.from({ length: 500 }, (_, index) => createDocument(index));

  it('are valid', () => {
    const schema = buildSchema(readFileSync('schema/schema.graphql', 'utf8'));
    expect(documents.slice(0, 24).flatMap((document) => validate(schema, parse(document)))).toEqual([]);
  });

  it('have no name in common, so that a cache of normalized documents misses too', () => {
    const names = documents.flatMap((document) => [...new Set(document.match(/\b(?:Q\d+|a\w{6})\b/g))]);
    expect(names.length).toBe(500 * 12);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('starts of a subject', () => {
  const startWith = (...ratios: number[]) => ({
    floor: {
      rounds: ratios.map((ratio) => ({ cpuUs: 100 * ratio, perSecond: 1, p50Us: 1, p99Us: 1, calls: 1 })),
      ratios,
    },
  });

  it('count equally, whatever the number of their rounds', () => {
    const { subjects } = summarize('q1', WORKLOADS.q1, [startWith(1.2, 1.2, 1.2, 1.2), startWith(1.3), startWith(1.4)]);
    expect(subjects.floor?.figures).toMatchObject({ ratio: 1.3, cpuUs: 130, rounds: 6 });
    expect(subjects.floor?.figures?.spread).toBeCloseTo(0.2 / 1.3);
  });

  it('are void if they differ by more than a quarter', () => {
    const { subjects } = summarize('q1', WORKLOADS.q1, [startWith(1.2), startWith(1.3), startWith(1.6)]);
    expect(subjects.floor?.fault).toBe('spread of 31 %');
  });
});

describe('targets', () => {
  const figures = { rounds: 5, cpuUs: 100, perSecond: 1, p50Us: 1, p99Us: 1, calls: 1, ratio: 1.31, spread: 0 };
  const RESULTS: Results = {
    takenAt: '2026-01-01T00:00:00.000Z',
    minutes: 1,
    machine: { cpu: '', cores: 2, memory: 1, kernel: '', node: '' },
    revision: { commit: '', changed: false },
    settings: { rounds: 5, seconds: 1 },
    subjects: [],
    skipped: [],
    workloads: [
      {
        key: 'q1',
        title: '',
        judgedBy: 'cpu',
        subjects: {
          floor: { figures },
          notigraph: { figures },
          tailcall: { figures: { ...figures, cpuUs: 200 } },
        },
      },
      {
        key: 'q2',
        title: '',
        judgedBy: 'cpu',
        subjects: { floor: { figures }, notigraph: { figures, fault: 'spread' } },
      },
    ],
    instructions: { q1: 1.2 },
    latency: [
      { key: 'q1', rate: 1, subjects: {}, ratios: Array(10).fill(1.2), ratio: 1.2 },
      { key: 'm1', rate: 2, subjects: {}, ratios: [1.2], ratio: 1.2 },
    ],
    rest: {},
    starts: { packagedMs: 400 },
    mixed: {
      early: { requests: 100_000, ours: 200e6, floor: 130e6 },
      late: { requests: 300_000, ours: 210e6, floor: 180e6 },
      heap: 40e6,
      peak: { ours: 210e6, floor: 180e6 },
    },
    faults: [{ section: 'documents', reason: 'refused' }],
  };

  it.each([
    ['Q1 CPU time per request', 'missed', '1.31'],
    ['Q2 CPU time per request', 'void', '1.31'],
    ['Q3 CPU time per request', 'not measured', '—'],
    ['Q1 instructions per request', 'missed', '1.20'],
    ['M1 instructions per request', 'not measured', '—'],
    ['Q1 p99 at 1 requests per second', 'met', '1.20'],
    ['M1 p99 at 2 requests per second', 'void', '1.20'],
    ['resident memory under mixed load, above the floor’s', 'missed', '70 MB'],
    ['memory growth from 100000 to 300000 mixed requests', 'met', '5.0 %'],
    ['time to the first response, packaged', 'met', '400 ms'],
    ['CPU time per request of documents that never repeat', 'void', '—'],
  ])('%s: %s', (value, verdict, result) => {
    expect(compareWithTargets(RESULTS).find((row) => row.value === value)).toMatchObject({ verdict, result });
  });

  it('compare CPU time with Tailcall’s', () => {
    const rows = compareWithTargets(RESULTS).filter(({ target }) => target.endsWith('Tailcall'));
    expect(rows).toMatchObject([{ value: 'Q1 CPU time per request', verdict: 'met', result: '0.50' }]);
  });
});
