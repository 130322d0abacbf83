import { Skeleton, SkeletonLine } from '../ui/skeleton.tsx';

/** A placeholder for groups, as high as their rows. */
export function GroupSkeleton() {
  return (
    <Skeleton label="groups" rows={4} list="rows">
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
