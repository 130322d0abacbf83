import { Skeleton, SkeletonLine } from '../ui/skeleton.tsx';

/** A placeholder for workflows, as high as most of them are. */
export function WorkflowSkeleton({ rows }: { rows: number }) {
  return (
    <Skeleton list="cards" label="workflows" rows={rows}>
      <span className="card workflow">
        <span className="workflow-text">
          <span className="workflow-name">
            <SkeletonLine width="10em" />
          </span>
          <span className="tags">
            <span className="tag">
              <SkeletonLine width="4em" />
            </span>
          </span>
        </span>
        <span className="workflow-description">
          <SkeletonLine width="22em" />
        </span>
        <span className="steps">
          {[6, 8].map((width) => (
            <span key={width} className="step">
              <span className="step-kind">
                <SkeletonLine width="3em" />
              </span>
              <span className="step-name">
                <SkeletonLine width={`${width}em`} />
              </span>
            </span>
          ))}
        </span>
      </span>
    </Skeleton>
  );
}
