// Shows the messages of the signed-in person, to open them and to mark them as read.

import { Button as AriaButton } from 'react-aria-components/Button';
import { Dialog, Heading } from 'react-aria-components/Dialog';
import { GridList } from 'react-aria-components/GridList';
import { MarkAllMessagesDocument, type MarkAs, MarkMessagesDocument } from '../documents.gen.ts';
import { FailureNote } from '../failures/failure-note.tsx';
import { ReadFailure } from '../failures/read-failure.tsx';
import { useChange } from '../failures/use-change.ts';
import { useRefusal } from '../session/permitted.tsx';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Icon } from '../ui/icon.tsx';
import { InboxRow, InboxSkeleton } from './inbox-row.tsx';
import { useInbox } from './use-inbox.ts';
import { usePolling } from './use-polling.ts';

/** Tells the cache that a change concerns the inbox, so that the list and the number of new messages are read anew. */
const INBOX_CHANGE = { additionalTypenames: ['Inbox'] };

/** Arrow keys move in the list, Escape closes it. */
export function InboxDialog() {
  const { messages, hasMore, fetching, error, reload, next, loadNext, setRead } = useInbox();
  const one = useChange(MarkMessagesDocument, (changed) => changed.markMessages);
  const all = useChange(MarkAllMessagesDocument, (changed) => changed.markAllMessages);
  const refusal = useRefusal('inbox:write');
  const isAllRead = messages !== undefined && !hasMore && messages.every(({ read }) => read);
  const failure = one.failure ?? all.failure;
  usePolling(reload);

  function mark(id: string, as: MarkAs): void {
    all.dismiss();
    void one.run({ messageIds: [id], as }, INBOX_CHANGE, () => setRead(as === 'READ', (each) => each === id));
  }

  function markAll(): void {
    one.dismiss();
    void all.run({ as: 'READ' }, INBOX_CHANGE, () => setRead(true, () => true));
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
        {fetching && !messages && <InboxSkeleton />}
        {messages?.length === 0 && (
          <Empty title="You have no notifications.">
            <p>New ones appear here.</p>
          </Empty>
        )}
        {messages !== undefined && messages.length > 0 && (
          <GridList aria-label="Notifications" className="inbox-list" disallowTypeAhead>
            {messages.map((message) => (
              <InboxRow key={message.id} message={message} refusal={refusal} onMark={mark} />
            ))}
          </GridList>
        )}
        {next.error && <ReadFailure error={next.error} onRetry={loadNext} />}
        {hasMore && (
          <Button isBusy={next.isLoading} onClick={loadNext}>
            Show more
          </Button>
        )}
      </div>
    </Dialog>
  );
}
