// Shows placeholders for content that is being loaded.

import type { ReactNode } from 'react';

interface SkeletonProps {
  /** Name of the content being loaded. */
  label: string;
  /** @default 3 */
  rows?: number;
  /** Class of the list that replaces it, for the same gaps. @default 'skeleton-list' */
  list?: string;
  /** One row, with the classes of the content that replaces it. @default a line of a control's height */
  children?: ReactNode;
}

/** A placeholder for content being loaded, as large as the content, so that nothing moves when it arrives. */
export function Skeleton({ label, rows = 3, list = 'skeleton-list', children }: SkeletonProps) {
  return (
    <div className={`skeleton ${list}`} role="status">
      <span className="visually-hidden">Loading {label}…</span>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
        <div key={row} aria-hidden="true">
          {children ?? <span className="skeleton-row" />}
        </div>
      ))}
    </div>
  );
}

/** A line of text in the making, as high as the text around it. */
export function SkeletonLine({ width }: { width: string }) {
  return (
    <span className="skeleton-line" style={{ width }}>
      {'\u200b'}
    </span>
  );
}
