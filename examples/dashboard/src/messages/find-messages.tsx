// Shows the form that selects messages.

import { type FormEvent, useState } from 'react';
import { CHANNEL_NAMES, CHANNELS } from '../statistics/day.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { SelectField } from '../ui/select-field.tsx';
import { type MessageFilter, messagesAddress, toChannel } from './message-address.ts';

const OPTIONS = [
  { value: '', label: 'All channels' },
  ...CHANNELS.map((channel) => ({ value: channel, label: `Only ${CHANNEL_NAMES[channel]}` })),
];

/** @param filter selects the shown messages */
export function FindMessages({ filter }: { filter: MessageFilter }) {
  const [typed, setTyped] = useState(filter);
  const [shown, setShown] = useState(filter);
  if (messagesAddress(shown) !== messagesAddress(filter)) {
    setShown(filter); // The address changed, for example by a link or the button Back.
    setTyped(filter);
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    const { transaction, subscriber, channel } = typed;
    location.hash = messagesAddress({ transaction: transaction.trim(), subscriber: subscriber.trim(), channel });
  }

  const text = { autoCapitalize: 'off', spellCheck: false };
  return (
    <search>
      <form className="card find-messages" noValidate onSubmit={submit} aria-label="Find messages">
        <div className="form-grid">
          <Field
            {...text}
            label="Transaction id"
            hint="The service returned it when the workflow was triggered."
            value={typed.transaction}
            onChange={(event) => setTyped({ ...typed, transaction: event.target.value })}
          />
          <Field
            {...text}
            label="Subscriber id"
            hint="The recipient's id in your system."
            value={typed.subscriber}
            onChange={(event) => setTyped({ ...typed, subscriber: event.target.value })}
          />
          <SelectField
            label="Channel"
            options={OPTIONS}
            value={typed.channel}
            onChange={(name) => setTyped({ ...typed, channel: toChannel(name) })}
          />
        </div>
        <Button type="submit" kind="primary">
          Search
        </Button>
      </form>
    </search>
  );
}
