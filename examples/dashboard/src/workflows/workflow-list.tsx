// Shows one page of the workflows.

import { useQuery } from 'urql';
import { WorkflowPageDocument } from '../documents.gen.ts';
import { useKept } from '../shell/use-kept.ts';
import { Empty } from '../ui/empty.tsx';
import { PageLinks } from '../ui/page-links.tsx';
import { workflowsAddress } from './workflow-address.ts';
import { WorkflowSection } from './workflow-section.tsx';

/** Workflows of one page. Few, so that the sandbox has a second page. */
const LIMIT = 5;

interface WorkflowListProps {
  /** Text in the names or identifiers. Empty for all workflows. */
  search: string;
  /** Number of the page, from 1. */
  page: number;
}

/** If single workflows fail, the others are shown. */
export function WorkflowList({ search, page }: WorkflowListProps) {
  const variables = { query: search || null, page: page - 1, limit: LIMIT };
  const [result, execute] = useQuery({ query: WorkflowPageDocument, variables });
  const loaded = useKept(result.data?.workflowPage);
  const title = search === '' ? 'All workflows' : `Found by “${search}”`;

  return (
    <WorkflowSection
      title={title}
      result={result}
      workflows={loaded?.workflows.filter((workflow) => workflow !== null)}
      rows={LIMIT}
      onReload={() => execute({ requestPolicy: 'network-only' })}
    >
      {loaded?.workflows.length === 0 && (
        <Empty title={search === '' ? 'There are no workflows here.' : 'No name or identifier has this text.'}>
          {(search !== '' || page > 1) && <a href={workflowsAddress('')}>Show all workflows</a>}
        </Empty>
      )}
      {loaded && loaded.workflows.length > 0 && (
        <PageLinks
          first={(page - 1) * LIMIT + 1}
          count={loaded.workflows.length}
          total={loaded.totalCount}
          previous={page > 1 ? workflowsAddress(search, page - 1) : undefined}
          next={page * LIMIT < loaded.totalCount ? workflowsAddress(search, page + 1) : undefined}
        />
      )}
    </WorkflowSection>
  );
}
