// Asks for confirmation, deletes a group, and shows the reason if that fails.

import { flushSync } from 'react-dom';
import { DeleteGroupDocument } from '../documents.gen.ts';
import { FailureNote } from '../failures/failure-note.tsx';
import { useChange } from '../failures/use-change.ts';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { GROUPS_CHANGE } from './group.ts';

interface DeleteGroupProps {
  id: string;
  name: string;
  /** The number of its known workflows, if it is known. */
  count: number | undefined;
  onDeleted: (name: string) => void;
  onClose: () => void;
  /** Reloads the list: the group may be gone. */
  onReload: () => void;
}

export function DeleteGroup({ id, name, count, onDeleted, onClose, onReload }: DeleteGroupProps) {
  const { run, isRunning, failure } = useChange(DeleteGroupDocument, (data) => data.deleteNotificationGroup);

  async function remove() {
    if ((await run({ id }, GROUPS_CHANGE)) === undefined) {
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
      <p>
        {count ? `Its workflows, at least ${count}, stay` : 'If it has workflows, they stay'}, without a group. This
        can't be undone.
      </p>
      {failure && <FailureNote failure={failure} />}
    </ConfirmDialog>
  );
}
