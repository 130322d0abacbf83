import type { GraphQLResolveInfo } from 'graphql';
import type { SubscriberBody, SubscriberFields } from '../../upstream/resources/subscribers.ts';
import { builder } from '../builder.ts';
import { mapBounded } from '../bulk.ts';
import type { GatewayContext } from '../context.ts';
import {
  asConflict,
  asInvalidInput,
  assertRange,
  asUpstreamFailure,
  ConflictError,
  InvalidInputError,
  toMutationResult,
  UpstreamFailure,
} from '../errors.ts';
import { deriveIdempotencyKey, IDEMPOTENCY_KEY, REPLAYED } from '../idempotency.ts';
import { maskCredentials } from '../mask-credentials.ts';
import { requireScopes } from '../require-scopes.ts';

/** Subscribers in one bulk mutation at most. */
const MAX_BULK = 100;

const Subscriber = builder.objectRef<SubscriberBody>('Subscriber').implement({
  description: 'A recipient of notifications.',
  extensions: requireScopes('subscribers:read'),
  fields: (t) => ({
    subscriberId: t.exposeID('subscriberId', { description: "The caller's own identifier of the user; the key." }),
    id: t.id({
      nullable: true,
      description: 'The id that the service generated; null when it did not send one.',
      resolve: ({ _id, id }) => _id ?? id,
    }),
    firstName: t.exposeString('firstName', { nullable: true, description: 'The first name.' }),
    lastName: t.exposeString('lastName', { nullable: true, description: 'The last name.' }),
    email: t.exposeString('email', { nullable: true, description: 'The e-mail address.' }),
    phone: t.exposeString('phone', { nullable: true, description: 'The phone number.' }),
    avatar: t.exposeString('avatar', { nullable: true, description: 'The URL of the profile image.' }),
    locale: t.exposeString('locale', { nullable: true, description: 'The language and region, such as en-US.' }),
    data: t.expose('data', { type: 'JSONObject', nullable: true, description: "The caller's own key/value pairs." }),
    channels: t.field({
      type: ['JSONObject'],
      description:
        'The channel settings, such as push tokens; empty when there are none. Browsers see no credentials in them.',
      resolve: ({ channels }, _args, { identity }) =>
        identity.clientKind === 'browser' ? maskCredentials(channels ?? []) : (channels ?? []),
    }),
    isOnline: t.exposeBoolean('isOnline', { nullable: true, description: 'Whether the subscriber is online now.' }),
    lastOnlineAt: t.expose('lastOnlineAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the subscriber was online last.',
    }),
    organizationId: t.exposeID('_organizationId', { description: 'The organization it belongs to.' }),
    environmentId: t.exposeID('_environmentId', { description: 'The environment it belongs to.' }),
    deleted: t.exposeBoolean('deleted', { description: 'Whether the record is deleted.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the record was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the record was changed last.' }),
    revision: t.exposeInt('__v', { nullable: true, description: "The record's revision. On the wire: __v." }),
  }),
});

