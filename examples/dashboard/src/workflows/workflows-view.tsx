import { useState } from 'react';
import { Permitted, ReadOnlyNote, useRefusal } from '../session/permitted.tsx';
import { useRouteParam } from '../shell/routes.ts';
import { View } from '../shell/view.tsx';
import { FindWorkflow } from './find-workflow.tsx';
import { RememberWorkflowContext, useRecentWorkflows } from './recent-workflows.ts';
import { UsedWorkflows } from './used-workflows.tsx';
import type { Workflow } from './workflow.ts';
import { WorkflowPage } from './workflow-page.tsx';

/** All workflows that can be found: the service can't list them. */
export function WorkflowsView() {
  return (
    <View title="Workflows" lead="Find any workflow, and enable or disable it.">
      <Permitted scope="workflows:read" what="workflows">
        <Workflows />
      </Permitted>
    </View>
  );
}

function Workflows() {
  const { items, replace } = useRecentWorkflows();
  // Fixed while the view is open: a card that is switched stays where it is.
  const [recent, setRecent] = useState(items);
  const [found, setFound] = useState<readonly { text: string; id: string }[]>([]);
  const refusal = useRefusal('workflows:write');
  const linked = useRouteParam('id');
  const foundIds = new Set([...found.map(({ id }) => id), ...(linked === null ? [] : [linked])]);

  const remember = (id: string) => replace([id, ...items.filter((other) => other !== id)]);

  function show(text: string, { id }: Workflow) {
    remember(id);
    setFound([{ text, id }, ...found.filter((other) => other.id !== id)]);
  }

  /** Forgets those that were deleted. */
  function keep(existing: readonly string[]) {
    const isGone = (id: string) => recent.includes(id) && !existing.includes(id);
    if (recent.some(isGone)) {
      replace(items.filter((id) => !isGone(id)));
      setRecent(recent.filter((id) => !isGone(id)));
    }
  }

  return (
    <RememberWorkflowContext value={remember}>
      <ReadOnlyNote refusal={refusal} />
      <FindWorkflow onFound={show} />
      {linked !== null && <WorkflowPage key={linked} ids={[linked]} title="Linked workflow" />}
      {found
        .filter(({ id }) => id !== linked)
        .map(({ text, id }) => (
          <WorkflowPage key={id} ids={[text]} title={`Found by “${text}”`} />
        ))}
      {recent.some((id) => !foundIds.has(id)) && (
        <WorkflowPage ids={[...recent]} title="Looked up or changed" hidden={foundIds} onLoaded={keep} />
      )}
      <UsedWorkflows hidden={new Set([...recent, ...foundIds])} />
    </RememberWorkflowContext>
  );
}
