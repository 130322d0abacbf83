// Defines the inbox of a subscriber: pages of messages, their numbers, and preferences. All of it is read when it is asked for.

import type { GatewayContext } from '../../graphql/context.ts';
import { requireScopes } from '../../graphql/scopes.ts';
import { isRecord } from '../../lib/is-record.ts';
import type { DeclaredEndpoint } from '../../upstream/endpoint.ts';
import type { MessageBody, MessageCountBody, PreferenceBody, PreferencesBody } from '../../upstream/endpoints.ts';
import type { Toolkit } from '../module.ts';
import { mergePages, readFollowing, splitValues } from './composed-pages.ts';
import { defineInboxMessage } from './inbox-message.ts';
import { assertPage, definePage, type PageBody, pageArg, sizeArg } from './pages.ts';
import { definePreferences } from './preference.ts';

/** Maximum messages of a page and in one mutation, and feeds in one filter. The service counts up to this number too. */
export const MAX = 100;

export type Feeds = { feedIdentifier?: readonly string[] | undefined };
type Query = {
  page: number;
  limit: number;
  seen?: boolean | null | undefined;
  read?: boolean | null | undefined;
} & Feeds;
export type InboxBody = { subscriberId: string };

export const FEEDS_ARG = { description: 'Only messages in feeds with these identifiers. Default: all.' };

