// Tables and endpoints of messages, and the function that writes them.

import type { SandboxDatabase } from '../database.ts';
import { type Environment, owned } from '../environments.ts';
import { ApiError } from '../errors.ts';
import { sampleId } from '../ids.ts';
import { type Channel, isChannel, type NotificationRecord, type TransactionRecord } from '../records.ts';
import { findId } from '../references.ts';
import type { Resource } from '../resource.ts';
import { bareResponse, dataResponse, emptyResponse } from '../response.ts';
import { documentOf, isRow, optionalText, type Row, requireRecord, text, toRow } from '../rows.ts';
import { createSubscriberFinder } from './subscribers.ts';

export const NEWEST_FIRST = 'ORDER BY created_at DESC, rowid DESC';

/** Document of a message as lists have it: with its recipient, as it is, or null if that is gone. Patches leave out what is null. */
export const LISTED = `
  json_set(document, '$.id', id, '$.subscriber', json((
    SELECT json_patch('{}', json_object(
      '_id', id, 'id', id, 'subscriberId', subscriber_id, 'firstName', document ->> '$.firstName',
      'lastName', document ->> '$.lastName', 'avatar', document ->> '$.avatar'
    ))
    FROM subscribers WHERE subscribers.id = messages.subscriber_id
  ))) AS document
`;

/** Messages: one per notification and channel. */
export const resource: Resource = {
  schema: `
    CREATE TABLE messages (
      id TEXT PRIMARY KEY,
      environment_id TEXT NOT NULL,
      document TEXT NOT NULL,
      subscriber_id TEXT NOT NULL GENERATED ALWAYS AS (document ->> '$._subscriberId') STORED,
      transaction_id TEXT NOT NULL GENERATED ALWAYS AS (document ->> '$.transactionId') STORED,
      channel TEXT NOT NULL GENERATED ALWAYS AS (document ->> '$.channel') STORED,
      created_at TEXT NOT NULL GENERATED ALWAYS AS (document ->> '$.createdAt') STORED
    ) STRICT;
    CREATE INDEX messages_by_subscriber ON messages (subscriber_id, created_at);
    CREATE INDEX messages_by_transaction ON messages (environment_id, transaction_id);
  `,

  writeRecords(database, { messages = [] }, { environment, now }) {
    const write = createMessageWriter(database);
    const findWorkflow = database.prepare('SELECT document FROM workflows WHERE id = ?');
    for (const { id, channels = ['email'] as const, workflow, subscriberId, hoursAgo = 0, ...record } of messages) {
      const { transactionId, createdAt = new Date(Date.parse(now) - hoursAgo * 3_600_000).toISOString() } = record;
      const idOf = (kind: 'workflow' | 'subscriber', name = '') =>
        name && findId(database, environment, kind, name, `The transaction "${transactionId}"`);
      const [workflowId, recipientId] = [idOf('workflow', workflow), idOf('subscriber', subscriberId)];
      const sent = { workflowId, workflow: documentOf(findWorkflow.get(workflowId)), subscriberId: recipientId };
      const notificationId = sampleId(environment, 'notification', transactionId);
      for (const channel of channels) {
        const messageId = (channel === channels[0] && id) || sampleId(environment, 'message', transactionId, channel);
        write(environment, { ...record, ...sent, createdAt, id: messageId, notificationId, channel });
      }
    }
  },

  createHandlers(database, _clock, topUp) {
    const findSubscriber = createSubscriberFinder(database);
    const filter = `
      FROM messages
      WHERE environment_id = :environment
        AND coalesce(subscriber_id = :filter ->> '$.subscriber', true)
        AND coalesce(channel = :filter ->> '$.channel', true)
        AND (:filter -> '$.transactions' IS NULL OR transaction_id IN (SELECT value FROM json_each(:filter, '$.transactions')))
    `;
    const readPage = database.preparePages(`SELECT ${LISTED} ${filter} ${NEWEST_FIRST}`);
    const remove = database.prepare(`
      DELETE FROM messages WHERE environment_id = ? AND id = ?
      RETURNING subscriber_id IN ('', (SELECT id FROM subscribers WHERE id = messages.subscriber_id)) AS recipient
    `);
    const removeAll = database.prepare(`DELETE ${filter}`);
    const count = database.prepare('SELECT 1 FROM messages WHERE environment_id = ? AND transaction_id = ?');
    const removeTraffic = database.prepare(`
      UPDATE notifications SET message_channels = (
        SELECT json_group_array(value) FROM json_each(message_channels) WHERE value <> :channel
      )
      WHERE environment_id = :environment AND transaction_id = :transaction
        AND EXISTS (SELECT 1 FROM json_each(message_channels) WHERE :channel IS NULL OR value = :channel)
    `);
    return {
      /** As in the real service, an unknown subscriber is 404. */
      listMessages(request) {
        const { environment, query } = request;
        const { subscriberId, channel, transactionId: transactions } = query;
        const subscriber = subscriberId && findSubscriber({ ...request, params: query }).id;
        const selected = { environment: environment.id, filter: JSON.stringify({ subscriber, channel, transactions }) };
        const { page, totalCount, hasMore, pageSize, rows } = readPage(selected, query.page, query.limit);
        return bareResponse(200, { page, totalCount, hasMore, pageSize, data: rows.map(documentOf) });
      },

      deleteMessage({ environment, params }) {
        const id = text(params, 'messageId');
        const { recipient } = requireRecord(remove.get(environment.id, id), 'message', id, 'messageId');
        if (recipient !== 1) {
          throw new ApiError(400, `A subscriber was not found for message ${id}`);
        }
        return dataResponse(200, { acknowledged: true, status: 'deleted' });
      },

      /** Deletes the messages of a transaction. Statistics don't change: they count the notifications that were sent. */
      deleteMessagesByTransaction({ environment, params, query, traits }) {
        topUp();
        const transaction = text(params, 'transactionId');
        const channel = optionalText(query, 'channel');
        const filter = JSON.stringify({ channel, transactions: [transaction] });
        const selected = { environment: environment.id, filter };
        const ofTraffic = { environment: environment.id, transaction, channel };
        const isSent = () => traits.has('any-channel') && count.get(environment.id, transaction) !== undefined;
        if (removeAll.run(selected).changes === 0 && removeTraffic.run(ofTraffic).changes === 0 && !isSent()) {
          const kind = channel === null ? 'messages' : `${channel} messages`;
          throw new ApiError(404, `This environment has no ${kind} of the transaction "${transaction}".`);
        }
        return emptyResponse();
      },
    };
  },
};

