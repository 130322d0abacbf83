// Defines the messages of an inbox, with their links and buttons.

import { requireScopes } from '../../graphql/scopes.ts';
import { listOf, requireId } from '../../graphql/values.ts';
import type { MessageBody } from '../../upstream/endpoints.ts';
import type { Toolkit } from '../module.ts';
import { addressOfHtml, isSafeAddress, textOfHtml } from './html.ts';
import { sentMessages } from './message.ts';
import { extraField, type Fields, jsonField, optional, shows, time } from './record-fields.ts';

type SentCta = NonNullable<MessageBody['cta']>;
type SentAction = NonNullable<SentCta['action']>;
type SentButton = NonNullable<SentAction['buttons']>[number];
type Link = { url?: string; target?: string };
type ButtonBody = SentButton & { isCompleted: boolean };
type CtaBody = Link & { type?: string | undefined; status?: string | undefined; buttons: readonly ButtonBody[] };

/** Members of a message that are for the service and its providers, or a record of their own: no field shows them. */
const HIDDEN = ['overrides', 'deviceTokens', 'directWebhookUrl', 'subscriber', 'template'];

const linkFields = (t: Fields<Link>) => ({
  url: t.string({
    ...optional('The address to open. With a token, null if it would run code, such as `javascript:`.'),
    // What other people wrote can be part of an address.
    resolve({ url: html }, _args, { identity }) {
      const url = html == null ? html : addressOfHtml(html);
      return url != null && (identity.clientKind === 'server' || isSafeAddress(url)) ? url : null;
    },
  }),
  target: t.exposeString('target', optional('The window to open it in, as the attribute `target` of a link in HTML.')),
});

/** Returns the link and the buttons of a message; null if it has neither. */
function ctaOf({ cta }: MessageBody): CtaBody | null {
  const { status, buttons, result } = cta?.action ?? {};
  const pressed = status === 'done' ? result?.type : undefined;
  const shown = listOf(buttons).map((button) => ({ ...button, isCompleted: button.type === (pressed ?? null) }));
  return shown.length === 0 && !cta?.type && !cta?.data?.url
    ? null
    : { ...cta?.data, type: cta?.type, status, buttons: shown };
}

/** Defines the type of a message in an inbox, as a part of the module that has the toolkit. */
export function defineInboxMessage({ builder, use }: Toolkit) {
  const { messageFields } = use(sentMessages);
  const readable = { extensions: requireScopes('inbox:read') };

  const InboxButton = builder.objectRef<ButtonBody>('InboxButton').implement({
    description: 'A button of an in-app message.',
    fields: (t) => ({
      type: t.exposeString('type', optional('The kind, such as `primary`, for `completeMessageAction`.')),
      content: t.exposeString('content', optional('The text on the button as HTML. Show `text` to people.')),
      text: t.string({
        ...optional('The text on the button, without HTML.'),
        resolve: ({ content }) => (content == null ? null : textOfHtml(content)),
      }),
      isCompleted: t.exposeBoolean('isCompleted', { description: 'Whether this button was pressed.' }),
      ...linkFields(t),
    }),
  });

  const InboxCta = builder.objectRef<CtaBody>('InboxCta').implement({
    description: 'A link and buttons of an in-app message.',
    ...readable,
    fields: (t) => ({
      type: t.exposeString('type', optional('The kind, such as `redirect`.')),
      ...linkFields(t),
      buttons: t.expose('buttons', {
        type: [InboxButton],
        nullable: true,
        description: 'The buttons. Empty if there are none.',
      }),
      status: t.exposeString('status', optional('The status of the buttons: `pending`, or `done` after one was used.')),
    }),
  });

  const InboxMessage = builder.objectRef<MessageBody>('InboxMessage').implement({
    description: 'An in-app message.',
    ...readable,
    fields: (t) => ({
      ...messageFields(t, (value) => value),
      id: t.id({
        extensions: shows('_id', 'id'),
        description:
          "The message's id. A `Message` with the same id is the same message, as the service's operators see it.",
        resolve: ({ _id, id }) => requireId(_id ?? id),
      }),
      subjectText: t.string({
        ...optional('The subject that people read, without HTML. Null if there is none.'),
        resolve: ({ subject }) => (subject == null ? null : textOfHtml(subject)),
      }),
      seen: t.boolean({ description: 'Whether it was shown to the person.', resolve: ({ seen }) => seen ?? false }),
      read: t.boolean({ description: 'Whether the person read it.', resolve: ({ read }) => read ?? false }),
      lastSeenAt: t.expose(
        'lastSeenDate',
        time('The time when it was last marked as seen, unseen, read or unread. Null if never.'),
      ),
      lastReadAt: t.expose('lastReadDate', time('The time when it was last marked as read or unread. Null if never.')),
      actor: jsonField(
        t,
        'The person or system that caused it, with a picture, as sent by the service.',
        ({ actor }) => actor,
      ),
      cta: t.field({
        type: InboxCta,
        ...optional('The link and the buttons. Null if there are none.'),
        resolve: ctaOf,
      }),
      extra: extraField(t, 'inbox', undefined, HIDDEN),
    }),
  });

  return InboxMessage;
}
