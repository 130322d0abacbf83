import type { StatementSync } from 'node:sqlite';
import type { Clock } from '../clock.ts';
import type { SandboxDatabase } from '../database.ts';
import type { Environment } from '../environments.ts';
import { ApiError } from '../errors.ts';
import { createId } from '../ids.ts';
import { sampleId } from '../records/definition.ts';
import type { Resource } from '../resource.ts';
import { dataResponse } from '../response.ts';
import { isRow, json, optionalText, type Row, text } from '../rows.ts';

export const resource: Resource = {
  migrations: [
    {
      version: 1,
      description: 'Creates the table of subscribers.',
      sql: `
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
    },
  ],

  writeRecords(database, { environment, subscribers }) {
    const upsert = database.prepare(UPSERT);
    for (const { id, createdAt, ...fields } of subscribers) {
      upsert.run(toParameters(environment, id, createdAt, fields));
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
    const subscribers = new Subscribers(database, clock);
    return {
      createSubscriber: ({ environment, body }) => dataResponse(201, subscribers.upsert(environment, body)),
    };
  },
};

const UPSERT = `
  INSERT INTO subscribers (
    id, environment_id, subscriber_id, first_name, last_name, email, phone, avatar, locale, data, channels, created_at, updated_at
  ) VALUES (
    :id, :environment, :subscriberId, :firstName, :lastName, :email, :phone, :avatar, :locale, :data, :channels, :now, :now
  )
  ON CONFLICT (environment_id, subscriber_id) DO UPDATE SET
    first_name = coalesce(excluded.first_name, first_name),
    last_name = coalesce(excluded.last_name, last_name),
    email = coalesce(excluded.email, email),
    phone = coalesce(excluded.phone, phone),
    avatar = coalesce(excluded.avatar, avatar),
    locale = coalesce(excluded.locale, locale),
    data = coalesce(excluded.data, data),
    channels = coalesce(excluded.channels, channels),
    updated_at = excluded.updated_at
  RETURNING *
`;

/** Recipients. */
class Subscribers {
  readonly #clock: Clock;
  readonly #upsert: StatementSync;

  constructor(database: SandboxDatabase, clock: Clock) {
    this.#clock = clock;
    this.#upsert = database.prepare(UPSERT);
  }

  /**
   * Creates the subscriber, or updates the one with the same `subscriberId`. Absent fields keep their values, and `data` is replaced, not
   * merged.
   */
  upsert(environment: Environment, input: Row) {
    checkSubscriber(input);
    const now = this.#clock();
    const row = this.#upsert.get(toParameters(environment, createId(now), now.toISOString(), input));
    if (row === undefined) {
      throw new Error('The upsert of a subscriber returned no row');
    }
    return toSubscriber(environment, row);
  }
}

/** Returns the parameters of the upsert. */
function toParameters(environment: Environment, id: string, now: string, input: Row) {
  return {
    id,
    environment: environment.id,
    subscriberId: text(input, 'subscriberId'),
    firstName: optionalText(input, 'firstName'),
    lastName: optionalText(input, 'lastName'),
    email: optionalText(input, 'email'),
    phone: optionalText(input, 'phone'),
    avatar: optionalText(input, 'avatar'),
    locale: optionalText(input, 'locale'),
    data: input.data === undefined ? null : JSON.stringify(input.data),
    channels: input.channels === undefined ? null : JSON.stringify(input.channels),
    now,
  };
}

function toSubscriber(environment: Environment, row: Row) {
  const id = text(row, 'id');
  const profile = {
    firstName: optionalText(row, 'first_name'),
    lastName: optionalText(row, 'last_name'),
    email: optionalText(row, 'email'),
    phone: optionalText(row, 'phone'),
    avatar: optionalText(row, 'avatar'),
    locale: optionalText(row, 'locale'),
  };
  return {
    _id: id,
    id,
    subscriberId: text(row, 'subscriber_id'),
    ...Object.fromEntries(Object.entries(profile).filter(([, value]) => value !== null)),
    ...(row.data !== null && { data: json(row, 'data') }),
    channels: toChannels(environment, row.channels === null ? [] : json(row, 'channels')),
    _organizationId: environment.organizationId,
    _environmentId: environment.id,
    deleted: false,
    createdAt: text(row, 'created_at'),
    updatedAt: text(row, 'updated_at'),
    __v: 0,
  };
}

/** Adds the id of each channel's integration, which the service's own client libraries require. */
function toChannels(environment: Environment, channels: unknown): unknown[] {
  return [channels].flat().map((channel) => {
    const name = isRow(channel) ? (channel.integrationIdentifier ?? channel.providerId) : undefined;
    return isRow(channel) && channel._integrationId === undefined
      ? { ...channel, _integrationId: sampleId(environment, 'integration', String(name)) }
      : channel;
  });
}

/** Rules of the service for fields that the OpenAPI document describes as text. */
const RULES: readonly [field: string, isValid: (value: string) => boolean, rule: string][] = [
  ['email', isEmail, 'an email address'],
  ['avatar', isHttpUrl, 'an http or https URL'],
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

/** Whether a text has the form of an email address. Stricter rules reject addresses that exist. */
function isEmail(value: string): boolean {
  return /^[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)+$/.test(value);
}

function isHttpUrl(value: string): boolean {
  return /^https?:\/\//i.test(value) && URL.canParse(value);
}

/** Whether a text is a language tag (BCP 47). The service also accepts underscores. */
function isLocale(value: string): boolean {
  try {
    return Intl.getCanonicalLocales(value.replaceAll('_', '-')).length === 1;
  } catch {
    return false;
  }
}
