import { useRef } from 'react';
import { Permitted } from '../session/permitted.tsx';
import { View } from '../shell/view.tsx';
import { useToast } from '../ui/toasts-context.ts';
import { CreateFeed } from './create-feed.tsx';
import { DeleteFeedForm } from './delete-feed-form.tsx';
import { FeedList } from './feed-list.tsx';
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
  const { items: feeds, replace } = useKnownFeeds();
  const toast = useToast();
  const heading = useRef<HTMLHeadingElement>(null);

  /** @param remaining all feeds that are left, of which those without an id can't be used; null if they are unknown */
  function onDeleted(id: string, remaining: readonly { id: string | null; name: string }[] | null) {
    const name = feeds.find((feed) => feed.id === id)?.name ?? id;
    replace(
      (remaining ?? feeds.filter((feed) => feed.id !== id)).flatMap((feed): KnownFeed[] =>
        feed.id === null ? [] : [{ id: feed.id, name: feed.name }],
      ),
    );
    toast(`“${name}” was deleted.`);
    heading.current?.focus(); // The button that had the focus is gone.
  }

  return (
    <>
      <CreateFeed onCreated={(feed) => replace([feed, ...feeds.filter(({ id }) => id !== feed.id)])} />
      <FeedList feeds={feeds} headingRef={heading} onDeleted={onDeleted} />
      <DeleteFeedForm feeds={feeds} onDeleted={onDeleted} />
    </>
  );
}
