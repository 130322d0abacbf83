import { RANGES, rangeAddress } from './range.ts';

/** Links to the statistics of other periods. */
export function RangeLinks({ days }: { days: number }) {
  return (
    <ul className="segments" aria-label="Period">
      {RANGES.map((range) => (
        <li key={range}>
          <a href={rangeAddress(range)} aria-current={range === days ? 'true' : undefined}>
            {range} days
          </a>
        </li>
      ))}
    </ul>
  );
}
