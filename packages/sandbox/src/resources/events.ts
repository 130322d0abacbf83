// Endpoints of events, which start workflows.

import type { SandboxDatabase } from '../database.ts';
import { ApiError } from '../errors.ts';
import { createId, sampleId } from '../ids.ts';
import type { OperationRequest, Resource } from '../resource.ts';
import { dataResponse } from '../response.ts';
import { documentOf, flag, isRow, optionalText, type Row, text, toRow } from '../rows.ts';
import { createPreferences } from './inbox.ts';
import { channelsOf, createMessageWriter, stepsOf } from './messages.ts';
import { createNotificationWriter } from './stats.ts';
import { createSubscriberWriter, keptOf } from './subscribers.ts';

const MAX_RECIPIENTS = 100;

/** Events that start workflows. They are sent at once, with one message per channel: delays and digests don't wait, so nothing can be canceled. */
export const resource: Resource = {
  recordList: {
    title: 'Transactions with messages',
    // The sample transactions are the first ones.
    sql: `
      SELECT transaction_id AS id, group_concat(DISTINCT channel) AS label
      FROM messages
      WHERE environment_id = ?
      GROUP BY transaction_id
      ORDER BY min(rowid)
      LIMIT 100
    `,
  },

  createHandlers(database, clock, topUp) {
    const trigger = createTrigger(database, topUp);

    /** Runs one of several events. One that is rejected doesn't affect the others. As in the real service, only these need a payload. */
    function triggerOne(request: OperationRequest, event: Row) {
      try {
        if (event.payload == null) {
          throw new ApiError(400, 'payload should not be null or undefined');
        }
        return trigger(request, event, clock());
      } catch (error) {
        if (error instanceof ApiError) {
          return { acknowledged: true, status: 'error', error: [error.messages].flat() };
        }
        throw error;
      }
    }

    return {
      triggerEvent: (request) => dataResponse(201, trigger(request, request.body, clock())),

      triggerEvents(request) {
        const events = [request.body.events].flat().filter(isRow);
        return dataResponse(
          201,
          events.map((event) => triggerOne(request, event)),
        );
      },

      cancelTriggeredEvent: () => dataResponse(200, false),
    };
  },
};

