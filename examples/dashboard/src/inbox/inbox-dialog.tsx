// Shows the newest messages of the signed-in person, to mark them as read.

import { useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Dialog, Heading } from 'react-aria-components/Dialog';
import { GridList } from 'react-aria-components/GridList';
import { useQuery } from 'urql';
import { InboxDocument, MarkAllMessagesDocument, type MarkAs, MarkMessagesDocument } from '../documents.gen.ts';
import { FailureNote } from '../failures/failure-note.tsx';
import { ReadFailure } from '../failures/read-failure.tsx';
import { useChange } from '../failures/use-change.ts';
import { useRefusal } from '../session/permitted.tsx';
import { useKept } from '../shell/use-kept.ts';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Icon } from '../ui/icon.tsx';
import { InboxRow, InboxSkeleton } from './inbox-row.tsx';
import { usePolling } from './use-polling.ts';

/** Number of messages that are loaded first, and with each click on the button for more. */
const STEP = 10;

/** The service sends no more at once. */
const MAX = 100;

/** Tells the cache that a change concerns the inbox, so that the list and the number of new messages are read anew. */
const INBOX_CHANGE = { additionalTypenames: ['Inbox'] };

/** Arrow keys move in the list, Escape closes it. */
export function InboxDialog() {
  const [limit, setLimit] = useState(STEP);
  const [{ data, error, fetching }, execute] = useQuery({
    query: InboxDocument,
    variables: { limit },
    requestPolicy: 'cache-and-network',
  });
  const one = useChange(MarkMessagesDocument, (changed) => changed.markMessages);
  const all = useChange(MarkAllMessagesDocument, (changed) => changed.markAllMessages);
  const refusal = useRefusal('inbox:write');
  const loaded = useKept(data?.inbox?.messages);
  const messages = loaded?.messages.filter((message) => message !== null) ?? [];
  const isAllRead = loaded !== undefined && !loaded.hasMore && messages.every(({ read }) => read);
  const failure = one.failure ?? all.failure;
  const reload = () => execute({ requestPolicy: 'network-only' });
  usePolling(reload);

  function mark(id: string, as: MarkAs): void {
    all.dismiss();
    void one.run({ messageIds: [id], as }, INBOX_CHANGE);
  }

  function markAll(): void {
    one.dismiss();
    void all.run({ as: 'READ' }, INBOX_CHANGE);
  }

  return (
    <Dialog className="inbox">
      <div className="inbox-head">
        <Heading slot="title">Notifications</Heading>
        <Button
          kind="quiet"
          isBusy={all.isRunning}
          refusal={refusal ?? (isAllRead ? 'There are no unread notifications.' : undefined)}
          onClick={markAll}
        >
          Mark all as read
        </Button>
        <AriaButton slot="close" className="icon-button" aria-label="Close">
          <Icon name="close" />
        </AriaButton>
      </div>
      <div className="inbox-body">
        {failure && <FailureNote failure={failure} />}
        {error && <ReadFailure error={error} onRetry={reload} />}
        {fetching && !loaded && <InboxSkeleton />}
        {loaded && messages.length === 0 && (
          <Empty title="You have no notifications.">
            <p>New ones appear here.</p>
          </Empty>
        )}
        {messages.length > 0 && (
          <GridList aria-label="Notifications" className="inbox-list" disallowTypeAhead>
            {messages.map((message, i) => (
              <InboxRow key={message.id ?? i} message={message} refusal={refusal} onMark={mark} />
            ))}
          </GridList>
        )}
        {loaded?.hasMore && limit < MAX && (
          <Button isBusy={fetching} onClick={() => setLimit(limit + STEP)}>
            Show more
          </Button>
        )}
      </div>
    </Dialog>
  );
}