const CreateSubscriberInput = builder.inputType('CreateSubscriberInput', {
  description: 'The subscriber to create or update. A field that is null or left out is not sent.',
  fields: (t) => ({
    subscriberId: t.id({ required: true, description: "The caller's own identifier of the user; the key." }),
    email: t.string({ description: 'The e-mail address.' }),
    firstName: t.string({ description: 'The first name.' }),
    lastName: t.string({ description: 'The last name.' }),
    phone: t.string({ description: 'The phone number.' }),
    avatar: t.string({ description: 'The http URL of the profile image.' }),
    locale: t.string({ description: 'The language and region, such as en-US.' }),
    data: t.field({ type: 'JSONObject', description: "The caller's own key/value pairs; replaces what was there." }),
    channels: t.field({ type: ['JSONObject'], description: 'The channel settings, such as push tokens.' }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

const CreateSubscribersInput = builder.inputType('CreateSubscribersInput', {
  description: 'The subscribers to create or update.',
  fields: (t) => ({
    subscribers: t.field({
      type: [CreateSubscriberInput],
      required: true,
      description: `1 to ${MAX_BULK} subscribers.`,
    }),
  }),
});

const CreateSubscriberSuccess = builder
  .objectRef<{ __typename: 'CreateSubscriberSuccess'; subscriber: SubscriberBody; replayed: boolean }>(
    'CreateSubscriberSuccess',
  )
  .implement({
    description: 'The subscriber is created, or updated where the subscriberId existed.',
    fields: (t) => ({
      subscriber: t.expose('subscriber', { type: Subscriber, description: 'The subscriber as it is now.' }),
      replayed: t.exposeBoolean('replayed', { description: REPLAYED }),
    }),
  });

const CreateSubscriberResult = builder.unionType('CreateSubscriberResult', {
  description: 'What became of createSubscriber.',
  types: [CreateSubscriberSuccess, InvalidInputError, ConflictError],
});

const CreateSubscribersItem = builder.unionType('CreateSubscribersItem', {
  description: 'What became of one subscriber of createSubscribers.',
  types: [CreateSubscriberSuccess, InvalidInputError, ConflictError, UpstreamFailure],
});

const CreateSubscribersPayload = builder
  .objectRef<{ results: (typeof CreateSubscribersItem.$inferType)[] }>('CreateSubscribersPayload')
  .implement({
    description: 'What became of each subscriber.',
    fields: (t) => ({
      results: t.expose('results', {
        type: [CreateSubscribersItem],
        description: 'results[i] answers subscribers[i].',
      }),
      succeeded: t.int({
        description: 'How many are created or updated.',
        resolve: ({ results }) => countSuccesses(results),
      }),
      failed: t.int({
        description: 'How many failed.',
        resolve: ({ results }) => results.length - countSuccesses(results),
      }),
    }),
  });

const countSuccesses = (results: readonly { __typename: string }[]): number =>
  results.filter(({ __typename }) => __typename === 'CreateSubscriberSuccess').length;

/** The input as the service's fields: null and absent are both left out, for the service knows no null here. */
const toFields = ({ idempotencyKey: _, ...input }: typeof CreateSubscriberInput.$inferInput): SubscriberFields => ({
  subscriberId: input.subscriberId,
  ...Object.fromEntries(Object.entries(input).filter(([, value]) => value != null)),
});

/** @param item the position in a bulk mutation */
async function create(
  ctx: GatewayContext,
  info: GraphQLResolveInfo,
  input: typeof CreateSubscriberInput.$inferInput,
  item?: number,
) {
  const key = deriveIdempotencyKey(ctx, info, input.idempotencyKey, item);
  const { body, replayed } = await ctx.upstream.createSubscriber(toFields(input), key, item !== undefined);
  return { __typename: 'CreateSubscriberSuccess' as const, subscriber: body, replayed };
}

builder.mutationFields((t) => ({
  createSubscriber: t.field({
    type: CreateSubscriberResult,
    nullable: true,
    extensions: requireScopes('subscribers:write'),
    description: 'Creates a subscriber. The same subscriberId again updates the record. POST /v1/subscribers',
    args: { input: t.arg({ type: CreateSubscriberInput, required: true, description: 'The subscriber.' }) },
    resolve: (_root, { input }, ctx, info) =>
      toMutationResult(() => create(ctx, info, input), asInvalidInput(), asConflict),
  }),
  createSubscribers: t.field({
    type: CreateSubscribersPayload,
    nullable: true,
    extensions: { ...requireScopes('subscribers:write'), calls: '1 per subscriber, 10 at a time' },
    description: `Creates 1 to ${MAX_BULK} subscribers with bounded concurrency; one failure never hides the others. POST /v1/subscribers for each`,
    args: { input: t.arg({ type: CreateSubscribersInput, required: true, description: 'The subscribers.' }) },
    resolve: async (_root, { input: { subscribers } }, ctx, info) => {
      assertRange('the number of subscribers', subscribers.length, 1, MAX_BULK);
      const results = await mapBounded(subscribers, (input, index) =>
        toMutationResult(
          () => create(ctx, info, input, index),
          asInvalidInput(['input', 'subscribers', String(index)]),
          asConflict,
          asUpstreamFailure,
        ),
      );
      return { results };
    },
  }),
}));
