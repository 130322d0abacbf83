import type { StatementSync } from 'node:sqlite';

import type { Clock } from '../clock.ts';
import type { SandboxDatabase } from '../database.ts';
import type { Environment } from '../environments.ts';
import { ApiError } from '../errors.ts';
import { createId } from '../ids.ts';
import type { Resource } from '../resource.ts';
import { dataResponse } from '../response.ts';
import { type Row, text } from '../rows.ts';

export const resource: Resource = {
  migrations: [
    {
      version: 1,
      description: 'Creates the table of notification groups.',
      sql: `
        CREATE TABLE notification_groups (
          id TEXT PRIMARY KEY,
          environment_id TEXT NOT NULL,
          name TEXT NOT NULL
        ) STRICT;
        CREATE INDEX notification_groups_by_environment ON notification_groups (environment_id);
      `,
    },
  ],

  writeRecords(database, { environment, notificationGroups }) {
    const insert = database.prepare('INSERT INTO notification_groups (id, environment_id, name) VALUES (?, ?, ?)');
    for (const { id, name } of notificationGroups) {
      insert.run(id, environment.id, name);
    }
  },

  recordList: {
    title: 'Notification groups',
    sql: 'SELECT id, name AS label FROM notification_groups WHERE environment_id = ? ORDER BY rowid',
  },

  createHandlers(database, clock) {
    const groups = new NotificationGroups(database, clock);
    return {
      listNotificationGroups: ({ environment }) => dataResponse(200, groups.list(environment)),
      getNotificationGroup: ({ environment, params }) => dataResponse(200, groups.get(environment, text(params, 'id'))),
      createNotificationGroup: ({ environment, body }) =>
        dataResponse(201, groups.create(environment, text(body, 'name'))),
      updateNotificationGroup: ({ environment, params, body }) =>
        dataResponse(200, groups.rename(environment, text(params, 'id'), text(body, 'name'))),
      deleteNotificationGroup: ({ environment, params }) =>
        dataResponse(200, groups.delete(environment, text(params, 'id'))),
    };
  },
};

/** Groups that workflows belong to. */
class NotificationGroups {
  readonly #clock: Clock;
  readonly #insert: StatementSync;
  readonly #rename: StatementSync;
  readonly #find: StatementSync;
  readonly #list: StatementSync;
  readonly #delete: StatementSync;

  constructor(database: SandboxDatabase, clock: Clock) {
    this.#clock = clock;
    this.#insert = database.prepare('INSERT INTO notification_groups (id, environment_id, name) VALUES (?, ?, ?)');
    this.#rename = database.prepare('UPDATE notification_groups SET name = ? WHERE id = ? AND environment_id = ?');
    this.#find = database.prepare('SELECT id, name FROM notification_groups WHERE id = ? AND environment_id = ?');
    this.#list = database.prepare('SELECT id, name FROM notification_groups WHERE environment_id = ? ORDER BY rowid');
    this.#delete = database.prepare('DELETE FROM notification_groups WHERE id = ? AND environment_id = ?');
  }

  create(environment: Environment, name: string) {
    const id = createId(this.#clock());
    this.#insert.run(id, environment.id, name);
    return toGroup(environment, { id, name });
  }

  rename(environment: Environment, id: string, name: string) {
    if (this.#rename.run(name, id, environment.id).changes === 0) {
      throw unknownGroup(id);
    }
    return toGroup(environment, { id, name });
  }

  get(environment: Environment, id: string) {
    const row = this.#find.get(id, environment.id);
    if (row === undefined) {
      throw unknownGroup(id);
    }
    return toGroup(environment, row);
  }

  list(environment: Environment) {
    return this.#list.all(environment.id).map((row) => toGroup(environment, row));
  }

  /** Deletes a group. As in the real service, workflows of the group keep its id. */
  delete(environment: Environment, id: string) {
    if (this.#delete.run(id, environment.id).changes === 0) {
      throw unknownGroup(id);
    }
    return { acknowledged: true, status: 'deleted' };
  }
}

function toGroup(environment: Environment, row: Row) {
  const id = text(row, 'id');
  return {
    _id: id,
    id,
    name: text(row, 'name'),
    _organizationId: environment.organizationId,
    _environmentId: environment.id,
  };
}

function unknownGroup(id: string): ApiError {
  return new ApiError(404, `This environment has no notification group with the id "${id}".`);
}
