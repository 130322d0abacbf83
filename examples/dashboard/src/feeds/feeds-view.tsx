import { type Ref, useRef, useState } from 'react';
import { Permitted } from '../session/permitted.tsx';
import { View } from '../shell/view.tsx';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Field } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { useToast } from '../ui/toasts-context.ts';
import { useConfirmedText } from '../ui/use-confirmed-text.ts';
import { CreateFeed } from './create-feed.tsx';
import { DeleteFeed, type OnFeedDeleted } from './delete-feed.tsx';
import { type KnownFeed, useKnownFeeds } from './known-feeds.ts';

/** The view to create and delete feeds; the service can't list them. */
export function FeedsView() {
  return (
    <View title="Feeds" lead="Lists of in-app messages that an app shows separately.">
      <Permitted scope="feeds:write" verb="change" what="feeds">
        <Permitted scope="feeds:read" what="feeds">
          <Feeds />
        </Permitted>
      </Permitted>
    </View>
  );
}

function Feeds() {
  const [feeds, replace] = useKnownFeeds();
  const toast = useToast();
  const heading = useRef<HTMLHeadingElement>(null);

  /** @param remaining all feeds that are left, of which those without an id can't be used; null if they are unknown */
  const onDeleted: OnFeedDeleted = (id, remaining) => {
    const name = feeds.find((feed) => feed.id === id)?.name ?? id;
    replace(
      (remaining ?? feeds.filter((feed) => feed.id !== id)).flatMap((feed): KnownFeed[] =>
        feed.id === null ? [] : [{ id: feed.id, name: feed.name }],
      ),
    );
    toast(`“${name}” was deleted.`);
    heading.current?.focus(); // The button that had the focus is gone.
  };

  return (
    <>
      <CreateFeed onCreated={(feed) => replace([feed, ...feeds.filter(({ id }) => id !== feed.id)])} />
      <FeedList feeds={feeds} headingRef={heading} onDeleted={onDeleted} />
      <DeleteFeedForm feeds={feeds} onDeleted={onDeleted} />
    </>
  );
}

interface FeedsProps {
  feeds: readonly KnownFeed[];
  onDeleted: OnFeedDeleted;
}

/** The form to delete a feed that this browser doesn't know. */
function DeleteFeedForm({ feeds, onDeleted }: FeedsProps) {
  const { text: id, field, isAsking, ask, close, clear } = useConfirmedText('Enter the id of a feed.');
  return (
    <form className="card" noValidate onSubmit={ask} aria-label="Delete a feed">
      <div className="inline-form">
        <Field {...field} label="Delete a feed by its id" autoCapitalize="off" spellCheck={false} />
        <Button type="submit" kind="delete">
          Delete…
        </Button>
      </div>
      {isAsking && (
        <DeleteFeed
          id={id}
          name={feeds.find((feed) => feed.id === id)?.name}
          onDeleted={(deleted, remaining) => {
            clear();
            onDeleted(deleted, remaining);
          }}
          onClose={close}
        />
      )}
    </form>
  );
}

/** The known feeds, with their ids to copy. */
function FeedList({ feeds, headingRef, onDeleted }: FeedsProps & { headingRef: Ref<HTMLHeadingElement> }) {
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
