import { type ReactNode, useEffect, useRef } from 'react';
import type { CombinedError } from 'urql';
import { ReadFailure } from '../failures/read-failure.tsx';
import { Updated } from '../shell/updated.tsx';
import { useLoadedAt } from '../shell/use-loaded-at.ts';
import { Button } from '../ui/button.tsx';
import { useKnownStates } from './known-states.ts';
import type { Workflow } from './workflow.ts';
import { WorkflowCard } from './workflow-card.tsx';
import { WorkflowSkeleton } from './workflow-skeleton.tsx';

interface WorkflowSectionProps {
  title: string;
  /** The state of the query. */
  result: {
    fetching: boolean;
    stale: boolean;
    error?: CombinedError | undefined;
    extensions?: Record<string, unknown>;
  };
  /** The loaded ones; undefined before they are. */
  workflows: readonly Workflow[] | undefined;
  /** Number of rows of the placeholder. */
  rows: number;
  /** Loads them again. */
  onReload: () => void;
  /** Below the workflows. */
  children?: ReactNode;
}

/** A list of workflows that are loaded together. */
export function WorkflowSection({ title, result, workflows, rows, onReload, children }: WorkflowSectionProps) {
  const { error, fetching, stale } = result;
  const heading = useRef<HTMLHeadingElement>(null);
  const loadedAt = useLoadedAt(result);
  const knownStates = useKnownStates();

  useEffect(() => {
    if (document.activeElement === document.body) {
      heading.current?.focus(); // The link that had the focus is gone with the page before.
    }
  }, []);

  function reload() {
    knownStates.clear();
    onReload();
  }

  return (
    <section className="section" aria-label={title}>
      <div className="section-head">
        <h2 ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <span className="section-actions">
          <Updated at={loadedAt} />
          <Button kind="quiet" isBusy={fetching || stale} onClick={reload} aria-label={`Refresh: ${title}`}>
            Refresh
          </Button>
        </span>
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
