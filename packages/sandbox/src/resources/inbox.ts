// Tables and endpoints of a subscriber's inbox: its in-app messages, and what it wants to receive.

import type { SandboxDatabase } from '../database.ts';
import { ApiError } from '../errors.ts';
import { CHANNELS, type Channel } from '../records.ts';
import type { OperationRequest, Resource } from '../resource.ts';
import { bareResponse, dataResponse } from '../response.ts';
import { assertRecordId, documentOf, isRow, type Row, requireRecord, requireRow, text, toRow } from '../rows.ts';
import type { ActiveTraits } from '../traits.ts';
import { channelsOf, LISTED, NEWEST_FIRST, stepsOf } from './messages.ts';
import { createSubscriberFinder } from './subscribers.ts';

const MAX_PAGE_SIZE = 100;

/** The in-app messages of a subscriber, by state and feed. */
const INBOX = `
  subscriber_id = :subscriber AND document ->> '$.channel' = 'in_app'
  AND coalesce(document ->> '$.seen' = :filter ->> '$.seen', true)
  AND coalesce(document ->> '$.read' = :filter ->> '$.read', true)
  AND (:filter -> '$.feeds' IS NULL OR document ->> '$._feedId' IN (
    SELECT id FROM feeds WHERE name IN (SELECT value FROM json_each(:filter, '$.feeds'))
  ))
  AND (:filter -> '$.ids' IS NULL OR id IN (SELECT value FROM json_each(:filter, '$.ids')))
`;

/** Members of messages that answers to marks lack. */
const UNMARKED = ['actor', 'archived', 'avatar', 'data', 'deleted', 'severity', 'tags', 'updatedAt', '__v'];

