// Tables and endpoints of notification groups.

import { type Environment, owned } from '../environments.ts';
import { createId, withId } from '../ids.ts';
import type { Resource } from '../resource.ts';
import { dataResponse } from '../response.ts';
import { type Row, requireRecord, text } from '../rows.ts';

/** As in the real service, the first group of the organization is the parent of all others. */
const INSERT = `
  INSERT INTO notification_groups (id, environment_id, name, created_at, updated_at, parent_id)
  VALUES (?, ?, ?, ?4, ?4, (SELECT id FROM notification_groups ORDER BY rowid LIMIT 1))
`;

/** Groups that workflows belong to. */
export const resource: Resource = {
  schema: `
    CREATE TABLE notification_groups (
      id TEXT PRIMARY KEY,
      environment_id TEXT NOT NULL,
      name TEXT NOT NULL,
      created_at TEXT NOT NULL,
      updated_at TEXT NOT NULL,
      parent_id TEXT
    ) STRICT;
    CREATE INDEX notification_groups_by_environment ON notification_groups (environment_id);
  `,

  writeRecords(database, { notificationGroups = [] }, { environment, now }) {
    const insert = database.prepare(INSERT);
    for (const { id, name } of notificationGroups.map(withId(environment, 'group'))) {
      insert.run(id, environment.id, name, now);
    }
  },

  recordList: {
    title: 'Notification groups',
    sql: 'SELECT id, name AS label FROM notification_groups WHERE environment_id = ? ORDER BY rowid',
  },

  createHandlers(database, clock) {
    const insert = database.prepare(INSERT);
    const rename = database.prepare('UPDATE notification_groups SET name = ?, updated_at = ? WHERE id = ?');
    const select = `
      SELECT id AS _id, id, name, parent_id AS _parentId, created_at AS createdAt, updated_at AS updatedAt, 0 AS __v
      FROM notification_groups WHERE environment_id = ?
    `;
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
        insert.run(id, environment.id, text(body, 'name'), clock().toISOString());
        return dataResponse(201, owned(environment, findExisting(environment, { id })));
      },

      updateNotificationGroup({ environment, params, body }) {
        const group = findExisting(environment, params);
        rename.run(text(body, 'name'), clock().toISOString(), text(group, 'id'));
        return dataResponse(200, owned(environment, findExisting(environment, params)));
      },

      /** Deletes a group. As in the real service, workflows of the group keep its id. */
      deleteNotificationGroup({ environment, params }) {
        remove.run(text(findExisting(environment, params), 'id'));
        return dataResponse(200, { acknowledged: true, status: 'deleted' });
      },
    };
  },
};
