// Asks for confirmation, deletes a feed, and shows the reason if that fails.

import { flushSync } from 'react-dom';
import { DeleteFeedDocument } from '../documents.gen.ts';
import { FailureNote } from '../failures/failure-note.tsx';
import { useChange } from '../failures/use-change.ts';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { FEEDS_CHANGE } from './feed.ts';

interface DeleteFeedProps {
  id: string;
  name: string;
  onDeleted: (name: string) => void;
  onClose: () => void;
  /** Reloads the list: the feed may be gone. */
  onReload: () => void;
}

export function DeleteFeed({ id, name, onDeleted, onClose, onReload }: DeleteFeedProps) {
  const { run, isRunning, failure } = useChange(DeleteFeedDocument, (data) => data.deleteFeed);

  async function remove() {
    if ((await run({ id }, FEEDS_CHANGE)) === undefined) {
      flushSync(onClose); // While the dialog is there, nothing else takes the focus.
      onDeleted(name);
    }
  }

  function close() {
    onClose();
    if (failure?.isUncertain || failure?.isGone) {
      onReload();
    }
  }

  return (
    <ConfirmDialog title={`Delete “${name}”?`} action="Delete" isBusy={isRunning} onConfirm={remove} onClose={close}>
      <p>A feed that a workflow still uses can't be deleted. This can't be undone.</p>
      {failure && <FailureNote failure={failure} />}
    </ConfirmDialog>
  );
}
