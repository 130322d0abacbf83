// Tables and endpoints of subscribers.

import type { SandboxDatabase } from '../database.ts';
import type { Environment } from '../environments.ts';
import { ApiError, ChangingError, internalError } from '../errors.ts';
import { createId, sampleId } from '../ids.ts';
import type { OperationRequest, Resource } from '../resource.ts';
import { bareResponse, dataResponse } from '../response.ts';
import { documentOf, isRow, optionalText, type Row, text } from '../rows.ts';

export const resource: Resource = {
  schema: `
    CREATE TABLE subscribers (
      id TEXT PRIMARY KEY,
      environment_id TEXT NOT NULL,
      subscriber_id TEXT NOT NULL,
      document TEXT NOT NULL,
      UNIQUE (environment_id, subscriber_id)
    ) STRICT;
  `,

  writeRecords(database, { subscribers = [] }, { environment, now }) {
    const find = database.prepare(FIND);
    const save = database.prepare(SAVE);
    for (const { id, createdAt = now, ...fields } of subscribers) {
      const _id = id ?? sampleId(environment, 'subscriber', fields.subscriberId);
      const known: Row = { _id, createdAt, ...documentOf(find.get(environment.id, fields.subscriberId)) };
      const channels = toChannels(environment, fields.channels ?? known.channels);
      const document = toDocument(environment, known, { ...fields, channels }, createdAt);
      save.run(_id, environment.id, fields.subscriberId, JSON.stringify(document));
    }
  },

  recordList: {
    title: 'Subscribers',
    sql: `
      SELECT subscriber_id AS id, concat_ws(' ', document ->> '$.firstName', document ->> '$.lastName') AS label
      FROM subscribers
      WHERE environment_id = ?
      ORDER BY rowid
      LIMIT 100
    `,
  },

  createHandlers(database, clock) {
    const write = createSubscriberWriter(database);
    const findExisting = createSubscriberFinder(database);
    const find = database.prepare(FIND);
    const readPage = database.preparePages(
      'SELECT document FROM subscribers WHERE environment_id = :environment ORDER BY rowid',
    );
    const remove = database.prepare('DELETE FROM subscribers WHERE id = ?');
    const removeMessages = database.prepare('DELETE FROM messages WHERE subscriber_id = ?');
    const leaveTopics = database.prepare(`
      DELETE FROM topic_subscribers
      WHERE subscriber_id = ? AND topic_id IN (SELECT id FROM topics WHERE environment_id = ?)
    `);

    return {
      /** Creates the subscriber, or updates the one with the same id. Absent fields keep their values, null and empty texts clear them, and `data` is replaced, not merged. */
      createSubscriber(request) {
        const subscriberId = text(request.body, 'subscriberId').trim();
        if (keptOf(request, subscriberId) !== undefined) {
          throw internalError(); // Its record still has the id.
        }
        return dataResponse(201, write(request, { ...request.body, subscriberId }, clock()));
      },

      /** Creates or updates several. As in the real service, only this brings back a subscriber whose deletion was soft. */
      createSubscribers(request) {
        const all = [request.body.subscribers].flat().filter(isRow);
        const { updated = [], created = [] } = Object.groupBy(all, ({ subscriberId: id }) =>
          (find.get(request.environment.id, String(id)) ?? keptOf(request, String(id))) ? 'updated' : 'created',
        );
        for (const fields of all) {
          write(request, fields, clock());
        }
        const idsOf = (some: Row[]) => some.map(({ subscriberId }) => ({ subscriberId }));
        return dataResponse(201, { updated: idsOf(updated), created: idsOf(created), failed: [] });
      },

      getSubscriber: (request) => dataResponse(200, findExisting(request)),

      /** As in the real service, a full page has `hasMore`, even if it is the last one. */
      listSubscribers({ environment, query, traits }) {
        const { page, totalCount, pageSize, rows } = readPage({ environment: environment.id }, query.page, query.limit);
        const rest = traits.has('no-hasMore') ? { totalCount } : { hasMore: rows.length === Number(pageSize) };
        return bareResponse(200, { page, ...rest, pageSize, data: rows.map(documentOf) });
      },

      updateSubscriber(request) {
        const { subscriberId } = findExisting(request, 400, (id) => `SubscriberId: ${id} not found`);
        return dataResponse(200, write(request, { ...request.body, subscriberId }, clock()));
      },

      deleteSubscriber(request) {
        const { environment, traits } = request;
        const { id, subscriberId } = traits.has('unknown-deletion-400')
          ? findExisting(request, 400, notDeleted)
          : findExisting(request);
        traits.get('soft-deletions')?.add(documentOf(find.get(environment.id, subscriberId)));
        leaveTopics.run(subscriberId, environment.id);
        remove.run(id);
        if (!traits.has('soft-deletions')) {
          removeMessages.run(id);
        }
        return dataResponse(200, { acknowledged: true, status: 'deleted' });
      },
    };
  },
};

