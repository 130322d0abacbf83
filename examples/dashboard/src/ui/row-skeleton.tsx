// Shows a placeholder for rows with a name, a note and a button, as high as they are.

import { Skeleton, SkeletonLine } from './skeleton.tsx';

export function RowSkeleton({ label, rows }: { label: string; rows: number }) {
  return (
    <Skeleton label={label} rows={rows} list="rows">
      <span className="row">
        <span className="row-text">
          <span className="row-name">
            <SkeletonLine width="8em" />
          </span>
          <span className="row-note">
            <SkeletonLine width="12em" />
          </span>
        </span>
        <span className="actions">
          <span className="skeleton-button" />
        </span>
      </span>
    </Skeleton>
  );
}
