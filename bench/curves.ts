import { FLOOR, OURS } from './subjects.ts';

/** Cost per request of one subject at one amount of work: medians over the rounds. */
export interface Cost {
  /** CPU time of all its processes per request. */
  cpuUs: number;
  perSecond: number;
  p99Us: number;
  /** Resident memory after the last round, in bytes. */
  rss: number;
}

/** Costs at one amount of work. */
export interface Point {
  amount: number;
  /** Costs by subject name. */
  costs: Record<string, Cost>;
}

/** Cost as a function of the amount of work. */
export interface Curve {
  key: string;
  title: string;
  /** Unit of the amount. */
  unit: string;
  /** Whether the work per request grows with the amount, or stays the same. */
  expected: 'growing' | 'flat';
  points: Point[];
}

/** Step from one amount to the next. */
export interface Step {
  from: number;
  to: number;
  /** Exponent of the growth: 0 is constant, 1 is linear. */
  exponent: number;
  /** Cost as a multiple of the previous one. */
  factor: number;
}

/** Exponents up to this much above 1 count as linear, because short measurements vary by a few percent. */
const EXPONENT_TOLERANCE = 0.1;

/** Factor above which a step of a flat curve is a cliff. */
const CLIFF_FACTOR = 1.5;

/** Returns the steps of one subject's curve whose ends were both measured. */
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
 * Returns whether the cost grows at most linearly, and its cliffs. A step may be as steep as the floor's, because both depend on the
 * same platform: for example, parsing JSON that no longer fits into the CPU's cache.
 */
export function judgeCurve(curve: Curve): { isLinear: boolean; cliffs: Step[] } {
  const floor = new Map(stepsOf(curve, FLOOR.name).map((step) => [step.to, step]));
  const isSteep = ({ to, exponent }: Step) => exponent > Math.max(1, floor.get(to)?.exponent ?? 1) + EXPONENT_TOLERANCE;
  const isJump = ({ factor }: Step) => factor > CLIFF_FACTOR;
  const steps = stepsOf(curve, OURS.name);
  return { isLinear: !steps.some(isSteep), cliffs: steps.filter(curve.expected === 'flat' ? isJump : isSteep) };
}

/** Describes the verdict on a curve. */
export function describeVerdict(curve: Curve): string {
  const { isLinear, cliffs } = judgeCurve(curve);
  const costs = curve.points.flatMap(({ costs }) => costs[OURS.name]?.cpuUs ?? []);
  const growth =
    curve.expected === 'flat'
      ? `the highest cost is ${(Math.max(...costs) / Math.min(...costs)).toFixed(2)} times the lowest`
      : isLinear
        ? 'linear or better'
        : 'worse than linear';
  const where = cliffs.map(({ from, to, factor }) => `from ${from} to ${to} (${factor.toFixed(1)} times the cost)`);
  return `${growth}, ${where.length === 0 ? 'no cliff' : `a cliff ${where.join(' and ')}`}`;
}
