/** One step from an older database file to the current one. Published migrations never change. */
export interface Migration {
  /** Version of the file after this step, stored as SQLite's `user_version`. Numbers have no gaps. */
  version: number;
  /** One sentence, shown if the step fails. */
  description: string;
  sql: string;
}

/**
 * Notifications stay when their messages are deleted: the statistics count what was sent, not what still exists.
 * There are no foreign keys, because the real service also keeps references to deleted workflows and groups.
 */
const INITIAL_TABLES = `
  CREATE TABLE notification_groups (
    id TEXT PRIMARY KEY,
    environment_id TEXT NOT NULL,
    name TEXT NOT NULL
  ) STRICT;
  CREATE INDEX notification_groups_by_environment ON notification_groups (environment_id);

  CREATE TABLE feeds (
    id TEXT PRIMARY KEY,
    environment_id TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (environment_id, name)
  ) STRICT;

  CREATE TABLE workflows (
    id TEXT PRIMARY KEY,
    environment_id TEXT NOT NULL,
    identifier TEXT NOT NULL,
    active INTEGER NOT NULL,
    draft INTEGER NOT NULL,
    updated_at TEXT NOT NULL,
    document TEXT NOT NULL,
    UNIQUE (environment_id, identifier)
  ) STRICT;

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

  CREATE TABLE notifications (
    id TEXT PRIMARY KEY,
    environment_id TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    transaction_id TEXT NOT NULL,
    channels TEXT NOT NULL,
    created_at TEXT NOT NULL,
    day TEXT NOT NULL GENERATED ALWAYS AS (substr(created_at, 1, 10)) VIRTUAL
  ) STRICT;
  CREATE INDEX notifications_by_day ON notifications (environment_id, day);

  CREATE TABLE messages (
    id TEXT PRIMARY KEY,
    environment_id TEXT NOT NULL,
    notification_id TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    transaction_id TEXT NOT NULL,
    channel TEXT NOT NULL,
    created_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX messages_by_transaction ON messages (environment_id, transaction_id);

  CREATE TABLE sample_traffic (
    environment_id TEXT PRIMARY KEY,
    last_day TEXT NOT NULL
  ) STRICT;

  CREATE TABLE idempotent_answers (
    environment_id TEXT NOT NULL,
    key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    status INTEGER NOT NULL,
    body TEXT,
    PRIMARY KEY (environment_id, key)
  ) STRICT;
`;

/** All migrations, in order. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, description: 'Creates the tables.', sql: INITIAL_TABLES },
  {
    version: 2,
    description: 'Names the stored responses of idempotent requests what they are.',
    sql: 'ALTER TABLE idempotent_answers RENAME TO idempotent_responses;',
  },
];
