/** Faults of the upstream. */
export const FAULTS = ['503', '504', 'reset', 'slow', 'truncated'] as const;

export type Fault = (typeof FAULTS)[number];

/** Share of requests that fail with each fault. */
export type FaultRates = Readonly<Partial<Record<Fault, number>>>;

export const NO_FAULTS: FaultRates = {};
export const SOME_503: FaultRates = { '503': 0.1 };
export const MIXED_FAULTS: FaultRates = { '503': 0.02, '504': 0.02, reset: 0.02, slow: 0.02, truncated: 0.02 };
export const ONLY_503: FaultRates = { '503': 1 };

/** Returns the fault of a request, or undefined if it succeeds. */
export function pickFault(rates: FaultRates, random: number): Fault | undefined {
  let remaining = random;
  return FAULTS.find((fault) => {
    remaining -= rates[fault] ?? 0;
    return remaining < 0;
  });
}
