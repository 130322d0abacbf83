// Shows a message in the list: whether it arrived, and to whom.

import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { DeleteMessage } from './delete-message.tsx';
import { channelOf, formatTime, type Message, stateOf, titleOf } from './message.ts';
import { messagesAddress } from './message-address.ts';

interface MessageRowProps {
  message: Message;
  /** Reason why it can't be deleted. */
  refusal: string | undefined;
  onDeleted: () => void;
  onReload: () => void;
}

export function MessageRow({ message, refusal, onDeleted, onReload }: MessageRowProps) {
  const { id, status, errorText, createdAt, transactionId, subscriberId } = message;
  const [isDeleting, setIsDeleting] = useState(false);
  const title = titleOf(message);
  const reason = refusal ?? (id === null ? 'The service sent no id for this message.' : undefined);
  return (
    <li className="row">
      <span className="row-text">
        <span className="row-name message-title">{title}</span>
        <span className="tags">
          <span className="tag">{channelOf(message)}</span>
          <span className={status === 'error' ? 'tag tag-critical' : 'tag'}>{stateOf(message)}</span>
        </span>
        {errorText !== null && <span className="message-error">{errorText}</span>}
        <span className="row-note message-facts">
          {createdAt !== null && <time dateTime={createdAt}>{formatTime(createdAt)}</time>}
          {subscriberId !== null && (
            <span>
              To <a href={messagesAddress({ subscriber: subscriberId })}>{subscriberId}</a>
            </span>
          )}
          {transactionId !== null && (
            <span>
              Transaction <a href={messagesAddress({ transaction: transactionId })}>{transactionId}</a>
            </span>
          )}
        </span>
      </span>
      <span className="actions">
        <Button
          kind="delete"
          refusal={reason}
          onClick={() => setIsDeleting(true)}
          aria-label={`Delete ${channelOf(message)} message: ${title.slice(0, 80)}`}
        >
          <Icon name="delete" />
          Delete
        </Button>
      </span>
      {isDeleting && id !== null && (
        <DeleteMessage
          id={id}
          message={message}
          onDeleted={onDeleted}
          onClose={() => setIsDeleting(false)}
          onReload={onReload}
        />
      )}
    </li>
  );
}
