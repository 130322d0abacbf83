import { type FormEvent, useRef, useState } from 'react';
import type { Channel } from '../documents.gen.ts';
import { CHANNEL_NAMES, CHANNELS } from '../statistics/day.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { SelectField } from '../ui/select-field.tsx';
import { useToast } from '../ui/toasts-context.ts';
import { DeleteMessages } from './delete-messages.tsx';

const ALL = 'ALL';
const OPTIONS = [
  { value: ALL, label: 'All channels' },
  ...CHANNELS.map((channel) => ({ value: channel, label: `Only ${CHANNEL_NAMES[channel]}` })),
];

/** The form that names the messages to delete. It deletes nothing before they are confirmed. */
export function DeleteMessagesForm() {
  const [typed, setTyped] = useState('');
  const [option, setOption] = useState<string>(ALL);
  const [problem, setProblem] = useState<string>();
  const [isAsking, setIsAsking] = useState(false);
  const toast = useToast();
  const input = useRef<HTMLInputElement>(null);
  const transactionId = typed.trim();
  const channel: Channel | undefined = CHANNELS.find((candidate) => candidate === option);

  function ask(event: FormEvent) {
    event.preventDefault();
    setProblem(transactionId === '' ? 'Enter a transaction id.' : undefined);
    if (transactionId === '') {
      input.current?.focus();
    } else {
      setIsAsking(true);
    }
  }

  function onDeleted() {
    setTyped('');
    toast(`${channel === undefined ? 'All' : CHANNEL_NAMES[channel]} messages of “${transactionId}” were deleted.`);
    input.current?.focus();
  }

  return (
    <form className="card" noValidate onSubmit={ask} aria-labelledby="messages-title">
      <h2 id="messages-title">Delete messages</h2>
      <div className="form-grid">
        <Field
          ref={input}
          label="Transaction id"
          hint="The service returned it when the workflow was triggered."
          required
          value={typed}
          error={problem}
          autoCapitalize="off"
          spellCheck={false}
          onChange={(event) => setTyped(event.target.value)}
        />
        <SelectField label="Channel" options={OPTIONS} value={option} onChange={setOption} />
      </div>
      <Button type="submit" kind="delete">
        Delete…
      </Button>
      {isAsking && (
        <DeleteMessages
          transactionId={transactionId}
          channel={channel}
          onDeleted={onDeleted}
          onClose={() => setIsAsking(false)}
        />
      )}
    </form>
  );
}
