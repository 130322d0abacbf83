import { useRouteParam } from '../shell/routes.ts';
import { DAYS } from './day.ts';

/** The periods that can be chosen, in days. */
export const RANGES = [7, DAYS, 90] as const;

/** Returns the address of the statistics of this many days, so that a period can be linked and survives reloading. */
export const rangeAddress = (days: number): string => `#/statistics?days=${days}`;

/** Returns the number of days in the address. Any other number is the default. */
export function useRange(): number {
  const given = useRouteParam('days');
  return RANGES.find((days) => String(days) === given) ?? DAYS;
}
