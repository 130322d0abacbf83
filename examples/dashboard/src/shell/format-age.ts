const FORMAT = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'short' });

/** Returns `just now`, `2 min ago` or `3 hr ago`. */
export function formatAge(at: number, now: number): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) {
    return 'just now';
  }
  const text = minutes < 60 ? FORMAT.format(-minutes, 'minute') : FORMAT.format(-Math.floor(minutes / 60), 'hour');
  return text.replace('.', ''); // `min.` in English
}
