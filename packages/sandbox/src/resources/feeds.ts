// Tables and endpoints of feeds.

import { type Environment, owned } from '../environments.ts';
import { ApiError } from '../errors.ts';
import { createId, withId } from '../ids.ts';
import type { Resource } from '../resource.ts';
import { dataResponse } from '../response.ts';
import { assertRecordId, text } from '../rows.ts';

const INSERT = 'INSERT INTO feeds (id, environment_id, name, created_at) VALUES (?, ?, ?, ?)';

export const resource: Resource = {
  schema: `
    CREATE TABLE feeds (
      id TEXT PRIMARY KEY,
      environment_id TEXT NOT NULL,
      name TEXT NOT NULL,
      created_at TEXT NOT NULL,
      UNIQUE (environment_id, name)
    ) STRICT;
  `,

  writeRecords(database, { feeds = [] }, { environment, now }) {
    const insert = database.prepare(INSERT);
    for (const { id, name } of feeds.map(withId(environment, 'feed'))) {
      insert.run(id, environment.id, name, now);
    }
  },

  recordList: {
    title: 'Feeds',
    sql: 'SELECT id, name AS label FROM feeds WHERE environment_id = ? ORDER BY rowid',
  },

  createHandlers(database, clock) {
    const insert = database.prepare(INSERT);
    const select = database.prepare(`
      SELECT id AS _id, name, name AS identifier, created_at AS createdAt, created_at AS updatedAt, 0 AS __v
      FROM feeds WHERE environment_id = ? ORDER BY rowid
    `);
    const list = (environment: Environment) =>
      select.all(environment.id).map((row) => owned(environment, { ...row, deleted: false }));
    const findByName = database.prepare('SELECT id FROM feeds WHERE environment_id = ? AND name = ?');
    const findUse = database.prepare(`
      SELECT workflows.identifier
      FROM workflows, json_each(workflows.document, '$.steps') AS step
      WHERE workflows.environment_id = ? AND step.value ->> '$.template._feedId' = ?
      LIMIT 1
    `);
    const remove = database.prepare('DELETE FROM feeds WHERE id = ? AND environment_id = ?');
    return {
      listFeeds: ({ environment }) => dataResponse(200, list(environment)),

      createFeed({ environment, body }) {
        const name = text(body, 'name');
        if (findByName.get(environment.id, name) !== undefined) {
          throw new ApiError(409, `A feed named "${name}" already exists.`);
        }
        const id = createId(clock());
        insert.run(id, environment.id, name, clock().toISOString());
        return dataResponse(201, { ...list(environment).at(-1), id });
      },

      /** Deletes a feed and returns the remaining feeds. Both errors are 400, as in the real service. */
      deleteFeed({ environment, params }) {
        const id = text(params, 'feedId');
        const use = findUse.get(environment.id, id);
        if (use !== undefined) {
          throw new ApiError(
            400,
            `The workflow "${text(use, 'identifier')}" uses the feed "${id}", so it can't be deleted.`,
          );
        }
        if (remove.run(id, environment.id).changes === 0) {
          assertRecordId(id);
          throw new ApiError(400, `This environment has no feed with the id "${id}".`);
        }
        return dataResponse(200, list(environment));
      },
    };
  },
};
