/** Formats a number: `10,000`. */
export const formatCount = (count: number): string => count.toLocaleString('en-US');

/** Formats a number with its noun: `1 row`, `10,000 rows`. */
export const formatRows = (count: number): string => `${formatCount(count)} ${count === 1 ? 'row' : 'rows'}`;

/** Formats a duration: `45 s`, `12 min`, `2 h 5 min`. */
export function formatDuration(seconds: number): string {
  if (seconds < 100) {
    return `${Math.ceil(seconds)} s`;
  }
  const minutes = Math.round(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
