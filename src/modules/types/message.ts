// Adds channels, the fields of messages, and the mutation that deletes the messages of a transaction.

import type { FieldMap } from '@pothos/core';
import { listOf } from '../../graphql/values.ts';
import { type ChannelName, deleteMessagesByTransaction, type MessageBody } from '../../upstream/endpoints.ts';
import { defineModule, type Toolkit } from '../module.ts';
import { textOfHtml } from './html.ts';
import { MASKED, visibleJson } from './masking.ts';
import type { PageBody } from './pages.ts';
import { contentFields, type Fields, idField, jsonField, optional, shows, time } from './record-fields.ts';
import { workflows } from './workflow.ts';

/** Channels as the service names them. */
export const CHANNELS = ['in_app', 'email', 'sms', 'chat', 'push'] as const satisfies readonly ChannelName[];

export const messages = defineModule('messages', ({ builder, mutation }) => {
  const Channel = builder.enumType('Channel', {
    description: 'A channel over which the service sends messages.',
    values: {
      IN_APP: { value: 'in_app', description: "Messages in an app's feed." },
      EMAIL: { value: 'email', description: 'Emails.' },
      SMS: { value: 'sms', description: 'Text messages.' },
      CHAT: { value: 'chat', description: 'Messages in a chat service, such as Slack.' },
      PUSH: { value: 'push', description: 'Push notifications.' },
    } as const,
  });

  mutation('deleteMessagesByTransaction', {
    description:
      'Deletes the messages that one trigger of a workflow sent, on all channels or on one. If there are none, the result is a `NotFoundError`; with a `channel`, versions of the service of 2024 look only whether the transaction has any messages.\n\nREST: `DELETE /v1/messages/transaction/{transactionId}?channel=`.',
    scope: 'messages:write',
    endpoint: deleteMessagesByTransaction,
    input: {
      description: 'The messages to delete.',
      fields: (t) => ({
        transactionId: t.id({
          required: true,
          description: 'The id of the transaction, which the service returned when the workflow was triggered.',
        }),
        channel: t.field({ type: Channel, description: 'The channel to delete messages of. Default: all channels.' }),
      }),
    },
    failures: { notFound: { resource: 'Transaction', id: ({ transactionId }) => transactionId } },
    // The service responds without a body.
    resolve: async ({ transactionId, channel }, send) => {
      await send({ transactionId, query: { channel } });
      return { transactionId, channel };
    },
    success: {
      description: 'The transaction has no such messages any more.',
      fields: (t) => ({
        transactionId: t.exposeID('transactionId', { description: 'The id of the transaction.' }),
        channel: t.expose('channel', {
          type: Channel,
          ...optional('The channel whose messages were deleted. Null if they were deleted on all channels.'),
        }),
      }),
    },
  });

  return { Channel };
});

/** Members of the query that select messages. */
type Filter = { channel?: ChannelName; subscriberId?: string; transactionId?: readonly string[] | undefined };

/** Declares the endpoints with which several modules read and delete messages, for the module that has the toolkit. */
export const declareMessageEndpoints = ({ endpoint }: Toolkit) => ({
  listMessages: endpoint('GET /v1/messages', {
    expect: 'page',
    identifiedBy: ['_id', 'id'],
    selectedBy: ['subscriberId', 'transactionId'],
  })
    .takes<{ query: Filter & { page: number; limit: number } }>()
    .returns<PageBody<MessageBody>>(),
  removeMessage: endpoint('DELETE /v1/messages/{messageId}', {
    expect: 'value',
    empties: ['statistics'],
    recordIds: ['messageId'],
  }),
});

/** Apart from the module above, whose types modules of users publish. */
export const sentMessages = defineModule('sentMessages', ({ declareCalls, loadBySentId, use }) => {
  const { Workflow, workflow } = use(workflows);

  /**
   * Creates the fields that a message has for its recipient and for others.
   *
   * @param show returns its texts as a client may see them. @default masks credentials, because they are those of somebody else
   */
  const messageFields = (t: Fields<MessageBody>, show = visibleJson): FieldMap => {
    const masked = show === visibleJson ? ` ${MASKED}` : '';
    return {
      id: idField(t, 'message'),
      subject: t.string({
        ...optional(`The subject as HTML. Null if there is none.${masked}`),
        resolve: ({ subject }, _args, { identity }) => show(subject, identity),
      }),
      ...contentFields(
        t,
        `The text as HTML, with values in place of placeholders. Show \`text\` to people.${masked}`,
        show,
      ),
      text: t.string({
        ...optional(`The text that people read in \`content\`, without HTML and with line breaks.${masked}`),
        extensions: shows(),
        resolve: ({ content }, _args, { identity }) =>
          typeof content === 'string' ? show(textOfHtml(content), identity) : null,
      }),
      seen: t.exposeBoolean('seen', optional('Whether the recipient saw it in the app.')),
      read: t.exposeBoolean('read', optional('Whether the recipient read it in the app.')),
      createdAt: t.expose('createdAt', time('The time when it was created.')),
      transactionId: t.exposeID('transactionId', optional('The id of the transaction that `triggerEvent` returned.')),
      workflowId: t.exposeID(
        '_templateId',
        optional('The id of the workflow that sent it, which differs per environment.'),
      ),
      workflowIdentifier: t.exposeID(
        'templateIdentifier',
        optional(
          'The identifier of the workflow that sent it, which is the same in each environment: the kind of the message.',
        ),
      ),
      tags: t.stringList({
        description: 'The tags of the workflow.',
        resolve: ({ tags }) => listOf(tags),
      }),
      data: t.field({
        type: 'JSONObject',
        ...optional(`The data that the workflow made for the app.${masked}`),
        resolve: ({ data }, _args, { identity }) => show(data, identity),
      }),
      workflow: t.field({
        type: Workflow,
        nullable: true,
        extensions: declareCalls('1 per workflow, 8 at a time', { loader: workflow, reason: 'One per workflow.' }),
        description:
          'The workflow that sent it. Null if it has been deleted.\n\nREST: `GET /v1/workflows/{workflowIdOrIdentifier}` per workflow.',
        resolve: ({ _templateId: sent }, _args, { loaders }) =>
          sent == null ? null : loadBySentId(sent, (id) => loaders.load(workflow, id)),
      }),
      feedId: t.exposeID('_feedId', optional('The id of the feed that shows it in the app. Null if none.')),
      payload: jsonField(t, 'The variables with which the workflow was triggered.', ({ payload }) => payload),
    };
  };

  return { messageFields };
});