/** Creates the function that runs one event, and returns what the service responds. */
function createTrigger(database: SandboxDatabase, topUp: () => void) {
  const findWorkflow = database.prepare(
    "SELECT id, document, document ->> '$.active' AS active FROM workflows WHERE environment_id = ? AND identifier = ?",
  );
  const findTransaction = database.prepare(`
    SELECT 1 FROM messages WHERE environment_id = ?1 AND transaction_id = ?2
    UNION ALL
    SELECT 1 FROM notifications
    WHERE environment_id = ?1 AND transaction_id = ?2 AND message_channels <> '[]' LIMIT 1
  `);
  const findSubscriber = database.prepare('SELECT id FROM subscribers WHERE environment_id = ? AND subscriber_id = ?');
  const findTopic = database.prepare('SELECT id FROM topics WHERE environment_id = ? AND key = ?');
  const listTopic = database.prepare(`
    SELECT subscribers.id
    FROM topic_subscribers JOIN subscribers USING (subscriber_id)
    WHERE environment_id = ? AND topic_id = ? AND subscriber_id <> ?
  `);
  const writeNotification = createNotificationWriter(database);
  const writeMessage = createMessageWriter(database);
  const { isWanted } = createPreferences(database);
  const writeSubscriber = createSubscriberWriter(database);

  /** Returns the id of a recipient's record. Creates one that is unknown. */
  function toSubscriber(request: OperationRequest, fields: Row, now: Date): string {
    const known = findSubscriber.get(request.environment.id, text(fields, 'subscriberId'));
    const isComplete = known !== undefined && Object.keys(fields).length === 1;
    return text(isComplete ? known : writeSubscriber(request, fields, now), 'id');
  }

  /** Returns the ids of the subscribers of topics, without the actor. As in the real service, an unknown topic stops the others of the event. */
  function subscribersOf({ environment }: OperationRequest, topics: readonly Row[], actor: unknown): string[] {
    const rows = topics.map(({ topicKey }) => findTopic.get(environment.id, String(topicKey)));
    const actorId = String(isRow(actor) ? actor.subscriberId : actor);
    return rows.includes(undefined)
      ? []
      : rows
          .flatMap((topic) => listTopic.all(environment.id, text(topic ?? {}, 'id'), actorId))
          .map((row) => text(row, 'id'));
  }

  return (request: OperationRequest, event: Row, now: Date) => {
    const { environment, traits } = request;
    const recipients = readRecipients(event.to);
    const workflow = findWorkflow.get(environment.id, text(event, 'name'));
    if (workflow === undefined) {
      throw new ApiError(422, 'workflow_not_found');
    }
    if (event.tenant != null) {
      return { acknowledged: true, status: 'no_tenant_found' }; // The sandbox has no tenants.
    }
    const document = documentOf(workflow);
    const steps = stepsOf(document);
    if (!flag(workflow, 'active')) {
      return { acknowledged: true, status: 'trigger_not_active' };
    }
    if (!steps.some(({ active }) => active === true)) {
      const status = steps.length === 0 ? 'no_workflow_steps_defined' : 'no_workflow_active_steps_defined';
      return { acknowledged: true, status };
    }
    const transactionId = optionalText(event, 'transactionId') ?? createId(now);
    const valid = traits.has('any-recipient') ? recipients : recipients.filter(hasValidId);
    if (valid.length === 0) {
      return { acknowledged: true, status: 'invalid_recipients', transactionId };
    }
    const processed = { acknowledged: true, status: 'processed', transactionId };
    topUp();
    if (findTransaction.get(environment.id, transactionId) !== undefined) {
      return processed; // A repeated transaction is not sent twice, unless all its messages were deleted.
    }
    const { topics = [], others = [] } = Object.groupBy(valid, ({ type }) => (type === 'Topic' ? 'topics' : 'others'));
    const subscribers = new Set([
      ...others
        .filter(({ subscriberId }) => keptOf(request, String(subscriberId)) === undefined)
        .map((fields) => toSubscriber(request, fields, now)),
      ...subscribersOf(request, topics, event.actor),
    ]);
    const channels = channelsOf(steps);
    const content = { workflow: document, payload: toRow(event.payload), overrides: toRow(event.overrides) };
    for (const subscriberId of subscribers) {
      const sent = { subscriberId, transactionId, workflowId: text(workflow, 'id'), createdAt: now.toISOString() };
      const notificationId = createId(now);
      writeNotification(environment, { ...sent, id: notificationId, channels }, []);
      for (const channel of channels.filter((each) => isWanted(subscriberId, document, each, traits))) {
        const id = sampleId(environment, 'message', transactionId, subscriberId, channel); // Examples can name it.
        writeMessage(environment, { ...sent, ...content, id, notificationId, channel });
      }
    }
    return processed;
  };
}

/** Reads recipients: ids of subscribers, subscribers with fields, or topics. @throws {ApiError} 422 if one has another form */
function readRecipients(to: unknown): Row[] {
  const all = [to].flat().map((recipient) => (typeof recipient === 'string' ? { subscriberId: recipient } : recipient));
  const isValid = (recipient: unknown): recipient is Row =>
    isRow(recipient) &&
    isFilled(recipient.type === 'Topic' ? recipient.topicKey : recipient.subscriberId) &&
    Object.entries(recipient).every(isField);
  if (all.length === 0 || all.length > MAX_RECIPIENTS || !all.every(isValid)) {
    throw new ApiError(422, [
      `"to" must be a subscriber id, an object with "subscriberId", a topic, or a list of 1 to ${MAX_RECIPIENTS} of these.`,
    ]);
  }
  return all;
}

const isField = ([name, value]: [string, unknown]): boolean =>
  value === null ||
  (name === 'data' ? isRow(value) : name === 'channels' ? Array.isArray(value) : typeof value === 'string');

/** Whether the id of a recipient or the key of a topic is one that the service sends to. It drops the others silently. */
const hasValidId = ({ subscriberId, topicKey = subscriberId }: Row): boolean =>
  /^(?:[\w.:-]+|[^\s@]+@[^\s@]+\.[^\s@]+)$/.test(String(topicKey));

const isFilled = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';