/** Inboxes: messages in the app with their states, and preferences. */
export const resource: Resource = {
  // Preferences by the id of their workflow. The global ones have an empty id.
  schema: `
    CREATE TABLE preferences (
      subscriber_id TEXT PRIMARY KEY,
      document TEXT NOT NULL
    ) STRICT;
  `,

  createHandlers(database, clock) {
    const findSubscriber = createSubscriberFinder(database);
    const readPage = database.preparePages(`SELECT ${LISTED} FROM messages WHERE ${INBOX} ${NEWEST_FIRST}`);
    const count = database.prepare(`SELECT min(count(*), :limit) AS count FROM messages WHERE ${INBOX}`);
    const change = database.prepare(`UPDATE messages SET document = json_patch(document, :changes) WHERE ${INBOX}`);
    const find = database.prepare(
      'SELECT document FROM messages WHERE environment_id = ? AND id IN (SELECT value FROM json_each(?)) ORDER BY rowid',
    );
    const findWorkflow = database.prepare(
      'SELECT document FROM workflows WHERE environment_id = ? AND ? IN (id, iif(?, NULL, identifier))',
    );
    const listWorkflows = database.prepare('SELECT document FROM workflows WHERE environment_id = ? ORDER BY rowid');
    const preferences = createPreferences(database);

    /** Returns the subscriber whose preferences are read. */
    const findReader = (request: OperationRequest) =>
      findSubscriber(request, request.traits.has('old-preferences') ? 400 : 404);

    /** Returns the preference of a subscriber for a workflow, as the service does. */
    function toPreference(id: string, workflow: Row, traits: ActiveTraits) {
      const { _id, name, critical, tags, triggers, data } = workflow;
      const { enabled, channels: all } = preferences.read(id, traits, workflow);
      const listed = traits.has('all-channels') ? CHANNELS : channelsOf(stepsOf(workflow));
      const channels = Object.fromEntries(listed.map((type) => [type, all[type]]));
      return { template: { _id, name, critical, tags, triggers, data }, preference: { enabled, channels } };
    }

    return {
      listInboxMessages(request) {
        const { seen, read, feedIdentifier: feeds, ...query } = request.query;
        const toMessage = (id: string) =>
          `Subscriber not found for this environment with the id: ${id}. Make sure to create a subscriber before fetching the feed.`;
        const subscriber = findSubscriber(request, 400, toMessage).id;
        if (Number(query.limit) > MAX_PAGE_SIZE) {
          throw new ApiError(422, [`limit must not be greater than ${MAX_PAGE_SIZE}`]);
        }
        const filter = JSON.stringify({ seen, read, feeds });
        const { rows, hasMore, pageSize, page } = readPage({ subscriber, filter }, query.page, query.limit);
        return bareResponse(200, { data: rows.map(documentOf), totalCount: rows.length, hasMore, pageSize, page });
      },

      countInboxMessages(request) {
        const { seen = false, limit = 100, feedIdentifier, feedId: feeds = feedIdentifier } = request.query;
        const toMessage = (id: string) =>
          `Subscriber ${id} is not exist in environment ${request.environment.id}, please provide a valid subscriber identifier`;
        const subscriber = findSubscriber(request, 400, toMessage).id;
        const filter = JSON.stringify({ seen, feeds });
        return dataResponse(200, count.get({ subscriber, filter, limit: Number(limit) }));
      },

      markMessages(request) {
        const ids = [request.body.messageId].flat().map(String);
        if (ids.length === 0) {
          throw new ApiError(400, 'messageId is required');
        }
        const subscriber = findSubscriber(request).id;
        const read = () => find.all(request.environment.id, JSON.stringify(ids)).map(documentOf);
        const known = read().map(({ _id }) => _id);
        ids.filter((id) => !known.includes(id)).forEach((id) => void assertRecordId(id)); // Records of tests can have other ids.
        const changes = toChanges(request.body.markAs, clock());
        change.run({ subscriber, filter: JSON.stringify({ ids }), changes });
        const marked = read();
        const own = marked.filter(({ _subscriberId: recipient }) => recipient === subscriber);
        return dataResponse(201, request.traits.has('marks-of-everybody') ? marked : own.map(toMarked));
      },

      markAllMessages(request) {
        const { markAs, feedIdentifier: feeds } = request.body;
        const [before, changes] = [String(markAs).startsWith('un'), toChanges(markAs, clock())];
        const filter = JSON.stringify({ [String(markAs).endsWith('read') ? 'read' : 'seen']: before, feeds });
        return dataResponse(201, change.run({ subscriber: findSubscriber(request).id, filter, changes }).changes);
      },

      updateMessageAction(request) {
        const { environment, params, body } = request;
        const id = text(params, 'messageId');
        const read = () => requireRecord(find.get(environment.id, JSON.stringify([id])), 'message', id, 'messageId');
        read();
        const action = { status: body.status, result: { type: params.type, payload: body.payload } };
        const changes = JSON.stringify({ cta: { action }, updatedAt: clock().toISOString() });
        const subscriber = findSubscriber(request, 400).id;
        if (change.run({ subscriber, filter: JSON.stringify({ ids: [id] }), changes }).changes === 0) {
          throw new ApiError(400, `Message with the id: ${id} was not found for this environment.`);
        }
        return dataResponse(201, { ...documentOf(read()), id });
      },

      /** As in the real service, without critical workflows, which can't be switched off. */
      listPreferences(request) {
        const { traits, environment } = request;
        const { id } = findReader(request);
        const isListed = ({ active, critical }: Row) => active && (traits.has('old-preferences') || critical !== true);
        const workflows = listWorkflows.all(environment.id).map(documentOf).filter(isListed);
        return dataResponse(
          200,
          workflows.map((each) => toPreference(id, each, traits)),
        );
      },

      /** As in the real service, a list with one item. */
      getGlobalPreferences: (request) =>
        dataResponse(200, [{ preference: preferences.read(findReader(request).id, request.traits) }]),

      updateGlobalPreferences(request) {
        const { id } = findSubscriber(request);
        preferences.save(id, request, '', request.body.preferences);
        return dataResponse(200, { preference: preferences.read(id, request.traits) });
      },

      updateWorkflowPreference(request) {
        const { environment, traits, params, body } = request;
        const { id } = findSubscriber(request);
        const key = text(params, 'workflowId');
        const isOld = traits.has('old-preferences');
        const row = findWorkflow.get(environment.id, key, Number(isOld));
        const workflow = documentOf((isOld ? requireRecord : requireRow)(row, 'workflow', key, 'templateId'));
        if (workflow.critical === true && !isOld) {
          throw new ApiError(400, `Critical workflow with id: ${key} can not be updated`);
        }
        preferences.save(id, request, text(workflow, '_id'), body.channel);
        const triggers = [workflow.triggers].flat().map(toRow);
        const short = triggers.map(({ identifier, type }) => ({ identifier, type, variables: [] })); // As in the real service.
        return dataResponse(200, toPreference(id, isOld ? workflow : { ...workflow, triggers: short }, traits));
      },
    };
  },
};