/** Message to write. The ids of its workflow and subscriber are those of records; an empty one is none. */
interface NewMessage extends Omit<NotificationRecord & TransactionRecord, 'channels' | 'workflow'> {
  workflow: Row;
  channel: Channel;
  notificationId: string;
  overrides?: Row;
}

/** Creates the function that writes a message. Its content is that of the workflow's first active step on its channel, unless it has its own. */
export function createMessageWriter(database: SandboxDatabase) {
  const insert = database.prepare('INSERT INTO messages (id, environment_id, document) VALUES (?, ?, ?)');
  const findSubscriber = database.prepare('SELECT document FROM subscribers WHERE id = ?');
  return (environment: Environment, message: NewMessage): void => {
    const { id, workflowId, workflow, subscriberId, notificationId, payload = {}, overrides = {}, ...rest } = message;
    const { seen = false, read = false, channel, createdAt } = rest;
    const recipient = documentOf(findSubscriber.get(subscriberId));
    const step = stepsOf(workflow).find(({ active, template }) => active && toRow(template).type === channel);
    const { _id, _feedId = null, subject, content, cta, actor, avatar, data } = toRow(step?.template);
    const action = { buttons: [], ...toRow(toRow(cta).action) }; // As in the real service, always.
    const texts = { subject: subject || undefined, content, cta: { ...toRow(cta), action }, avatar, data };
    const sent = { ...render(texts, { ...payload, subscriber: recipient }), actor, payload, _feedId };
    const ids = { _id: id, _notificationId: notificationId, _subscriberId: subscriberId };
    const { identifier } = toRow([workflow.triggers].flat()[0]);
    const ofApp = channel === 'in_app' ? { providerId: 'novu' } : { overrides };
    const always = { ...ofApp, tags: workflow.tags ?? [], archived: false, deleted: false, __v: 0 };
    const source = { _templateId: workflowId, templateIdentifier: identifier, _messageTemplateId: _id };
    const dates = { lastSeenDate: seen ? createdAt : undefined, lastReadDate: read ? createdAt : undefined };
    const state = { status: 'sent', deviceTokens: [], seen, read, updatedAt: createdAt, ...dates };
    const document = { ...ids, ...(workflowId && source), ...sent, ...always, ...rest, ...state };
    insert.run(id, environment.id, JSON.stringify(owned(environment, document)));
  };
}

/** Returns the steps of a workflow. */
export const stepsOf = ({ steps }: Row): Row[] => [steps].flat().filter(isRow);

/** Returns the channels on which a workflow sends. */
export function channelsOf(steps: readonly Row[]): Channel[] {
  const types = steps.flatMap(({ active, template }) => (active === true && isRow(template) ? template.type : []));
  return [...new Set(types.filter(isChannel))];
}

/** Characters that Handlebars escapes. The service turns the apostrophe back. */
const ESCAPES: Row = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '`': '&#x60;', '=': '&#x3D;' };

/**
 * Replaces the placeholders in all texts of a value, such as `{{name}}` and `{{a.b}}`. Unknown ones become empty. As in the real service, texts are
 * HTML: `&` becomes `&amp;`, unless the placeholder is `{{{name}}}`.
 */
function render(value: Row, variables: Row): Row {
  const find = (path: string): string =>
    String(path.split('.').reduce<unknown>((part, name) => toRow(part)[name], variables) ?? '');
  const replace = (_: string, raw: string | undefined, path: string): string =>
    raw === undefined ? find(path).replace(/[&<>"`=]/g, (char) => String(ESCAPES[char])) : find(raw);
  return JSON.parse(JSON.stringify(value), (_name, part) =>
    typeof part === 'string' ? part.replace(/{{{\s*([\w.]+)\s*}}}|{{\s*([\w.]+)\s*}}/g, replace) : part,
  );
}
