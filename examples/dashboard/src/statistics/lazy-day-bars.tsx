// Loads the chart separately from the rest of the app.

import { lazy } from 'react';

/** Loads the chart with its library, which is as large as the rest of the app. */
export const loadDayBars = () =>
  import('./day-bars.tsx').then(
    ({ DayBars }) => ({ default: DayBars }),
    () => ({ default: NoChart }),
  );

export const LazyDayBars = lazy(loadDayBars);

function NoChart() {
  return <p className="muted">The chart could not be loaded. Reload the page to try again.</p>;
}
