import { useEffect } from 'react';
import { useQuery } from 'urql';
import { WorkflowsDocument } from '../documents.gen.ts';
import { ReadFailure } from '../failures/read-failure.tsx';
import { Updated } from '../shell/updated.tsx';
import { useKept } from '../shell/use-kept.ts';
import { useLoadedAt } from '../shell/use-loaded-at.ts';
import { Button } from '../ui/button.tsx';
import { useKnownStates } from './known-states.ts';
import { WorkflowCard } from './workflow-card.tsx';
import { WorkflowSkeleton } from './workflow-skeleton.tsx';

interface WorkflowPageProps {
  ids: string[];
  /** Heading of the section; the next pages of it have none. */
  title?: string;
  /** Ids of workflows that are shown elsewhere on the page. */
  hidden?: ReadonlySet<string>;
  /** Reports the ids of those that exist. */
  onLoaded?: (ids: readonly string[]) => void;
}

/** Some workflows, loaded together. Deleted ones are omitted; if single ones fail, the others are shown. */
export function WorkflowPage({ ids, title, hidden, onLoaded }: WorkflowPageProps) {
  const [result, execute] = useQuery({ query: WorkflowsDocument, variables: { ids } });
  const { data, error, fetching, stale } = result;
  const workflows = useKept(data?.workflows)?.filter((workflow) => workflow !== null);
  const loadedAt = useLoadedAt(result);
  const knownStates = useKnownStates();

  function reload() {
    knownStates.clear();
    execute({ requestPolicy: 'network-only' });
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: once per response
  useEffect(() => {
    if (data?.workflows && !error) {
      onLoaded?.(data.workflows.flatMap((workflow) => workflow?.id ?? []));
    }
  }, [data]);

  return (
    <section className="section" aria-label={title ?? 'More workflows'}>
      {title !== undefined && (
        <div className="section-head">
          <h2>{title}</h2>
          <span className="section-actions">
            <Updated at={loadedAt} />
            <Button kind="quiet" isBusy={fetching || stale} onClick={reload} aria-label={`Refresh: ${title}`}>
              Refresh
            </Button>
          </span>
        </div>
      )}
      {error && <ReadFailure error={error} onRetry={reload} />}
      {fetching && !workflows && <WorkflowSkeleton rows={Math.min(ids.length, 8)} />}
      <ul className="cards">
        {workflows
          ?.filter(({ id }) => !hidden?.has(id))
          .map((workflow) => (
            <li key={workflow.id}>
              <WorkflowCard workflow={workflow} onReload={reload} />
            </li>
          ))}
      </ul>
    </section>
  );
}
