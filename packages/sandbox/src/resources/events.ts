// Endpoints of events, which start workflows.

import type { SandboxDatabase } from '../database.ts';
import type { Environment } from '../environments.ts';
import { ApiError } from '../errors.ts';
import { createId } from '../ids.ts';
import { type Channel, isChannel } from '../records.ts';
import type { Resource } from '../resource.ts';
import { dataResponse } from '../response.ts';
import { flag, isRow, json, optionalText, type Row, text } from '../rows.ts';
import { createNotificationWriter } from './stats.ts';
import { createSubscriberWriter } from './subscribers.ts';

const MAX_RECIPIENTS = 100;

/** Events that start workflows. They are sent at once, with one message per channel: delays and digests don't wait, so nothing can be canceled. */
export const resource: Resource = {
  createHandlers(database, clock) {
    const trigger = createTrigger(database);

    /** Runs one of several events. One that is rejected doesn't affect the others. */
    function triggerOne(environment: Environment, event: Row) {
      try {
        return trigger(environment, event, clock());
      } catch (error) {
        if (error instanceof ApiError) {
          return { acknowledged: true, status: 'error', error: [error.messages].flat() };
        }
        throw error;
      }
    }

    return {
      triggerEvent: ({ environment, body }) => dataResponse(201, trigger(environment, body, clock())),

      triggerEvents({ environment, body }) {
        const events = [body.events].flat().filter(isRow);
        return dataResponse(
          201,
          events.map((event) => triggerOne(environment, event)),
        );
      },

      cancelTriggeredEvent: () => dataResponse(200, false),
    };
  },
};

/** Creates the function that runs one event, and returns what the service responds. */
function createTrigger(database: SandboxDatabase) {
  const findWorkflow = database.prepare(
    "SELECT id, document, document ->> '$.active' AS active FROM workflows WHERE environment_id = ? AND identifier = ?",
  );
  const findTransaction = database.prepare(`
    SELECT 1 FROM notifications
    WHERE environment_id = ? AND transaction_id = ? AND coalesce(message_channels, channels) <> '[]' LIMIT 1
  `);
  const findSubscriber = database.prepare('SELECT id FROM subscribers WHERE environment_id = ? AND subscriber_id = ?');
  const listTopic = database.prepare(`
    SELECT topic_subscribers.subscriber_id FROM topics JOIN topic_subscribers ON topic_id = topics.id
    WHERE environment_id = ? AND key = ?
  `);
  const writeNotification = createNotificationWriter(database);
  const writeSubscriber = createSubscriberWriter(database);

  /** Returns the ids of the subscribers that a recipient stands for. Creates those that are unknown. */
  function subscribersOf(environment: Environment, recipient: Row, now: Date): string[] {
    const isTopic = recipient.type === 'Topic';
    const all = isTopic
      ? listTopic
          .all(environment.id, text(recipient, 'topicKey'))
          .map((row) => ({ subscriberId: text(row, 'subscriber_id') }))
      : [recipient];
    return all.flatMap((fields) => {
      const known = findSubscriber.get(environment.id, text(fields, 'subscriberId'));
      const isComplete = known !== undefined && Object.keys(fields).length === 1;
      return isTopic && known === undefined
        ? [] // It was deleted since.
        : text(isComplete ? known : writeSubscriber(environment, fields, now), 'id');
    });
  }

  return (environment: Environment, event: Row, now: Date) => {
    const name = text(event, 'name');
    const recipients = readRecipients(event.to);
    const workflow = findWorkflow.get(environment.id, name);
    if (workflow === undefined) {
      throw new ApiError(422, [`This environment has no workflow with the trigger identifier "${name}".`]);
    }
    const transactionId = optionalText(event, 'transactionId') ?? createId(now);
    const respond = (status: string) => ({ acknowledged: true, status, transactionId });
    const steps = stepsOf(workflow);
    const channels = channelsOf(steps);
    if (!flag(workflow, 'active')) {
      return respond('trigger_not_active');
    }
    if (channels.length === 0) {
      return respond(steps.length === 0 ? 'no_workflow_steps_defined' : 'no_workflow_active_steps_defined');
    }
    if (findTransaction.get(environment.id, transactionId) !== undefined) {
      return respond('processed'); // A repeated transaction is not sent twice, unless all its messages were deleted.
    }
    const subscribers = new Set(recipients.flatMap((recipient) => subscribersOf(environment, recipient, now)));
    if (subscribers.size === 0) {
      return respond('subscriber_id_missing');
    }
    for (const subscriberId of subscribers) {
      writeNotification(environment, {
        id: createId(now),
        workflowId: text(workflow, 'id'),
        subscriberId,
        transactionId,
        channels,
        createdAt: now.toISOString(),
      });
    }
    return respond('processed');
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

const isFilled = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

function stepsOf(workflow: Row): Row[] {
  const document = json(workflow, 'document');
  return isRow(document) ? [document.steps].flat().filter(isRow) : [];
}

function channelsOf(steps: readonly Row[]): Channel[] {
  const types = steps.flatMap(({ active, template }) => (active === true && isRow(template) ? template.type : []));
  return [...new Set(types.filter(isChannel))];
}
