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

/** Returns the steps at which the cost grows faster than linearly. A step may be as steep as the floor's, because both depend on the same platform. */
export function findCliffs(curve: Curve): Step[] {
  const floor = new Map(stepsOf(curve, FLOOR.name).map((step) => [step.to, step]));
  return stepsOf(curve, OURS.name).filter(({ to, exponent, factor }) =>
    curve.expected === 'growing'
      ? exponent > Math.max(1, floor.get(to)?.exponent ?? 1) + EXPONENT_TOLERANCE
      : factor > Math.max(CLIFF_FACTOR, floor.get(to)?.factor ?? 1),
  );
}

/** Returns a sentence that says whether a curve is linear, and where it isn't. */
export function describeVerdict(curve: Curve): string {
  const { expected, points } = curve;
  const cliffs = findCliffs(curve).map(
    ({ from, to, factor }) => `from ${amountOf(from)} to ${amountOf(to)} (${factor.toFixed(1)} × per request)`,
  );
  if (cliffs.length > 0) {
    return `worse than linear ${cliffs.join(' and ')}`;
  }
  if (expected === 'growing') {
    return 'linear or better';
  }
  const costs = points.flatMap(({ costs }) => costs[OURS.name]?.cpuUs ?? []);
  return `linear: requests cost the same within ${(Math.max(...costs) / Math.min(...costs)).toFixed(1)} ×`;
}

const amountOf = (amount: number): string => amount.toLocaleString('en');
