// Asks for confirmation, deletes a message, and shows the reason if that fails.

import { flushSync } from 'react-dom';
import { DeleteMessageDocument } from '../documents.gen.ts';
import { FailureNote } from '../failures/failure-note.tsx';
import { useChange } from '../failures/use-change.ts';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { channelOf, MESSAGES_CHANGE, type Message, titleOf } from './message.ts';

interface DeleteMessageProps {
  id: string;
  message: Message;
  onDeleted: () => void;
  onClose: () => void;
  /** Reloads the list: the message may be gone. */
  onReload: () => void;
}

export function DeleteMessage({ id, message, onDeleted, onClose, onReload }: DeleteMessageProps) {
  const { run, isRunning, failure } = useChange(DeleteMessageDocument, (data) => data.deleteMessage);

  async function remove() {
    if ((await run({ id }, MESSAGES_CHANGE)) === undefined) {
      flushSync(onClose); // While the dialog is there, nothing else takes the focus.
      onDeleted();
    }
  }

  function close() {
    onClose();
    if (failure?.isUncertain || failure?.isGone) {
      onReload();
    }
  }

  return (
    <ConfirmDialog title="Delete this message?" action="Delete" isBusy={isRunning} onConfirm={remove} onClose={close}>
      <dl className="facts">
        <dt>Message</dt>
        <dd className="message-title">{titleOf(message)}</dd>
        <dt>Channel</dt>
        <dd>{channelOf(message)}</dd>
        <dt>To</dt>
        <dd>{message.subscriberId ?? 'A deleted subscriber'}</dd>
      </dl>
      <p>
        An in-app message disappears from the app. One that was sent otherwise stays with its recipient. This can't be
        undone.
      </p>
      {failure && <FailureNote failure={failure} />}
    </ConfirmDialog>
  );
}
