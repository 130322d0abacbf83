import { FLOOR, OURS } from './subjects.ts';

/** What a request costs one subject at one amount of work; medians over the rounds. */
export interface Cost {
  /** CPU time of all its processes for a request. */
  cpuUs: number;
  perSecond: number;
  p99Us: number;
  /** Resident after the last round, in bytes. */
  rss: number;
}

export interface Point {
  amount: number;
  /** By the name of the subject. */
  costs: Record<string, Cost>;
}

/** How cost goes with amount. */
export interface Curve {
  key: string;
  title: string;
  /** What the amount counts. */
  unit: string;
  /** Whether a request has more to do at a larger amount, or the same among more of its kind. */
  expected: 'growing' | 'flat';
  points: Point[];
}

/** From one amount to the next. */
export interface Step {
  from: number;
  to: number;
  /** Cost grows like the amount to the power of this: 0 not at all, 1 linearly. */
  exponent: number;
  /** The cost as a multiple of the one before. */
  factor: number;
}

/** Figures of a few seconds differ by some percent: so much more than 1 is still linear. */
const EXPONENT_TOLERANCE = 0.1;

/** A step of a flat curve that costs more than this many times the one before is a cliff. */
const CLIFF_FACTOR = 1.5;

/** The steps of one subject's curve, where both ends were measured. */
export function stepsOf({ points }: Curve, subject: string): Step[] {
  const measured = points.flatMap(({ amount, costs }) => {
    const cpuUs = costs[subject]?.cpuUs;
    return cpuUs === undefined ? [] : [{ amount, cpuUs }];
  });
  return measured.slice(1).map(({ amount, cpuUs }, index) => {
    const { amount: from, cpuUs: before } = measured[index] ?? { amount, cpuUs };
    const factor = cpuUs / before;
    return { from, to: amount, factor, exponent: Math.log(factor) / Math.log(amount / from) };
  });
}

/**
 * Says whether the cost grows no faster than the amount, and where it jumps. What the floor does too lies in what both stand on:
 * parsing JSON that no longer fits into a cache, for one.
 */
export function judgeCurve(curve: Curve): { isLinear: boolean; cliffs: Step[] } {
  const floor = new Map(stepsOf(curve, FLOOR.name).map((step) => [step.to, step]));
  const isSteep = ({ to, exponent }: Step) => exponent > Math.max(1, floor.get(to)?.exponent ?? 1) + EXPONENT_TOLERANCE;
  const isJump = ({ factor }: Step) => factor > CLIFF_FACTOR;
  const steps = stepsOf(curve, OURS.name);
  return { isLinear: !steps.some(isSteep), cliffs: steps.filter(curve.expected === 'flat' ? isJump : isSteep) };
}

/** The judgement in words. */
export function sayVerdict(curve: Curve): string {
  const { isLinear, cliffs } = judgeCurve(curve);
  const costs = curve.points.flatMap(({ costs }) => costs[OURS.name]?.cpuUs ?? []);
  const growth =
    curve.expected === 'flat'
      ? `the dearest costs ${(Math.max(...costs) / Math.min(...costs)).toFixed(2)} times the cheapest`
      : isLinear
        ? 'linear or better'
        : 'worse than linear';
  const where = cliffs.map(({ from, to, factor }) => `from ${from} to ${to} (${factor.toFixed(1)} times the cost)`);
  return `${growth}, ${where.length === 0 ? 'no cliff' : `a cliff ${where.join(' and ')}`}`;
}
