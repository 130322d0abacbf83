interface SkeletonProps {
  /** Name of the content being loaded. */
  label: string;
  /** @default 3 */
  rows?: number;
}

/** A placeholder for content being loaded. */
export function Skeleton({ label, rows = 3 }: SkeletonProps) {
  return (
    <div className="skeleton" role="status">
      <span className="visually-hidden">Loading {label}…</span>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
        <span key={row} className="skeleton-row" aria-hidden="true" />
      ))}
    </div>
  );
}
