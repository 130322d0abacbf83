// Tables and endpoints of notification groups.

import { type Environment, owned } from '../environments.ts';
import { createId, withId } from '../ids.ts';
import type { Resource } from '../resource.ts';
import { dataResponse } from '../response.ts';
import { type Row, requireRecord, text } from '../rows.ts';

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

  writeRecords(database, { notificationGroups = [] }, { environment }) {
    const insert = database.prepare(INSERT);
    for (const { id, name } of notificationGroups.map(withId(environment, 'group'))) {
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
    const select = 'SELECT id AS _id, id, name FROM notification_groups WHERE environment_id = ?';
    const find = database.prepare(`${select} AND id = ?`);
    const list = database.prepare(`${select} ORDER BY rowid`);
    const remove = database.prepare('DELETE FROM notification_groups WHERE id = ?');

    function findExisting(environment: Environment, params: Row): Row {
      const id = text(params, 'id');
      return requireRecord(find.get(environment.id, id), 'notification group', id);
    }

    return {
      listNotificationGroups({ environment }) {
        const groups = list.all(environment.id).map((row) => owned(environment, row));
        return dataResponse(200, groups);
      },

      getNotificationGroup: ({ environment, params }) =>
        dataResponse(200, owned(environment, findExisting(environment, params))),

      createNotificationGroup({ environment, body }) {
        const id = createId(clock());
        const name = text(body, 'name');
        insert.run(id, environment.id, name);
        return dataResponse(201, owned(environment, { _id: id, id, name }));
      },

      updateNotificationGroup({ environment, params, body }) {
        const group = { ...findExisting(environment, params), name: text(body, 'name') };
        rename.run(group.name, text(group, 'id'));
        return dataResponse(200, owned(environment, group));
      },

      /** Deletes a group. As in the real service, workflows of the group keep its id. */
      deleteNotificationGroup({ environment, params }) {
        remove.run(text(findExisting(environment, params), 'id'));
        return dataResponse(200, { acknowledged: true, status: 'deleted' });
      },
    };
  },
};
