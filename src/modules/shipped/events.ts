// Adds mutations that trigger and cancel events.

import { isRecord } from '../../lib/is-record.ts';
import type { EventBody } from '../../upstream/endpoints.ts';
import { defineShipped } from '../module.ts';
import { nameField } from '../types/record-fields.ts';
import { profileFields } from '../types/subscriber.ts';

/** Maximum recipients of an event, and events in one mutation. */
const MAX = 100;

export interface TriggeredEventBody {
  status: string;
  transactionId?: string;
  error?: unknown;
}

/** Lists of recipients, in the order in which they are sent. */
const LISTS = ['subscriberIds', 'subscribers', 'topicKeys'] as const;

/** Members of an event's body that the input has too. */
const SAME_MEMBERS = ['payload', 'overrides', 'transactionId', 'tenant'];

const STATUSES = [
  ['processed', 'The workflow was started.'],
  ['trigger_not_active', 'The workflow is inactive.'],
  ['no_workflow_active_steps_defined', 'No step of the workflow is active.'],
  ['no_workflow_steps_defined', 'The workflow has no steps.'],
  ['subscriber_id_missing', 'There is no recipient, for example because a topic has no subscribers.'],
  ['invalid_recipients', 'All recipients have ids that the service refuses, such as one with a slash.'],
  ['no_tenant_found', 'The tenant does not exist.'],
  ['error', 'The service failed. `problems` has its messages.'],
] as const;

const isKnown = (status: string): boolean => STATUSES.some(([value]) => value === status);

/** Returns the statuses of events that started no workflow. */
const failuresIn = (events: readonly TriggeredEventBody[]): string[] =>
  events.flatMap(({ status }) => (status === 'processed' ? [] : isKnown(status) ? status.toUpperCase() : 'OTHER'));

