/** What can go wrong with a request at the upstream. */
export const FAULTS = ['503', '504', 'reset', 'slow', 'truncated'] as const;

export type Fault = (typeof FAULTS)[number];

/** The share of requests that each fault befalls. */
export type Weather = Readonly<Partial<Record<Fault, number>>>;

export const FAIR: Weather = {};
export const BUSY_SIGNAL: Weather = { '503': 0.1 };
export const MIXED: Weather = { '503': 0.02, '504': 0.02, reset: 0.02, slow: 0.02, truncated: 0.02 };
export const DOWN: Weather = { '503': 1 };

/** The fault of one request; undefined: it is answered as it should be. */
export function pickFault(weather: Weather, random: number): Fault | undefined {
  let rest = random;
  return FAULTS.find((fault) => {
    rest -= weather[fault] ?? 0;
    return rest < 0;
  });
}
