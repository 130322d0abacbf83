import { useQuery } from 'urql';
import { WorkflowDocument } from '../documents.gen.ts';
import { useKept } from '../shell/use-kept.ts';
import { Empty } from '../ui/empty.tsx';
import { workflowsAddress } from './workflow-address.ts';
import { WorkflowSection } from './workflow-section.tsx';

/** The workflow that the address names, such as one from the statistics. */
export function LinkedWorkflow({ id }: { id: string }) {
  const [result, execute] = useQuery({ query: WorkflowDocument, variables: { id } });
  const workflow = useKept(result.data?.workflow);
  const isGone = result.data?.workflow === null && !result.error;

  return (
    <WorkflowSection
      title="Linked workflow"
      result={result}
      workflows={isGone ? [] : workflow && [workflow]}
      rows={1}
      onReload={() => execute({ requestPolicy: 'network-only' })}
    >
      {isGone && <Empty title="This workflow does not exist any more." />}
      <a href={workflowsAddress('')}>Show all workflows</a>
    </WorkflowSection>
  );
}
