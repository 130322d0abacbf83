// Shows links to the statistics of other periods, and reads the period from the address.

import { useRouteParam } from '../shell/routes.ts';
import { DAYS } from './day.ts';

/** The periods that can be chosen, in days. */
const RANGES = [7, DAYS, 90] as const;

/** Returns the number of days in the address, so that a period can be linked and survives reloading. Any other number is the default. */
export function useRange(): number {
  const given = useRouteParam('days');
  return RANGES.find((days) => String(days) === given) ?? DAYS;
}

/** Links to the statistics of other periods. */
export function RangeLinks({ days }: { days: number }) {
  return (
    <ul className="segments" aria-label="Period">
      {RANGES.map((range) => (
        <li key={range}>
          <a href={`#/statistics?days=${range}`} aria-current={range === days ? 'true' : undefined}>
            {range} days
          </a>
        </li>
      ))}
    </ul>
  );
}
