// Shows a list of workflows that are loaded together.

import { type ReactNode, useEffect, useRef } from 'react';
import type { CombinedError } from 'urql';
import { ReadFailure } from '../failures/read-failure.tsx';
import { type LoadState, Refresh } from '../shell/refresh.tsx';
import { Skeleton, SkeletonLine } from '../ui/skeleton.tsx';
import { useKnownStates } from './known-states.ts';
import type { Workflow } from './workflow.ts';
import { WorkflowCard } from './workflow-card.tsx';

interface WorkflowSectionProps {
  title: string;
  /** The state of the query. */
  result: LoadState & { error?: CombinedError | undefined };
  /** The loaded ones; undefined before they are. */
  workflows: readonly Workflow[] | undefined;
  /** Number of rows of the placeholder. */
  rows: number;
  /** Loads them again. */
  onReload: () => void;
  /** Below the workflows. */
  children?: ReactNode;
}

export function WorkflowSection({ title, result, workflows, rows, onReload, children }: WorkflowSectionProps) {
  const { error, fetching } = result;
  const heading = useRef<HTMLHeadingElement>(null);
  const knownStates = useKnownStates();

  useEffect(() => {
    if (document.activeElement === document.body) {
      heading.current?.focus(); // The link that had the focus is gone with the page before.
    }
  }, []);

  function reload() {
    knownStates.set(new Map()); // They are loaded again.
    onReload();
  }

  return (
    <section className="section" aria-label={title}>
      <div className="section-head">
        <h2 ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <Refresh result={result} label={`Refresh: ${title}`} onRefresh={reload} />
      </div>
      {error && <ReadFailure error={error} onRetry={reload} />}
      {fetching && !workflows && <WorkflowSkeleton rows={rows} />}
      <ul className="cards">
        {workflows?.map((workflow) => (
          <li key={workflow.id}>
            <WorkflowCard workflow={workflow} onReload={reload} />
          </li>
        ))}
      </ul>
      {children}
    </section>
  );
}

/** A placeholder for workflows, as high as most of them are. */
function WorkflowSkeleton({ rows }: { rows: number }) {
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