const notFound = (id: string) => `Subscriber not found for id ${id}`;

/** Creates the function that returns a path's subscriber, or throws an error with the given status and message. */
export function createSubscriberFinder(database: SandboxDatabase) {
  const find = database.prepare(FIND);
  return ({ environment, params }: OperationRequest, status = 404, toMessage = notFound) => {
    const subscriberId = text(params, 'subscriberId');
    const row = find.get(environment.id, subscriberId);
    if (row === undefined) {
      throw new ApiError(status, toMessage(subscriberId));
    }
    const subscriber = documentOf(row);
    return { ...subscriber, id: text(subscriber, 'id'), subscriberId };
  };
}

/** Returns the record of a deleted subscriber, if the service keeps it. */
export const keptOf = ({ environment, traits }: Requester, subscriberId: string): Row | undefined =>
  [...(traits.get('soft-deletions') ?? [])]
    .filter(isRow)
    .find((kept) => kept.subscriberId === subscriberId && kept._environmentId === environment.id);

const notDeleted = (id: string) => `Could not find subscriber ${id} to delete`;

/**
 * Creates the function that creates a subscriber, or updates the one with the same id, and returns it: as in the real service, one that was
 * updated with the time of the update before. It throws an `ApiError` for invalid fields.
 */
export function createSubscriberWriter(database: SandboxDatabase) {
  const find = database.prepare(FIND);
  const save = database.prepare(SAVE);
  return ({ environment, traits }: Requester, fields: Row, now: Date): Row => {
    checkSubscriber(fields);
    const [time, subscriberId] = [now.toISOString(), text(fields, 'subscriberId')];
    const kept = keptOf({ environment, traits }, subscriberId);
    const stored = kept ?? documentOf(find.get(environment.id, subscriberId));
    const known: Row = { _id: createId(now), createdAt: time, updatedAt: time, ...stored };
    const isKept = ([name, value]: [string, unknown]) => value === null && name !== 'email' && '_id' in stored;
    const sent = Object.entries(fields).filter((field) => !(traits.has('keeps-nulls') && isKept(field)));
    const added = toChannels(environment, fields.channels);
    const refused = added.findIndex(({ providerId }) => !INTEGRATIONS.includes(String(providerId)));
    const channels = addChannels(
      toChannels(environment, known.channels),
      added.slice(0, refused < 0 ? undefined : refused),
    );
    const document = toDocument(environment, known, { ...Object.fromEntries(sent), channels }, time);
    traits.get('soft-deletions')?.delete(kept);
    save.run(text(known, '_id'), environment.id, subscriberId, JSON.stringify(document));
    if (refused >= 0) {
      const problem = `do not have active ${added[refused]?.providerId} integration`;
      throw new ChangingError(400, `Subscribers environment (${environment.id}) ${problem}.`);
    }
    return { ...document, updatedAt: known.updatedAt };
  };
}

const FIND = 'SELECT document FROM subscribers WHERE environment_id = ? AND subscriber_id = ?';