/** Defines the type of an inbox, as a part of the module that has the toolkit. Returns also the reads of its preferences. */
export function defineInbox(toolkit: Toolkit) {
  const { assertRange, builder, declareCalls, endpoint, nullIfAbsent } = toolkit;
  const InboxMessage = defineInboxMessage(toolkit);
  const { ChannelPreferences, WorkflowPreference } = definePreferences(toolkit);
  const readable = { extensions: requireScopes('inbox:read') };
  const list = { expect: 'list' } as const;

  const listMessages = endpoint('GET /v1/subscribers/{subscriberId}/notifications/feed', { expect: 'page' })
    .takes<{ query: Query }>()
    .returns<Partial<PageBody<MessageBody>> & { pageSize?: number }>();
  const count = endpoint('GET /v1/subscribers/{subscriberId}/notifications/unseen', { identifiedBy: ['count'] })
    .takes<{ query: { seen: boolean; limit: number; feedId?: readonly string[] | undefined } & Feeds }>()
    .returns<MessageCountBody>();
  const preferences = endpoint('GET /v1/subscribers/{subscriberId}/preferences', list).returns<PreferenceBody[]>();
  const globals = endpoint('GET /v1/subscribers/{subscriberId}/preferences/global', list).returns<PreferencesBody[]>();

  const subscriber = (id: string) => ({ resource: 'Subscriber', id });

  /** Reads a page of messages. Versions of 2022 send ten, whatever the limit is, and how many there are instead of `hasMore`. */
  async function readPage(id: string, query: Query, { upstream }: GatewayContext) {
    const sent = await nullIfAbsent(upstream.read(listMessages, { subscriberId: id, query }), subscriber(id));
    const { data = [], pageSize = query.limit, totalCount } = sent ?? {};
    const isFull =
      totalCount === undefined ? data.length >= query.limit : totalCount > query.page * pageSize + data.length;
    return { data, hasMore: sent?.hasMore ?? isFull, totalCount: Math.min(totalCount ?? data.length, MAX) };
  }

  /** Reads the preference for each workflow. Invalid ones keep their places. */
  async function readPreferences(id: string, { upstream }: GatewayContext) {
    const sent = await nullIfAbsent(upstream.read(preferences, { subscriberId: id }), subscriber(id));
    return (sent ?? []).map((each) => (isRecord(each) ? { ...each, subscriberId: id } : each));
  }

  /** Reads the preferences for all workflows; undefined until the service knows the subscriber. */
  async function readGlobals(id: string, { upstream }: GatewayContext) {
    const [sent] = (await nullIfAbsent(upstream.read(globals, { subscriberId: id }), subscriber(id))) ?? [];
    return sent && { ...sent, subscriberId: id };
  }

  /** Returns feeds as they are sent. None would mean all of them to the service. */
  const feedsOf = (feeds: readonly string[] | null | undefined) => {
    assertRange('the number of feeds', feeds?.length ?? 1, 1, MAX);
    return feeds ?? undefined;
  };

  const InboxPage = definePage(builder, 'InboxPage', 'messages', InboxMessage, 'hasMore', readable.extensions);

  const InboxCount = builder.objectRef<MessageCountBody>('InboxCount').implement({
    description: 'A number of messages.',
    ...readable,
    fields: (t) => ({
      count: t.exposeInt('count', { description: `The number. The service counts up to ${MAX}.` }),
      isMore: t.boolean({
        description: 'Whether there may be more: show `99+`.',
        resolve: (sent) => sent.count >= MAX,
      }),
    }),
  });

  const readBy = (read: DeclaredEndpoint, description: string) => ({
    nullable: true as const,
    extensions: declareCalls('1', { endpoint: read, reason: 'One per inbox.' }),
    description: `${description}\n\nREST: \`GET ${read.route}\`.`,
  });

  const Inbox = builder.objectRef<InboxBody>('Inbox').implement({
    description: 'The in-app messages and preferences of a subscriber. Empty as long as the service does not know it.',
    ...readable,
    fields: (t) => ({
      id: t.id({ description: 'An id for caches of clients.', resolve: ({ subscriberId: id }) => `inbox:${id}` }),
      subscriberId: t.id({
        description: 'The id of the subscriber in your system.',
        resolve: ({ subscriberId: id }, _args, ctx) => ctx.tryKey()?.then(() => id) ?? id, // Only the service knows its keys.
      }),
      messages: t.field({
        type: InboxPage,
        ...readBy(listMessages, 'Returns one page of the messages, with the newest first.'),
        args: {
          page: pageArg(t.arg),
          limit: sizeArg(t.arg, 'messages', MAX),
          after: t.arg.id({
            description:
              'The id of the message that the page follows. None is skipped or repeated then if others were sent, marked or deleted meanwhile. With the number of the page as well, this takes one call if nothing changed. Default: the page with that number.',
          }),
          seen: t.arg.boolean({ description: 'Only seen messages, or only unseen ones. Default: all.' }),
          read: t.arg.boolean({ description: 'Only read messages, or only unread ones. Default: all.' }),
          feeds: t.arg.stringList(FEEDS_ARG),
        },
        async resolve({ subscriberId: id }, { page, limit, after, feeds, ...filter }, ctx) {
          assertPage({ page, limit }, MAX);
          const read = mergePages(feedsOf(feeds), (number, size, feedIdentifier) =>
            readPage(id, { page: number, limit: size, ...filter, feedIdentifier }, ctx),
          );
          const sent = after == null ? read(page, limit) : readFollowing(read, { page, limit, after });
          return { totalCount: 0, ...(await sent), page };
        },
      }),
      unseen: t.field({
        type: InboxCount,
        ...readBy(count, 'Returns the number of messages that the person has not seen.'),
        args: { feeds: t.arg.stringList(FEEDS_ARG) },
        async resolve({ subscriberId: id }, args, { upstream }) {
          const counts = splitValues(feedsOf(args.feeds)).map(async (feeds) => {
            const query = { seen: false, limit: MAX, feedIdentifier: feeds, feedId: feeds }; // Its name before 2025, and since.
            const sent = await nullIfAbsent(upstream.read(count, { subscriberId: id, query }), subscriber(id));
            return sent?.count ?? 0;
          });
          const [first = 0, ...others] = await Promise.all(counts);
          return { count: others.reduce((sum, each) => Math.min(MAX, sum + each), first) };
        },
      }),
      unread: t.field({
        type: InboxCount,
        ...readBy(
          listMessages,
          `Returns the number of messages that the person has not read. The service sends up to ${MAX} messages for it.`,
        ),
        resolve: async ({ subscriberId: id }, _args, ctx) => ({
          count: (await readPage(id, { page: 0, limit: MAX, read: false }, ctx)).totalCount,
        }),
      }),
      preferences: t.field({
        type: [WorkflowPreference],
        ...readBy(preferences, 'Returns the preference for each active workflow; some versions omit critical ones.'),
        nullable: { list: true, items: true },
        resolve: ({ subscriberId: id }, _args, ctx) => readPreferences(id, ctx),
      }),
      globalPreferences: t.field({
        type: ChannelPreferences,
        ...readBy(globals, 'Returns the preferences for all workflows. Null until the service knows the subscriber.'),
        resolve: ({ subscriberId: id }, _args, ctx) => readGlobals(id, ctx),
      }),
    }),
  });

  return { Inbox, InboxMessage, ChannelPreferences, WorkflowPreference, readPreferences, readGlobals, feedsOf };
}
