import { Permitted, ReadOnlyNote, useRefusal } from '../session/permitted.tsx';
import { useRouteParam } from '../shell/routes.ts';
import { View } from '../shell/view.tsx';
import { LinkedWorkflow } from './linked-workflow.tsx';
import { SearchWorkflows } from './search-workflows.tsx';
import { WorkflowList } from './workflow-list.tsx';

/** The workflows in pages, those that a search finds, or a single one. */
export function WorkflowsView() {
  return (
    <View title="Workflows" lead="Find workflows, and enable or disable them.">
      <Permitted scope="workflows:read" what="workflows">
        <Workflows />
      </Permitted>
    </View>
  );
}

function Workflows() {
  const refusal = useRefusal('workflows:write');
  const linked = useRouteParam('id');
  const search = useRouteParam('search') ?? '';
  const page = Math.max(1, Math.trunc(Number(useRouteParam('page'))) || 1);

  return (
    <>
      <ReadOnlyNote refusal={refusal} />
      <SearchWorkflows search={search} />
      {linked === null ? (
        <WorkflowList key={`${page} ${search}`} search={search} page={page} />
      ) : (
        <LinkedWorkflow key={linked} id={linked} />
      )}
    </>
  );
}