export default defineShipped('notigraph/modules/events', (toolkit) => {
  const { assertRange, badResponse, builder, endpoint, mutation } = toolkit;
  const options = { idempotent: true, identifiedBy: ['acknowledged', 'status'], empties: ['statistics'] } as const;
  const trigger = endpoint('POST /v1/events/trigger', options)
    .takes<{ body: EventBody }>()
    .returns<TriggeredEventBody>();
  const triggerAll = endpoint('POST /v1/events/trigger/bulk', { ...options, expect: 'list' })
    .takes<{ body: { events: EventBody[] } }>()
    .returns<TriggeredEventBody[]>();
  const cancel = endpoint('DELETE /v1/events/trigger/{transactionId}', { expect: 'value', empties: ['statistics'] });

  const EventStatus = builder.enumType('EventStatus', {
    description: 'The reason why the workflow of an event was started or not.',
    values: Object.fromEntries(
      STATUSES.map(([value, description]) => [value.toUpperCase(), { value: value as string, description }]),
    ),
  });

  const TriggeredEvent = builder.objectRef<TriggeredEventBody>('TriggeredEvent').implement({
    description: 'An event that the service accepted.',
    fields: (t) => ({
      isProcessed: t.boolean({
        description: 'Whether the workflow was started. If it was not, `status` tells why.',
        resolve: ({ status }) => status === 'processed',
      }),
      status: t.field({
        type: EventStatus,
        nullable: true,
        description:
          'The result. Null if the service sent a status that is not in `EventStatus`, which is then in `problems`.',
        resolve: ({ status }) => (isKnown(status) ? status : null),
      }),
      transactionId: t.exposeID('transactionId', {
        nullable: true,
        description:
          'The id of the transaction, for `deleteMessagesByTransaction` and `cancelTriggeredEvent`. Null if the service sent none.',
      }),
      problems: t.stringList({
        description:
          'The messages of the service, if `status` is `ERROR`, and a status that is not in `EventStatus`, as the service sent it.',
        resolve: ({ status, error }) =>
          [isKnown(status) ? [] : status, error]
            .flat()
            .map((each) => (isRecord(each) ? each.message : each))
            .filter((text) => typeof text === 'string'),
      }),
    }),
  });

  const EventSubscriberInput = builder.inputType('EventSubscriberInput', {
    description: 'A recipient whose profile is created, or updated, before the workflow starts.',
    fields: (t) => ({
      subscriberId: t.id({ required: true, description: 'The id of the subscriber in your system.' }),
      ...profileFields(t),
    }),
  });

  const EventInput = builder.inputType('EventInput', {
    description: `An event with 1 to ${MAX} recipients.`,
    fields: (t) => ({
      workflow: nameField(t, 'The trigger identifier of the workflow.'),
      subscriberIds: t.idList({ description: 'The ids of subscribers. Unknown ones are created.' }),
      subscribers: t.field({ type: [EventSubscriberInput], description: 'Subscribers with their profiles.' }),
      topicKeys: t.idList({ description: 'The keys of topics, whose subscribers get the notification.' }),
      payload: t.field({
        type: 'JSONObject',
        description: 'The variables that the content of the workflow uses. Default: none.',
      }),
      overrides: t.field({
        type: 'JSONObject',
        description: 'Settings of providers, which replace those of the workflow.',
      }),
      transactionId: t.id({
        description:
          'Your own id of the transaction. A transaction that the service knows is not sent again. Default: chosen by the service.',
      }),
      actorId: t.id({ description: 'The id of the subscriber who caused the event.' }),
      tenant: t.string({ description: 'The identifier of the tenant whose content is used.' }),
    }),
  });

  type Event = typeof EventInput.$inferInput;

  function toBody(event: Event): EventBody {
    const { workflow, subscriberIds, subscribers, topicKeys, actorId, ...fields } = event;
    const to = [
      ...(subscriberIds ?? []),
      ...(subscribers ?? []),
      ...(topicKeys ?? []).map((topicKey) => ({ type: 'Topic', topicKey })),
    ];
    assertRange('the number of recipients in subscriberIds, subscribers and topicKeys', to.length, 1, MAX);
    // The endpoint for one event replaces a missing payload by an empty one, but that for several rejects the event.
    return { name: workflow, to, payload: {}, ...withoutNulls({ ...fields, actor: actorId }) };
  }

  function toEventPath([name = '', ...rest]: readonly string[], event: Event): readonly string[] {
    if (name === 'to') {
      const recipients = LISTS.flatMap((list) => (event[list] ?? []).map((_, i) => [list, String(i)]));
      const recipient = recipients[Number(rest[0])] ?? [];
      return recipient[0] === 'subscribers' ? [...recipient, ...rest.slice(1)] : recipient;
    }
    const field = name === 'name' ? 'workflow' : name === 'actor' ? 'actorId' : name;
    const isOfPayload = field === name && !SAME_MEMBERS.includes(name); // Services name the members of a payload without it.
    return name === '' ? [] : [...(isOfPayload ? ['payload'] : []), field, ...rest];
  }

  mutation('triggerEvent', {
    description: 'Starts a workflow for its recipients.',
    scope: 'events:write',
    endpoint: trigger,
    input: {
      description: 'The event to trigger.',
      fields: (t) => ({ event: t.field({ type: EventInput, required: true, description: 'The event.' }) }),
    },
    inputPath: (path, { event }) => (path.length === 0 ? [] : ['event', ...toEventPath(path, event)]),
    resolve: async ({ event }, send) => ({ event: await send({ body: toBody(event) }) }),
    success: {
      description: 'The service accepted the event. `isProcessed` tells whether the workflow was started.',
      fields: (t) => ({ event: t.expose('event', { type: TriggeredEvent, description: 'The event.' }) }),
      failures: ({ event }) => failuresIn([event]),
    },
  });

  mutation('triggerEvents', {
    description: `Triggers 1 to ${MAX} events with one call. Each has its own result.`,
    scope: 'events:write',
    endpoint: triggerAll,
    input: {
      description: 'The events to trigger.',
      fields: (t) => ({ events: t.field({ type: [EventInput], required: true, description: 'The events.' }) }),
    },
    inputPath(path, { events }) {
      const ofOne = events.length === 1 ? ['0', ...path] : [];
      const [index, ...rest] = path[0] === 'events' ? path.slice(1) : ofOne;
      const event = index === undefined ? undefined : events[Number(index)];
      return event === undefined ? [] : ['events', String(index), ...toEventPath(rest, event)];
    },
    resolve: async ({ events }, send) => {
      assertRange('the number of events', events.length, 1, MAX);
      const results = await send({ body: { events: events.map(toBody) } });
      if (results.length !== events.length) {
        throw badResponse(
          `sent ${results.length} results for ${events.length} events, which may all have been triggered`,
        );
      }
      return { events: results };
    },
    success: {
      description: 'The service accepted the events.',
      fields: (t) => ({
        events: t.expose('events', {
          type: [TriggeredEvent],
          nullable: { list: false, items: true },
          description:
            'The events, in the order of the input. If the service sends an invalid result, that event is null and has an entry in `errors`.',
        }),
      }),
      failures: ({ events }) => failuresIn(events),
    },
  });

  mutation('cancelTriggeredEvent', {
    description: 'Cancels what a delay or digest still holds back of a triggered event.',
    scope: 'events:write',
    endpoint: cancel,
    input: {
      description: 'The event to cancel.',
      fields: (t) => ({ transactionId: t.id({ required: true, description: 'The id of its transaction.' }) }),
    },
    failures: { notFound: { resource: 'Transaction', id: ({ transactionId }) => transactionId } },
    resolve: async ({ transactionId }, send) => ({
      transactionId,
      isCanceled: (await send({ transactionId })) === true,
    }),
    success: {
      description: 'The service canceled what was pending, if anything was.',
      fields: (t) => ({
        transactionId: t.exposeID('transactionId', { description: 'The id of the transaction.' }),
        isCanceled: t.exposeBoolean('isCanceled', { description: 'Whether something was pending.' }),
      }),
    },
  });

  return { EventInput, TriggeredEvent };
});

const withoutNulls = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));
