// Tables and endpoints of notification groups.

import type { Environment } from '../environments.ts';
import { createId } from '../ids.ts';
import type { Resource } from '../resource.ts';
import { dataResponse } from '../response.ts';
import { type Row, requireRow, text } from '../rows.ts';

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
    const rename = database.prepare('UPDATE notification_groups SET name = ? WHERE id = ?');
    const find = database.prepare('SELECT id, name FROM notification_groups WHERE id = ? AND environment_id = ?');
    const list = database.prepare('SELECT id, name FROM notification_groups WHERE environment_id = ? ORDER BY rowid');
    const remove = database.prepare('DELETE FROM notification_groups WHERE id = ?');

    function findExisting(environment: Environment, params: Row): Row {
      const id = text(params, 'id');
      return requireRow(find.get(id, environment.id), 'notification group with the id', id);
    }

    return {
      listNotificationGroups({ environment }) {
        const groups = list.all(environment.id).map((row) => toGroup(environment, row));
        return dataResponse(200, groups);
      },

      getNotificationGroup: ({ environment, params }) =>
        dataResponse(200, toGroup(environment, findExisting(environment, params))),

      createNotificationGroup({ environment, body }) {
        const id = createId(clock());
        const name = text(body, 'name');
        insert.run(id, environment.id, name);
        return dataResponse(201, toGroup(environment, { id, name }));
      },

      updateNotificationGroup({ environment, params, body }) {
        const group = { ...findExisting(environment, params), name: text(body, 'name') };
        rename.run(group.name, text(group, 'id'));
        return dataResponse(200, toGroup(environment, group));
      },

      /** Deletes a group. As in the real service, workflows of the group keep its id. */
      deleteNotificationGroup({ environment, params }) {
        remove.run(text(findExisting(environment, params), 'id'));
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
    ...environment.owner,
  };
}
