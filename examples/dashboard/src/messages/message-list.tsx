// Shows one page of the messages.

import { useEffect, useRef, useState } from 'react';
import { useQuery } from 'urql';
import { MessagesDocument } from '../documents.gen.ts';
import { ReadFailure } from '../failures/read-failure.tsx';
import { Refresh } from '../shell/refresh.tsx';
import { useKept } from '../shell/use-kept.ts';
import { CHANNEL_NAMES } from '../statistics/day.ts';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { PageLinks } from '../ui/page-links.tsx';
import { RowSkeleton } from '../ui/row-skeleton.tsx';
import { useToast } from '../ui/toasts-context.ts';
import { DeleteMessages } from './delete-messages.tsx';
import { MESSAGES_CHANGE } from './message.ts';
import { type MessageFilter, messagesAddress, NO_FILTER } from './message-address.ts';
import { MessageRow } from './message-row.tsx';

const LIMIT = 10;

interface MessageListProps {
  filter: MessageFilter;
  /** Number of the page, from 1. */
  page: number;
  /** Reason why nothing can be deleted. */
  refusal: string | undefined;
}

/** If single messages fail, the others are shown. */
export function MessageList({ filter, page, refusal }: MessageListProps) {
  const { transaction, subscriber, channel } = filter;
  const variables = {
    page: page - 1,
    limit: LIMIT,
    channel: channel || null,
    subscriberId: subscriber || null,
    transactionIds: transaction === '' ? null : [transaction],
  };
  const [result, execute] = useQuery({ query: MessagesDocument, variables, context: MESSAGES_CHANGE });
  const { data, error, fetching } = result;
  const loaded = useKept(data?.messages);
  const toast = useToast();
  const heading = useRef<HTMLHeadingElement>(null);
  const [isDeletingAll, setIsDeletingAll] = useState(false);
  const isUnknown = data?.messages === null && !error;
  const isEmpty = loaded?.messages.length === 0 || isUnknown;
  const hasFilter = messagesAddress(filter) !== messagesAddress(NO_FILTER);
  const reload = () => execute({ ...MESSAGES_CHANGE, requestPolicy: 'network-only' });

  useEffect(() => {
    if (document.activeElement === document.body) {
      heading.current?.focus(); // The link that had the focus is gone with the page before.
    }
  }, []);

  /** The row that had the focus is gone. */
  function onDeleted(text: string) {
    toast(text);
    heading.current?.focus();
  }

  return (
    <section className="card" aria-labelledby="messages-title">
      <div className="card-head">
        <h2 id="messages-title" ref={heading} tabIndex={-1}>
          {hasFilter ? 'Found messages' : 'All messages'}
        </h2>
        <Refresh result={result} onRefresh={reload} />
      </div>
      {error && <ReadFailure error={error} onRetry={reload} />}
      {fetching && !loaded && <RowSkeleton label="messages" rows={5} />}
      {isEmpty && (
        <Empty title={isUnknown ? 'There is no such subscriber.' : 'There are no such messages.'}>
          {(hasFilter || page > 1) && <a href={messagesAddress(NO_FILTER)}>Show all messages</a>}
        </Empty>
      )}
      <ul className="rows">
        {loaded?.messages
          .filter((message) => message !== null)
          .map((message, i) => (
            <MessageRow
              key={message.id ?? i}
              message={message}
              refusal={refusal}
              onDeleted={() => onDeleted('The message was deleted.')}
              onReload={reload}
            />
          ))}
      </ul>
      {loaded && !isEmpty && (
        <PageLinks
          first={(page - 1) * LIMIT + 1}
          count={loaded.messages.length}
          previous={page > 1 ? messagesAddress(filter, page - 1) : undefined}
          next={loaded.hasMore ? messagesAddress(filter, page + 1) : undefined}
        />
      )}
      {transaction !== '' && subscriber === '' && loaded && !isEmpty && (
        <div className="section-actions">
          <Button kind="delete" refusal={refusal} onClick={() => setIsDeletingAll(true)}>
            Delete all {channel && CHANNEL_NAMES[channel]} messages of this transaction…
          </Button>
        </div>
      )}
      {isDeletingAll && (
        <DeleteMessages
          transactionId={transaction}
          channel={channel || undefined}
          onDeleted={() =>
            onDeleted(`${channel === '' ? 'All' : CHANNEL_NAMES[channel]} messages of “${transaction}” were deleted.`)
          }
          onClose={() => setIsDeletingAll(false)}
        />
      )}
    </section>
  );
}
