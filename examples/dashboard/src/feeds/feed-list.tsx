import { type Ref, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Icon } from '../ui/icon.tsx';
import { DeleteFeed, type OnFeedDeleted } from './delete-feed.tsx';
import type { KnownFeed } from './known-feeds.ts';

interface FeedListProps {
  feeds: readonly KnownFeed[];
  headingRef: Ref<HTMLHeadingElement>;
  onDeleted: OnFeedDeleted;
}

/** The known feeds, with their ids to copy. */
export function FeedList({ feeds, headingRef, onDeleted }: FeedListProps) {
  const [deleting, setDeleting] = useState<KnownFeed>();
  return (
    <section className="card" aria-labelledby="feeds-title">
      <h2 id="feeds-title" ref={headingRef} tabIndex={-1}>
        Known feeds
      </h2>
      {feeds.length === 0 && (
        <Empty title="This browser knows no feeds yet.">
          <p>Feeds that you create here appear here.</p>
        </Empty>
      )}
      <ul className="rows">
        {feeds.map((feed) => (
          <li className="row" key={feed.id}>
            <span className="row-text">
              <span className="row-name">{feed.name}</span>
              <span className="row-note">
                <code>{feed.id}</code>
              </span>
            </span>
            <span className="actions">
              <CopyButton text={feed.id} label={`Copy id of ${feed.name}`} />
              <Button kind="delete" aria-label={`Delete ${feed.name}`} onClick={() => setDeleting(feed)}>
                <Icon name="delete" />
                Delete
              </Button>
            </span>
          </li>
        ))}
      </ul>
      <p className="fine-print">
        The service cannot list feeds. These were created in this browser, or were left when the last one was deleted.
      </p>
      {deleting && (
        <DeleteFeed
          id={deleting.id}
          name={deleting.name}
          onDeleted={onDeleted}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </section>
  );
}
