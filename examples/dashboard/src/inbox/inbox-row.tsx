// Shows messages of the inbox, and placeholders while they are loaded.

import { Button } from 'react-aria-components/Button';
import { GridListItem } from 'react-aria-components/GridList';
import { Link } from 'react-aria-components/Link';
import type { MarkAs } from '../documents.gen.ts';
import { formatTime } from '../messages/message.ts';
import { Skeleton, SkeletonLine } from '../ui/skeleton.tsx';
import type { InboxMessage } from './use-inbox.ts';

interface InboxRowProps {
  message: InboxMessage;
  /** Reason why it can't be marked. */
  refusal: string | undefined;
  onMark: (id: string, as: MarkAs) => void;
}

/** A message of the inbox. Its button stays where it is when it is pressed, so that the focus does. */
export function InboxRow({
  message: { id, subjectText: subject, text, read, createdAt, cta },
  refusal,
  onMark,
}: InboxRowProps) {
  const title = subject || text || 'A message without a text';
  const canMark = !read && refusal === undefined;
  const markAsRead = () => onMark(id, 'READ');
  return (
    <GridListItem
      className="inbox-row"
      textValue={read ? title : `Unread: ${title}`}
      data-unread={!read || undefined}
      {...(canMark && { onAction: markAsRead })}
    >
      <span className="inbox-text">
        {!read && <span className="visually-hidden">Unread: </span>}
        {title}
      </span>
      {subject && text && <span className="inbox-note">{text}</span>}
      <span className="inbox-facts">
        <span className="inbox-note">
          {createdAt !== null && <time dateTime={createdAt}>{formatTime(createdAt)}</time>}
        </span>
        <span className="inbox-actions">
          {/* With a token, the gateway sends no address that would run code. */}
          {cta?.url != null && (
            <Link
              className="button button-quiet"
              href={cta.url}
              target={cta.target === '_blank' ? '_blank' : '_self'}
              rel="noopener"
              aria-label={`Open: ${title}`}
              {...(canMark && { onPress: markAsRead })}
            >
              Open
            </Link>
          )}
          {refusal === undefined && (
            <Button className="button button-quiet" onPress={() => onMark(id, read ? 'UNREAD' : 'READ')}>
              {read ? 'Mark as unread' : 'Mark as read'}
            </Button>
          )}
        </span>
      </span>
    </GridListItem>
  );
}

/** A placeholder for messages, as high as they are. */
export function InboxSkeleton() {
  return (
    <Skeleton label="notifications" list="inbox-list">
      <span className="inbox-row">
        <SkeletonLine width="16em" />
        <span className="inbox-facts">
          <SkeletonLine width="8em" />
        </span>
      </span>
    </Skeleton>
  );
}
