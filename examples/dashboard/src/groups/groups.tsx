import { useRef } from 'react';
import { useQuery } from 'urql';
import { GroupsDocument } from '../documents.gen.ts';
import { ReadFailure } from '../failures/read-failure.tsx';
import { useKept } from '../shell/use-kept.ts';
import { useRefusal } from '../shell/view.tsx';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Note } from '../ui/note.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { useToast } from '../ui/toasts-context.ts';
import { CreateGroup } from './create-group.tsx';
import { GROUPS_CHANGE, keyOfGroup } from './group.ts';
import { GroupRow } from './group-row.tsx';

/** The list of groups with its actions. */
export function Groups() {
  const [{ data, error, fetching, stale }, execute] = useQuery({ query: GroupsDocument, context: GROUPS_CHANGE });
  const toast = useToast();
  const heading = useRef<HTMLHeadingElement>(null);
  const refusal = useRefusal('groups:write');
  const groups = useKept(data?.notificationGroups);
  const reload = () => execute({ ...GROUPS_CHANGE, requestPolicy: 'network-only' });

  /** The row that had the focus is gone. */
  function onDeleted(name: string) {
    toast(`“${name}” was deleted.`);
    heading.current?.focus();
  }

  return (
    <>
      {refusal !== undefined && (
        <Note kind="info">
          <p>{refusal}</p>
        </Note>
      )}
      <CreateGroup refusal={refusal} onDone={toast} onReload={reload} />
      <section className="card" aria-labelledby="groups-title">
        <div className="card-head">
          <h2 id="groups-title" ref={heading} tabIndex={-1}>
            All groups
          </h2>
          <Button kind="quiet" isBusy={stale} onClick={reload}>
            Refresh
          </Button>
        </div>
        {error && <ReadFailure error={error} onRetry={reload} />}
        {fetching && !groups && <Skeleton label="groups" />}
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
              refusal={refusal}
              onDone={toast}
              onDeleted={onDeleted}
              onReload={reload}
            />
          ))}
        </ul>
      </section>
    </>
  );
}
