import type { Environment } from '../environments.ts';
import { ApiError } from '../errors.ts';
import { createId } from '../ids.ts';
import type { Resource } from '../resource.ts';
import { dataResponse } from '../response.ts';
import { type Row, text } from '../rows.ts';

const INSERT = 'INSERT INTO notification_groups (id, environment_id, name) VALUES (?, ?, ?)';

/** Groups that workflows belong to. */
export const resource: Resource = {
  schema: `
    CREATE TABLE notification_groups (
      id TEXT PRIMARY KEY,
      environment_id TEXT NOT NULL,
      name TEXT NOT NULL
    ) STRICT;
    CREATE INDEX notification_groups_by_environment ON notification_groups (environment_id);
  `,

  writeRecords(database, { environment, notificationGroups }) {
    const insert = database.prepare(INSERT);
    for (const { id, name } of notificationGroups) {
      insert.run(id, environment.id, name);
    }
  },

  recordList: {
    title: 'Notification groups',
    sql: 'SELECT id, name AS label FROM notification_groups WHERE environment_id = ? ORDER BY rowid',
  },

  createHandlers(database, clock) {
    const insert = database.prepare(INSERT);
    const rename = database.prepare('UPDATE notification_groups SET name = ? WHERE id = ? AND environment_id = ?');
    const find = database.prepare('SELECT id, name FROM notification_groups WHERE id = ? AND environment_id = ?');
    const list = database.prepare('SELECT id, name FROM notification_groups WHERE environment_id = ? ORDER BY rowid');
    const remove = database.prepare('DELETE FROM notification_groups WHERE id = ? AND environment_id = ?');
    return {
      listNotificationGroups({ environment }) {
        const groups = list.all(environment.id).map((row) => toGroup(environment, row));
        return dataResponse(200, groups);
      },

      getNotificationGroup({ environment, params }) {
        const id = text(params, 'id');
        const row = find.get(id, environment.id);
        if (row === undefined) {
          throw unknownGroup(id);
        }
        return dataResponse(200, toGroup(environment, row));
      },

      createNotificationGroup({ environment, body }) {
        const id = createId(clock());
        const name = text(body, 'name');
        insert.run(id, environment.id, name);
        return dataResponse(201, toGroup(environment, { id, name }));
      },

      updateNotificationGroup({ environment, params, body }) {
        const id = text(params, 'id');
        const name = text(body, 'name');
        if (rename.run(name, id, environment.id).changes === 0) {
          throw unknownGroup(id);
        }
        return dataResponse(200, toGroup(environment, { id, name }));
      },

      /** Deletes a group. As in the real service, workflows of the group keep its id. */
      deleteNotificationGroup({ environment, params }) {
        const id = text(params, 'id');
        if (remove.run(id, environment.id).changes === 0) {
          throw unknownGroup(id);
        }
        return dataResponse(200, { acknowledged: true, status: 'deleted' });
      },
    };
  },
};

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