/** Stores a subscriber. A known one keeps its id. */
const SAVE = `
  INSERT INTO subscribers (id, environment_id, subscriber_id, document) VALUES (?, ?, ?, ?)
  ON CONFLICT (environment_id, subscriber_id) DO UPDATE SET document = excluded.document
`;

type Requester = Pick<OperationRequest, 'environment' | 'traits'>;

/** Providers of the environments' active integrations. Channels of others are refused. */
const INTEGRATIONS = ['fcm', 'apns', 'expo', 'slack', 'discord', 'msteams'];

/** Members that requests set, besides the channels. */
const FIELDS = ['firstName', 'lastName', 'email', 'phone', 'avatar', 'locale', 'data'];

/** Returns a subscriber as the service does, with other values of its fields. Null and empty texts clear them. */
function toDocument(environment: Environment, known: Row, fields: Row, updatedAt: string) {
  const all: Row = { ...known, ...fields };
  const filled = FIELDS.filter((name) => all[name] !== undefined && all[name] !== '');
  return {
    _id: known._id,
    id: known._id,
    subscriberId: fields.subscriberId,
    ...Object.fromEntries(filled.map((name) => [name, all[name]])),
    channels: fields.channels,
    ...environment.owner,
    deleted: false,
    createdAt: known.createdAt,
    updatedAt,
    __v: 0,
  };
}

/** Adds the id of each channel's integration, which the service's own client libraries require. */
const toChannels = (environment: Environment, channels: unknown): Row[] =>
  [channels]
    .flat()
    .filter(isRow)
    .map(({ _integrationId, ...channel }) => {
      const name = String(channel.integrationIdentifier ?? channel.providerId);
      return { ...channel, _integrationId: _integrationId ?? sampleId(environment, 'integration', name) };
    });

/** Adds channels to those of a subscriber. Credentials of an integration that it has are merged, and its device tokens are added. */
function addChannels(known: readonly Row[], added: readonly Row[]): Row[] {
  const all = new Map(known.map((channel) => [channel._integrationId, channel]));
  for (const channel of added) {
    const before = all.get(channel._integrationId)?.credentials;
    const credentials =
      isRow(before) && isRow(channel.credentials) ? mergeCredentials(before, channel.credentials) : {};
    all.set(channel._integrationId, { ...channel, ...credentials });
  }
  return [...all.values()];
}

/** Adds device tokens, of which only an empty list removes any. */
function mergeCredentials(before: Row, after: Row) {
  const tokens = [before.deviceTokens ?? [], after.deviceTokens ?? []].flat();
  const isCleared = Array.isArray(after.deviceTokens) && after.deviceTokens.length === 0;
  return { credentials: { ...before, ...after, deviceTokens: isCleared ? [] : [...new Set(tokens)] } };
}

/** Rules of the service for fields that the OpenAPI document describes as text. Stricter ones reject email addresses that exist. */
const RULES: readonly [field: string, isValid: (value: string) => boolean, rule: string][] = [
  ['email', (value) => /^[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)+$/.test(value), 'an email address'],
  ['avatar', (value) => /^https?:\/\//i.test(value) && URL.canParse(value), 'an http or https URL'],
  ['locale', isLocale, 'a locale such as en or en_US'],
];

/** Rejects a subscriber with an invalid email address, avatar or locale. @throws {ApiError} 422 with one sentence per field */
function checkSubscriber(input: Row): void {
  const problems = RULES.flatMap(([field, isValid, rule]) => {
    const value = optionalText(input, field);
    return value === null || isValid(value) ? [] : [`"${field}" must be ${rule}.`];
  });
  if (problems.length > 0) {
    throw new ApiError(422, problems);
  }
}

/** Whether a text is a language tag (BCP 47). The service also accepts underscores. */
function isLocale(value: string): boolean {
  try {
    return Intl.getCanonicalLocales(value.replaceAll('_', '-')).length === 1;
  } catch {
    return false;
  }
}
