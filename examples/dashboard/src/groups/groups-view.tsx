// Shows the groups that workflows belong to.

import { useRef } from 'react';
import { useQuery } from 'urql';
import { GroupsDocument } from '../documents.gen.ts';
import { ReadFailure } from '../failures/read-failure.tsx';
import { Permitted, ReadOnlyNote, useRefusal } from '../session/permitted.tsx';
import { Refresh } from '../shell/refresh.tsx';
import { useKept } from '../shell/use-kept.ts';
import { View } from '../shell/view.tsx';
import { Empty } from '../ui/empty.tsx';
import { RowSkeleton } from '../ui/row-skeleton.tsx';
import { useToast } from '../ui/toasts-context.ts';
import { CreateGroup } from './create-group.tsx';
import { GROUPS_CHANGE, keyOfGroup } from './group.ts';
import { GroupRow } from './group-row.tsx';
import { useWorkflowCounts } from './workflow-counts.ts';

export function GroupsView() {
  return (
    <View title="Groups" lead="Groups that workflows belong to.">
      <Permitted scope="groups:read" what="groups">
        <Groups />
      </Permitted>
    </View>
  );
}

/** The list of groups with its actions. */
function Groups() {
  const [result, execute] = useQuery({ query: GroupsDocument, context: GROUPS_CHANGE });
  const { data, error, fetching } = result;
  const toast = useToast();
  const heading = useRef<HTMLHeadingElement>(null);
  const refusal = useRefusal('groups:write');
  const groups = useKept(data?.notificationGroups)?.filter((group) => group !== null);
  const counts = useWorkflowCounts();
  const reload = () => execute({ ...GROUPS_CHANGE, requestPolicy: 'network-only' });
  const names = groups?.map(({ name }) => name) ?? [];

  /** The row that had the focus is gone. */
  function onDeleted(name: string) {
    toast(`“${name}” was deleted.`);
    heading.current?.focus();
  }

  return (
    <>
      <ReadOnlyNote refusal={refusal} />
      <CreateGroup taken={names} refusal={refusal} onReload={reload} />
      <section className="card" aria-labelledby="groups-title">
        <div className="card-head">
          <h2 id="groups-title" ref={heading} tabIndex={-1}>
            All groups
          </h2>
          <Refresh result={result} onRefresh={reload} />
        </div>
        {error && <ReadFailure error={error} onRetry={reload} />}
        {fetching && !groups && <RowSkeleton label="groups" rows={4} />}
        {groups?.length === 0 && (
          <Empty title="There are no groups.">
            <p>Create the first one above.</p>
          </Empty>
        )}
        <ul className="rows">
          {groups?.map((group) => (
            <GroupRow
              key={keyOfGroup(group)}
              group={group}
              count={counts?.of(group.id)}
              taken={names.filter((name) => name !== group.name)}
              refusal={refusal}
              onDeleted={onDeleted}
              onReload={reload}
            />
          ))}
        </ul>
        {counts && <p className="fine-print">{counts.caption}</p>}
      </section>
    </>
  );
}
