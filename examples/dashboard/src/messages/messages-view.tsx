import { useState } from 'react';
import type { Channel } from '../documents.gen.ts';
import { Permitted } from '../session/permitted.tsx';
import { View } from '../shell/view.tsx';
import { CHANNEL_NAMES, CHANNELS } from '../statistics/day.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { SelectField } from '../ui/select-field.tsx';
import { useToast } from '../ui/toasts-context.ts';
import { useConfirmedText } from '../ui/use-confirmed-text.ts';
import { DeleteMessages } from './delete-messages.tsx';

/** The view to delete messages; the service can't list them. */
export function MessagesView() {
  return (
    <View title="Messages" lead="Delete the messages of a transaction, such as a notification sent by mistake.">
      <Permitted scope="messages:write" verb="delete" what="messages">
        <DeleteMessagesForm />
      </Permitted>
    </View>
  );
}

const ALL = 'ALL';
const OPTIONS = [
  { value: ALL, label: 'All channels' },
  ...CHANNELS.map((channel) => ({ value: channel, label: `Only ${CHANNEL_NAMES[channel]}` })),
];

/** The form that names the messages to delete. It deletes nothing before they are confirmed. */
function DeleteMessagesForm() {
  const { text: transactionId, field, isAsking, ask, close, clear } = useConfirmedText('Enter a transaction id.');
  const [option, setOption] = useState<string>(ALL);
  const toast = useToast();
  const channel: Channel | undefined = CHANNELS.find((candidate) => candidate === option);

  function onDeleted() {
    clear();
    toast(`${channel === undefined ? 'All' : CHANNEL_NAMES[channel]} messages of “${transactionId}” were deleted.`);
    field.ref.current?.focus();
  }

  return (
    <form className="card" noValidate onSubmit={ask} aria-labelledby="messages-title">
      <h2 id="messages-title">Delete messages</h2>
      <div className="form-grid">
        <Field
          {...field}
          label="Transaction id"
          hint="The service returned it when the workflow was triggered."
          required
          autoCapitalize="off"
          spellCheck={false}
        />
        <SelectField label="Channel" options={OPTIONS} value={option} onChange={setOption} />
      </div>
      <Button type="submit" kind="delete">
        Delete…
      </Button>
      {isAsking && (
        <DeleteMessages transactionId={transactionId} channel={channel} onDeleted={onDeleted} onClose={close} />
      )}
    </form>
  );
}
