import { useQuery } from 'urql';
import { WorkflowsDocument } from '../documents.gen.ts';
import { ReadFailure } from '../failures/read-failure.tsx';
import { useKept } from '../shell/use-kept.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import { useKnownStates } from './known-states.ts';
import { WorkflowCard } from './workflow-card.tsx';

/** Some workflows, loaded together. Deleted ones are omitted; if single ones fail, the others are shown. */
export function WorkflowPage({ ids }: { ids: string[] }) {
  const [{ data, error, fetching }, execute] = useQuery({ query: WorkflowsDocument, variables: { ids } });
  const workflows = useKept(data?.workflows);
  const knownStates = useKnownStates();

  function reload() {
    knownStates.clear();
    execute({ requestPolicy: 'network-only' });
  }

  if (fetching && !workflows) {
    return <Skeleton label="workflows" rows={5} />;
  }
  return (
    <>
      {error && <ReadFailure error={error} onRetry={reload} />}
      <ul className="cards">
        {workflows?.map(
          (workflow) =>
            workflow && (
              <li key={workflow.id}>
                <WorkflowCard workflow={workflow} onReload={reload} />
              </li>
            ),
        )}
      </ul>
    </>
  );
}
