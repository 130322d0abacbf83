import type { Endpoint } from '../errors/errors.ts';
import { type Deviation, inspect, shapeOf } from './find-deviations.ts';

/** Called for every deviation that is found, once per place and inspected response. */
export type ReportDeviation = (endpoint: Endpoint, deviation: Deviation) => void;

/** Inspects the body of a successful response to a credential, unless its endpoint has used up its budget. */
export type DriftCheck = (endpoint: Endpoint, body: unknown, authorization: string) => void;

/**
 * Values per second and endpoint that are inspected. A value takes about 0.1 µs, so all eleven endpoints with a body together take at most
 * 0.9 % of a core. It is enough for 14 workflows of 8 KB per second, or 450 groups.
 */
const VALUES_PER_SECOND = 8_000;

/** Maximum unused budget, in values. The first responses, and those after a pause, are all inspected: about 180 workflows. */
const MAX_BUDGET = 100_000;

/** Maximum values inspected at once, which take 0.5 ms. */
const MAX_VALUES = 5_000;

/** Maximum items of a list inspected at once. */
const MAX_ITEMS = 100;

/** Distance between the first items of consecutive inspections. It is below `MAX_ITEMS`, so that every item gets its turn. */
const ITEM_STEP = 97;

/** Values of an endpoint that may be inspected. */
class Budget {
  /** Negative after a response that was larger than the budget. */
  #values = MAX_BUDGET;
  #refilledAt: number;
  /** Position at which the next inspection of a long list starts. */
  firstItem = 0;

  constructor(now: number) {
    this.#refilledAt = now;
  }

  /** Whether anything may be inspected now. */
  isLeft(now: number): boolean {
    this.#values = Math.min(MAX_BUDGET, this.#values + ((now - this.#refilledAt) / 1_000) * VALUES_PER_SECOND);
    this.#refilledAt = now;
    return this.#values > 0;
  }

  spend(values: number): void {
    this.#values -= values;
  }
}

/**
 * Creates the check that compares responses with the contract. Inspecting every response would cost a sixth of the CPU time of a request,
 * so each endpoint has a budget. Slow traffic is inspected completely, and of fast traffic a sample.
 *
 * @param now monotonic clock, in milliseconds
 */
export function createDriftCheck(report: ReportDeviation, now: () => number = () => performance.now()): DriftCheck {
  const budgets = new Map<string, Map<string, Budget>>();

  function budgetOf({ method, route }: Endpoint, time: number): Budget {
    let methods = budgets.get(route);
    if (methods === undefined) {
      methods = new Map();
      budgets.set(route, methods);
    }
    let budget = methods.get(method);
    if (budget === undefined) {
      budget = new Budget(time);
      methods.set(method, budget);
    }
    return budget;
  }

  return (endpoint, body, authorization) => {
    const shape = shapeOf(endpoint);
    if (shape === undefined) {
      return;
    }
    const time = now();
    const budget = budgetOf(endpoint, time);
    if (!budget.isLeft(time)) {
      return;
    }
    const { firstItem } = budget;
    const sample = { maxValues: MAX_VALUES, maxItems: MAX_ITEMS, firstItem };
    const { deviations, values } = inspect(body, shape, sample, authorization);
    budget.firstItem = firstItem + ITEM_STEP;
    budget.spend(values);
    for (const deviation of deviations) {
      report(endpoint, deviation);
    }
  };
}
