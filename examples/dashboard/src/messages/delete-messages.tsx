// States which messages of a transaction will be deleted, deletes them after confirmation, and shows the reason if that fails.

import { flushSync } from 'react-dom';
import { type Channel, DeleteMessagesDocument } from '../documents.gen.ts';
import { FailureNote } from '../failures/failure-note.tsx';
import { useChange } from '../failures/use-change.ts';
import { useWho } from '../session/who-context.ts';
import { CHANNEL_NAMES } from '../statistics/day.ts';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { MESSAGES_CHANGE } from './message.ts';

interface DeleteMessagesProps {
  transactionId: string;
  /** Undefined for all channels. */
  channel: Channel | undefined;
  onDeleted: () => void;
  onClose: () => void;
}

export function DeleteMessages({ transactionId, channel, onDeleted, onClose }: DeleteMessagesProps) {
  const { tenant } = useWho();
  const { run, isRunning, failure } = useChange(DeleteMessagesDocument, (data) => data.deleteMessagesByTransaction);
  const channelName = channel && CHANNEL_NAMES[channel];

  async function remove() {
    if ((await run({ transactionId, channel }, MESSAGES_CHANGE)) === undefined) {
      flushSync(onClose); // While the dialog is there, nothing else takes the focus.
      onDeleted();
    }
  }

  return (
    <ConfirmDialog
      title="Delete these messages?"
      action="Delete"
      isBusy={isRunning}
      onConfirm={remove}
      onClose={onClose}
    >
      <dl className="facts">
        <dt>Transaction</dt>
        <dd>
          <code>{transactionId}</code>
        </dd>
        <dt>Channel</dt>
        <dd>{channelName ?? 'All channels'}</dd>
        <dt>Tenant</dt>
        <dd>{tenant}</dd>
      </dl>
      <p>
        {channelName === undefined
          ? 'Every message of this transaction is deleted, for all its subscribers.'
          : `Every ${channelName} message of this transaction is deleted, for all its subscribers. Other channels stay.`}{' '}
        This can't be undone.
      </p>
      {failure && <FailureNote failure={failure} />}
    </ConfirmDialog>
  );
}
