// Tables and endpoints of subscribers.

import type { SandboxDatabase } from '../database.ts';
import type { Environment } from '../environments.ts';
import { ApiError } from '../errors.ts';
import { createId, sampleId } from '../ids.ts';
import type { OperationRequest, Resource } from '../resource.ts';
import { bareResponse, dataResponse } from '../response.ts';
import { integer, isRow, json, optionalText, type Row, readPage, text } from '../rows.ts';

export const resource: Resource = {
  schema: `
    CREATE TABLE subscribers (
      id TEXT PRIMARY KEY,
      environment_id TEXT NOT NULL,
      subscriber_id TEXT NOT NULL,
      first_name TEXT,
      last_name TEXT,
      email TEXT,
      phone TEXT,
      avatar TEXT,
      locale TEXT,
      data TEXT,
      channels TEXT,
      created_at TEXT NOT NULL,
      updated_at TEXT NOT NULL,
      UNIQUE (environment_id, subscriber_id)
    ) STRICT;
  `,

  writeRecords(database, { subscribers = [] }, { environment, now }) {
    const upsert = database.prepare(UPSERT);
    for (const { id, createdAt = now, ...fields } of subscribers) {
      const ownId = id ?? sampleId(environment, 'subscriber', fields.subscriberId);
      upsert.run(toParameters(environment, ownId, createdAt, fields));
    }
  },

  recordList: {
    title: 'Subscribers',
    sql: `
      SELECT subscriber_id AS id, concat_ws(' ', first_name, last_name) AS label
      FROM subscribers
      WHERE environment_id = ?
      ORDER BY rowid
      LIMIT 100
    `,
  },

  createHandlers(database, clock) {
    const write = createSubscriberWriter(database);
    const findExisting = createSubscriberFinder(database);
    const list = database.prepare('SELECT * FROM subscribers WHERE environment_id = ? ORDER BY rowid LIMIT ? OFFSET ?');
    const count = database.prepare('SELECT count(*) AS total FROM subscribers WHERE environment_id = ?');
    const remove = database.prepare('DELETE FROM subscribers WHERE id = ?');
    const leaveTopics = database.prepare(`
      DELETE FROM topic_subscribers
      WHERE subscriber_id = ? AND topic_id IN (SELECT id FROM topics WHERE environment_id = ?)
    `);

    return {
      /** Creates the subscriber, or updates the one with the same id. Absent fields keep their values, null and empty texts clear them, and `data` is replaced, not merged. */
      createSubscriber(request) {
        const subscriberId = text(request.body, 'subscriberId').trim();
        const row = write(request, { ...request.body, subscriberId }, clock());
        return dataResponse(201, toSubscriber(request.environment, row));
      },

      getSubscriber: (request) => dataResponse(200, toSubscriber(request.environment, findExisting(request))),

      /** As in the real service, a full page has `hasMore`, even if it is the last one. */
      listSubscribers({ environment, query, traits }) {
        const { page, size: pageSize, limit, offset } = readPage(query.page, query.limit);
        const data = list.all(environment.id, limit, offset).map((row) => toSubscriber(environment, row));
        const rest = traits.has('no-hasMore')
          ? { totalCount: integer(count.get(environment.id) ?? {}, 'total') }
          : { hasMore: data.length === limit };
        return bareResponse(200, { page, ...rest, pageSize, data });
      },

      updateSubscriber(request) {
        const known = findExisting(request, 400, (id) => `SubscriberId: ${id} not found`);
        const row = write(request, { ...request.body, subscriberId: known.subscriber_id }, clock());
        return dataResponse(200, toSubscriber(request.environment, row));
      },

      deleteSubscriber(request) {
        const { environment, traits } = request;
        const row = traits.has('unknown-deletion-400') ? findExisting(request, 400, notDeleted) : findExisting(request);
        leaveTopics.run(text(row, 'subscriber_id'), environment.id);
        remove.run(row.id);
        return dataResponse(200, { acknowledged: true, status: 'deleted' });
      },
    };
  },
};

const notFound = (id: string) => `Subscriber not found for id ${id}`;

