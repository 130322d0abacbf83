import { flushSync } from 'react-dom';
import { DeleteFeedDocument } from '../documents.gen.ts';
import { FailureNote } from '../failures/failure-note.tsx';
import { useChange } from '../failures/use-change.ts';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';

/** Called with the feeds that are left; null if the service did not send them. */
export type OnFeedDeleted = (id: string, remaining: readonly { id: string | null; name: string }[] | null) => void;

interface DeleteFeedProps {
  id: string;
  /** Undefined if this browser doesn't know it. */
  name: string | undefined;
  onDeleted: OnFeedDeleted;
  onClose: () => void;
}

/** Asks for confirmation, deletes the feed, and shows the reason if that fails. */
export function DeleteFeed({ id, name, onDeleted, onClose }: DeleteFeedProps) {
  const { run, isRunning, failure } = useChange(DeleteFeedDocument, (data) => data.deleteFeed);

  const remove = () =>
    run({ id }, undefined, ({ deleteFeed }) => {
      if (deleteFeed?.__typename === 'DeleteFeedSuccess') {
        flushSync(onClose); // While the dialog is there, nothing else takes the focus.
        onDeleted(id, deleteFeed.remainingFeeds?.filter((feed) => feed !== null) ?? null);
      }
    });

  return (
    <ConfirmDialog
      title={name === undefined ? 'Delete this feed?' : `Delete “${name}”?`}
      action="Delete"
      isBusy={isRunning}
      onConfirm={remove}
      onClose={onClose}
    >
      <dl className="facts">
        <dt>Feed</dt>
        <dd>{name ?? 'Unknown in this browser'}</dd>
        <dt>Id</dt>
        <dd>
          <code>{id}</code>
        </dd>
      </dl>
      <p>This can't be undone.</p>
      {failure && <FailureNote failure={failure} />}
    </ConfirmDialog>
  );
}