/** Returns a message as the answer to a mark has it. */
const toMarked = (message: Row): Row =>
  Object.fromEntries(Object.entries(message).filter(([name]) => !UNMARKED.includes(name)));

/** Returns the changed members as JSON. As in the real service, a message that is read or unread is also seen. */
function toChanges(markAs: unknown, now: Date): string {
  const time = now.toISOString();
  const read = String(markAs).endsWith('read') && { read: markAs === 'read', lastReadDate: time };
  return JSON.stringify({ seen: markAs !== 'unseen', lastSeenDate: time, ...read, updatedAt: time });
}

/** Creates the functions that read and store the preferences of a subscriber, by the id of its record. */
export function createPreferences(database: SandboxDatabase) {
  const find = database.prepare('SELECT document FROM preferences WHERE subscriber_id = ?');
  const store = database.prepare(`
    INSERT INTO preferences (subscriber_id, document) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET document = json_patch(document, excluded.document)
  `);

  /** Returns the preference for a workflow, or the global one. A choice for the workflow wins over a global one, and that over the workflow's own. */
  function read(subscriberId: string, traits: ActiveTraits, { _id = '', preferenceSettings }: Row = {}) {
    const stored = documentOf(find.get(subscriberId));
    const { enabled = true, channels } = toRow(stored[String(_id)]);
    const all: Row = Object.fromEntries(CHANNELS.map((channel) => [channel, true]));
    const global = traits.has('old-preferences') ? {} : toRow(toRow(stored['']).channels);
    return { enabled, channels: { ...all, ...toRow(preferenceSettings), ...global, ...toRow(channels) } };
  }

  /** Stores choices for a workflow, or global ones, which delete those for workflows on their channels. Only the old preferences have `enabled`. */
  function save(subscriberId: string, { body, traits }: OperationRequest, workflowId: string, choices: unknown): void {
    const isOld = traits.has('old-preferences');
    const chosen = [choices].flat().filter(isRow);
    const channels = Object.fromEntries(chosen.map(({ type, enabled }) => [type, enabled]));
    const none = { channels: Object.fromEntries(chosen.map(({ type }) => [type, null])) };
    const ids = isOld || workflowId !== '' ? [] : Object.keys(documentOf(find.get(subscriberId)));
    const others = Object.fromEntries(ids.map((id) => [id, none]));
    const own = { enabled: isOld ? body.enabled : undefined, channels };
    store.run(subscriberId, JSON.stringify({ ...others, [workflowId]: own }));
  }

  /** Whether a subscriber gets messages of a workflow on a channel. Nobody can switch off critical ones. */
  function isWanted(subscriberId: string, workflow: Row, channel: Channel, traits: ActiveTraits): boolean {
    const isOn = ({ enabled, channels }: ReturnType<typeof read>) => enabled === true && channels[channel] === true;
    const asked = traits.has('old-preferences') ? [workflow, {}] : [workflow];
    return workflow.critical === true || asked.every((each) => isOn(read(subscriberId, traits, each)));
  }

  return { read, save, isWanted };
}
