// Adds subscribers and their mutations.

import { listOf } from '../../graphql/values.ts';
import { createSubscriber, type SubscriberBody } from '../../upstream/endpoints.ts';
import { defineModule } from '../module.ts';
import { PROFILE } from '../toolkit/arguments.ts';
import type { GraphTypes } from '../toolkit/builder.ts';
import { visibleJson } from './masking.ts';
import { extraField, idField, optional, ownerFields, time } from './record-fields.ts';

const MAX_BULK = 100;

export function profileFields(t: PothosSchemaTypes.InputFieldBuilder<GraphTypes, 'InputObject'>) {
  const text = (description: string) =>
    t.string({ extensions: PROFILE, description: `${description} Null clears it; it must not be empty.` });
  return {
    email: text('The email address.'),
    firstName: text('The first name.'),
    lastName: text('The last name.'),
    phone: text('The phone number.'),
    avatar: text('The http or https URL of the profile picture.'),
    locale: text('The language and region, such as `en-US`.'),
  };
}

export const subscribers = defineModule('subscribers', (toolkit) => {
  const { builder, bulkMutation, entity, mutation, requireScopes } = toolkit;
  const keys = entity({ subscriberId: null });

  const Subscriber = builder.objectRef<SubscriberBody>('Subscriber').implement({
    description: 'A person or system that receives notifications.',
    extensions: { ...requireScopes('subscribers:read'), ...keys },
    fields: (t) => ({
      subscriberId: t.exposeID('subscriberId', {
        description:
          "The id that your system gave the subscriber, usually the user's id. Unique within the environment.",
      }),
      id: idField(t, 'subscriber', ' Use `subscriberId` to identify the subscriber.'),
      firstName: t.exposeString('firstName', optional('The first name.')),
      lastName: t.exposeString('lastName', optional('The last name.')),
      email: t.exposeString('email', optional('The email address.')),
      phone: t.exposeString('phone', optional('The phone number.')),
      avatar: t.exposeString('avatar', optional('The URL of the profile picture.')),
      locale: t.exposeString('locale', optional('The language and region, such as `en-US`.')),
      data: t.expose('data', { type: 'JSONObject', nullable: true, description: 'Your own key/value pairs.' }),
      channels: t.field({
        type: ['JSONObject'],
        description:
          'The settings per provider, such as push tokens and webhooks. With a token, credentials are `[masked]`.',
        resolve: ({ channels }, _args, { identity }) =>
          listOf(channels).map((channel) => visibleJson(channel, identity, 'settings')),
      }),
      isOnline: t.exposeBoolean(
        'isOnline',
        optional('Whether the subscriber is connected to the in-app feed. Null if unknown.'),
      ),
      lastOnlineAt: t.expose(
        'lastOnlineAt',
        time('The time when the subscriber was last connected. Null if never, or unknown.'),
      ),
      ...ownerFields(t, 'subscriber'),
      deleted: t.boolean({
        description: 'Whether the subscriber is deleted.',
        resolve: ({ deleted }) => deleted ?? false,
      }),
      createdAt: t.expose('createdAt', { type: 'DateTime', description: 'The time when the subscriber was created.' }),
      updatedAt: t.expose('updatedAt', {
        type: 'DateTime',
        description: 'The time when the subscriber was last changed.',
      }),
      revision: t.exposeInt('__v', optional('The revision number that the service assigned.')),
      extra: extraField(t, 'subscribers'),
    }),
  });

  const creation = mutation('createSubscriber', {
    description: 'Creates a subscriber, or updates the one with the same `subscriberId`, even if it was deleted.',
    scope: 'subscribers:write',
    endpoint: createSubscriber,
    input: {
      description:
        'The subscriber to create or update. In an update, fields that are omitted keep their values, and null clears them. If the service has kept a deleted subscriber, that is an update too.',
      argument: 'The subscriber.',
      fields: (t) => ({
        subscriberId: t.id({
          required: true,
          description:
            "The id of the subscriber in your system, usually the user's id. If it already exists, that subscriber is updated.",
        }),
        ...profileFields(t),
        data: t.field({
          type: 'JSONObject',
          description: 'Your own key/value pairs. In an update, they replace all existing ones, and null clears them.',
        }),
        channels: t.field({
          type: ['JSONObject'],
          description:
            'The settings per provider, such as push tokens and webhooks. Services only add to them. If one is refused, the outcome is UNKNOWN, because the other fields may have been stored.',
        }),
      }),
    },
    resolve: async ({ subscriberId, ...fields }, send) => ({
      subscriber: await send({ body: { subscriberId, ...fields } }),
    }),
    success: {
      description: 'The subscriber was created, or updated if the `subscriberId` already existed.',
      fields: (t) => ({
        subscriber: t.expose('subscriber', { type: Subscriber, description: 'The created or updated subscriber.' }),
      }),
    },
  });

  bulkMutation('createSubscribers', creation, {
    description: `Creates or updates 1 to ${MAX_BULK} subscribers. Each has its own result, so one failure doesn't affect the others.\n\nREST: \`POST /v1/subscribers\` per subscriber.`,
    calls: '1 per subscriber, 10 at a time',
    items: 'subscribers',
    max: MAX_BULK,
    uniqueBy: 'subscriberId',
    input: {
      description: 'The subscribers to create or update.',
      argument: 'The subscribers.',
      items: `The subscribers, 1 to ${MAX_BULK}, each once. Each can have its own \`idempotencyKey\`.`,
    },
    result: {
      item: 'The result of `createSubscribers` for one subscriber.',
      results: 'The results, in the order of the input: `results[i]` is for `subscribers[i]`.',
      succeeded: 'The number of subscribers created or updated.',
      failed: 'The number of subscribers that failed.',
    },
  });

  return { Subscriber, keys };
});
