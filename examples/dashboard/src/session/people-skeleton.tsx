import { Skeleton, SkeletonLine } from '../ui/skeleton.tsx';

/** A placeholder for the people at sign-in, as high as they are. */
export function PeopleSkeleton() {
  return (
    <Skeleton list="people" label="people" rows={4}>
      <span className="person">
        <span className="avatar" />
        <span className="person-text">
          <span className="person-name">
            <SkeletonLine width="9em" />
          </span>
          <span className="person-role">
            <SkeletonLine width="11em" />
          </span>
          <span className="person-scopes">
            <SkeletonLine width="16em" />
          </span>
        </span>
      </span>
    </Skeleton>
  );
}
