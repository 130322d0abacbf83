// Defines the messages of an inbox, with their links and buttons.

import type { MessageBody } from '../../upstream/endpoints.ts';
import type { Toolkit } from '../module.ts';
import { extraField, jsonField, optional, time } from '../record-fields.ts';
import { requireScopes } from '../scopes.ts';
import { sentMessages } from './message.ts';

type CtaBody = { [Name in 'type' | 'url' | 'status']?: string | undefined } & { buttons?: ButtonBody[] };
type ButtonBody = { type?: string; content?: string };

/** Members of a message that are for the service and its providers, or a record of their own: no field shows them. */
const HIDDEN = ['overrides', 'deviceTokens', 'directWebhookUrl', 'subscriber', 'template'];

/** Defines the type of a message in an inbox, as a part of the module that has the toolkit. */
export function defineInboxMessage({ builder, use }: Toolkit) {
  const { messageFields } = use(sentMessages);
  const readable = { extensions: requireScopes('inbox:read') };

  const InboxButton = builder.objectRef<ButtonBody>('InboxButton').implement({
    description: 'A button of an in-app message.',
    fields: (t) => ({
      type: t.exposeString('type', optional('The kind, such as `primary`, for `completeMessageAction`.')),
      content: t.exposeString('content', optional('The text on the button.')),
    }),
  });

  const InboxCta = builder.objectRef<CtaBody>('InboxCta').implement({
    description: 'A link and buttons of an in-app message.',
    ...readable,
    fields: (t) => ({
      type: t.exposeString('type', optional('The kind, such as `redirect`.')),
      url: t.exposeString('url', optional('The address to open. Check it before you use it as a link.')),
      buttons: t.expose('buttons', { type: [InboxButton], nullable: true, description: 'The buttons. Null if none.' }),
      status: t.exposeString('status', optional('The status of the buttons: `pending`, or `done` after one was used.')),
    }),
  });

  const InboxMessage = builder.objectRef<MessageBody>('InboxMessage').implement({
    description: 'An in-app message.',
    ...readable,
    fields: (t) => ({
      ...messageFields(t, (value) => value),
      seen: t.boolean({ description: 'Whether it was shown to the person.', resolve: ({ seen }) => seen ?? false }),
      read: t.boolean({ description: 'Whether the person read it.', resolve: ({ read }) => read ?? false }),
      lastSeenAt: t.expose('lastSeenDate', time('The time when it was last marked as seen. Null if never.')),
      lastReadAt: t.expose('lastReadDate', time('The time when it was last marked as read. Null if never.')),
      actor: jsonField(
        t,
        'The person or system that caused it, with a picture, as sent by the service.',
        ({ actor }) => actor,
      ),
      cta: t.field({
        type: InboxCta,
        nullable: true,
        description: 'The link and the buttons. Null if there are none.',
        resolve: ({ cta }) => cta && { ...cta.action, type: cta.type, url: cta.data?.url },
      }),
      extra: extraField(t, 'inbox', undefined, HIDDEN),
    }),
  });

  return InboxMessage;
}