/** Creates the function that returns the row of a path's subscriber, or throws an error with the given status and message. */
export function createSubscriberFinder(database: SandboxDatabase) {
  const find = database.prepare(FIND);
  return ({ environment, params }: OperationRequest, status = 404, toMessage = notFound) => {
    const subscriberId = text(params, 'subscriberId');
    const row = find.get(environment.id, subscriberId);
    if (row === undefined) {
      throw new ApiError(status, toMessage(subscriberId));
    }
    return { ...row, id: text(row, 'id'), subscriber_id: subscriberId };
  };
}

const notDeleted = (id: string) => `Could not find subscriber ${id} to delete`;

/**
 * Creates the function that creates a subscriber, or updates the one with the same id, and returns its row: as in the real service, one that was
 * updated with the time of the update before. It throws an `ApiError` for invalid fields.
 */
export function createSubscriberWriter(database: SandboxDatabase) {
  const find = database.prepare(FIND);
  const upsert = database.prepare(UPSERT);
  return ({ environment, traits }: Pick<OperationRequest, 'environment' | 'traits'>, fields: Row, now: Date): Row => {
    checkSubscriber(fields);
    const known = find.get(environment.id, text(fields, 'subscriberId'));
    const isKept = ([name, value]: [string, unknown]) => value === null && name !== 'email';
    const sent = Object.entries(fields).filter((field) => !(traits.has('keeps-nulls') && isKept(field)));
    const channels = addChannels(channelsOf(environment, known), toChannels(environment, fields.channels));
    const input = { ...Object.fromEntries(sent), channels };
    const row = upsert.get(toParameters(environment, createId(now), now.toISOString(), input)) ?? {};
    return known === undefined ? row : { ...row, updated_at: known.updated_at };
  };
}

const FIND = 'SELECT * FROM subscribers WHERE environment_id = ? AND subscriber_id = ?';

const TEXTS = [
  ['firstName', 'first_name'],
  ['lastName', 'last_name'],
  ['email', 'email'],
  ['phone', 'phone'],
  ['avatar', 'avatar'],
  ['locale', 'locale'],
] as const;

const FIELDS = [...TEXTS, ['data', 'data'], ['channels', 'channels']] as const;

const UPSERT = `
  INSERT INTO subscribers (id, environment_id, subscriber_id, ${FIELDS.map(([, column]) => column).join(', ')}, created_at, updated_at)
  VALUES (:id, :environment, :subscriberId, ${FIELDS.map(([field]) => `:${field}`).join(', ')}, :now, :now)
  ON CONFLICT (environment_id, subscriber_id) DO UPDATE SET
    ${FIELDS.map(([field, column]) => `${column} = iif('${field}' IN (SELECT value FROM json_each(:sent)), excluded.${column}, ${column}),`).join('\n')}
    updated_at = excluded.updated_at
  RETURNING *
`;

function toParameters(environment: Environment, id: string, now: string, input: Row) {
  return {
    id,
    environment: environment.id,
    subscriberId: text(input, 'subscriberId'),
    ...Object.fromEntries(TEXTS.map(([field]) => [field, optionalText(input, field) || null])),
    data: input.data == null ? null : JSON.stringify(input.data),
    channels: input.channels == null ? null : JSON.stringify(input.channels),
    sent: JSON.stringify(Object.keys(input)),
    now,
  };
}

/** Returns a subscriber as the service does. */
export function toSubscriber(environment: Environment, row: Row) {
  const id = text(row, 'id');
  const profile = TEXTS.map(([field, column]) => [field, optionalText(row, column)]);
  return {
    _id: id,
    id,
    subscriberId: text(row, 'subscriber_id'),
    ...Object.fromEntries(profile.filter(([, value]) => value !== null)),
    ...(row.data !== null && { data: json(row, 'data') }),
    channels: channelsOf(environment, row),
    ...environment.owner,
    deleted: false,
    createdAt: text(row, 'created_at'),
    updatedAt: text(row, 'updated_at'),
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

const channelsOf = (environment: Environment, row: Row | undefined): Row[] =>
  toChannels(environment, row?.channels == null ? [] : json(row, 'channels'));

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
