// Shows the feeds, which are separate lists in apps.

import { useRef, useState } from 'react';
import { useQuery } from 'urql';
import { FeedsDocument } from '../documents.gen.ts';
import { ReadFailure } from '../failures/read-failure.tsx';
import { Permitted, ReadOnlyNote, useRefusal } from '../session/permitted.tsx';
import { Refresh } from '../shell/refresh.tsx';
import { useKept } from '../shell/use-kept.ts';
import { View } from '../shell/view.tsx';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Icon } from '../ui/icon.tsx';
import { RowSkeleton } from '../ui/row-skeleton.tsx';
import { useToast } from '../ui/toasts-context.ts';
import { CreateFeed } from './create-feed.tsx';
import { DeleteFeed } from './delete-feed.tsx';
import { FEEDS_CHANGE, type Feed } from './feed.ts';

export function FeedsView() {
  return (
    <View title="Feeds" lead="Lists of in-app messages that an app shows separately.">
      <Permitted scope="feeds:read" what="feeds">
        <Feeds />
      </Permitted>
    </View>
  );
}

/** The list of feeds with its actions. */
function Feeds() {
  const [result, execute] = useQuery({ query: FeedsDocument, context: FEEDS_CHANGE });
  const { data, error, fetching } = result;
  const toast = useToast();
  const heading = useRef<HTMLHeadingElement>(null);
  const refusal = useRefusal('feeds:write');
  const feeds = useKept(data?.feeds)?.filter((feed) => feed !== null);
  const reload = () => execute({ ...FEEDS_CHANGE, requestPolicy: 'network-only' });

  /** The row that had the focus is gone. */
  function onDeleted(name: string) {
    toast(`“${name}” was deleted.`);
    heading.current?.focus();
  }

  return (
    <>
      <ReadOnlyNote refusal={refusal} />
      <CreateFeed refusal={refusal} onReload={reload} />
      <section className="card" aria-labelledby="feeds-title">
        <div className="card-head">
          <h2 id="feeds-title" ref={heading} tabIndex={-1}>
            All feeds
          </h2>
          <Refresh result={result} onRefresh={reload} />
        </div>
        {error && <ReadFailure error={error} onRetry={reload} />}
        {fetching && !feeds && <RowSkeleton label="feeds" rows={4} />}
        {feeds?.length === 0 && (
          <Empty title="There are no feeds.">
            <p>Create the first one above.</p>
          </Empty>
        )}
        <ul className="rows">
          {feeds?.map((feed) => (
            <FeedRow key={feed.id ?? feed.name} feed={feed} refusal={refusal} onDeleted={onDeleted} onReload={reload} />
          ))}
        </ul>
      </section>
    </>
  );
}

interface FeedRowProps {
  feed: Feed;
  /** Reason why it can't be changed. */
  refusal: string | undefined;
  onDeleted: (name: string) => void;
  onReload: () => void;
}

/** A feed in the list, with its id to copy. */
function FeedRow({ feed: { id, name }, refusal, onDeleted, onReload }: FeedRowProps) {
  const [isDeleting, setIsDeleting] = useState(false);
  const reason = refusal ?? (id === null ? 'The service sent no id for this feed.' : undefined);
  return (
    <li className="row">
      <span className="row-text">
        <span className="row-name">{name}</span>
        <span className="row-note">{id !== null && <code>{id}</code>}</span>
      </span>
      <span className="actions">
        {id !== null && <CopyButton text={id} label={`Copy id of ${name}`} />}
        <Button kind="delete" refusal={reason} onClick={() => setIsDeleting(true)} aria-label={`Delete ${name}`}>
          <Icon name="delete" />
          Delete
        </Button>
      </span>
      {isDeleting && id !== null && (
        <DeleteFeed
          id={id}
          name={name}
          onDeleted={onDeleted}
          onClose={() => setIsDeleting(false)}
          onReload={onReload}
        />
      )}
    </li>
  );
}
