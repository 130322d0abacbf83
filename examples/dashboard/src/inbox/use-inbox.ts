// Loads the inbox of the signed-in person page by page, and keeps what is loaded while messages arrive, are marked and are deleted.

import { useState } from 'react';
import { type CombinedError, useClient, useQuery } from 'urql';
import { InboxDocument, type InboxResult } from '../documents.gen.ts';

type InboxPage = NonNullable<NonNullable<InboxResult['inbox']>['messages']>;

export type InboxMessage = NonNullable<InboxPage['messages'][number]>;

/** Number of messages per page. */
const LIMIT = 20;

/** The loaded messages, newest first. */
interface Loaded {
  /** Page with the newest messages, as it was sent last. */
  first: InboxPage;
  messages: readonly InboxMessage[];
  hasMore: boolean;
}

const messagesOf = ({ messages }: InboxPage) => messages.filter((message) => message !== null);

/** Puts the newest messages in front of those that follow them. If so many arrived that none of them is known, only the newest are kept. */
function withFirst(first: InboxPage, loaded: Loaded | undefined): Loaded {
  const newest = messagesOf(first);
  const messages = loaded?.messages ?? [];
  const last = messages.findLastIndex(({ id }) => id === newest.at(-1)?.id);
  const older = last < 0 ? [] : messages.slice(last + 1);
  const { hasMore } = older.length > 0 && loaded ? loaded : first;
  return { first, messages: [...newest, ...older], hasMore };
}

/** Adds the page that follows a message, unless that is no longer the last one. */
function withNext(page: InboxPage, after: string, loaded: Loaded | undefined): Loaded | undefined {
  return loaded?.messages.at(-1)?.id === after
    ? { ...loaded, messages: [...loaded.messages, ...messagesOf(page)], hasMore: page.hasMore }
    : loaded;
}

export function useInbox() {
  const client = useClient();
  const [{ data, error, fetching }, execute] = useQuery({
    query: InboxDocument,
    variables: { page: 0, limit: LIMIT },
    requestPolicy: 'cache-and-network',
  });
  const [loaded, setLoaded] = useState<Loaded>();
  const [next, setNext] = useState<{ isLoading: boolean; error?: CombinedError | undefined }>({ isLoading: false });
  const first = data?.inbox?.messages;
  if (first && first !== loaded?.first) {
    setLoaded(withFirst(first, loaded));
  }

  async function loadNext(): Promise<void> {
    const after = loaded?.messages.at(-1)?.id;
    if (loaded === undefined || after === undefined) {
      return;
    }
    setNext({ isLoading: true });
    const variables = { page: Math.floor(loaded.messages.length / LIMIT), limit: LIMIT, after };
    const result = await client.query(InboxDocument, variables, { requestPolicy: 'network-only' });
    const page = result.data?.inbox?.messages;
    if (page) {
      setLoaded((latest) => withNext(page, after, latest));
    }
    setNext({ isLoading: false, error: result.error });
  }

  return {
    /** Undefined until the newest messages are loaded. */
    messages: loaded?.messages,
    hasMore: loaded?.hasMore ?? false,
    fetching,
    error,
    /** Loads the newest messages again. */
    reload: () => execute({ requestPolicy: 'network-only' }),
    next,
    /** Loads the messages that follow. */
    loadNext,
    /** Shows the new state of messages that are not among the newest, which are loaded again. */
    setRead(read: boolean, changed: (id: string) => boolean): void {
      setLoaded(
        (latest) =>
          latest && {
            ...latest,
            messages: latest.messages.map((message) => (changed(message.id) ? { ...message, read } : message)),
          },
      );
    },
  };
}
