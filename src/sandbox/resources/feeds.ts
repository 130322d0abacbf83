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
      description: 'Creates the table of feeds.',
      sql: `
        CREATE TABLE feeds (
          id TEXT PRIMARY KEY,
          environment_id TEXT NOT NULL,
          name TEXT NOT NULL,
          UNIQUE (environment_id, name)
        ) STRICT;
      `,
    },
  ],

  writeRecords(database, { environment, feeds }) {
    const insert = database.prepare('INSERT INTO feeds (id, environment_id, name) VALUES (?, ?, ?)');
    for (const { id, name } of feeds) {
      insert.run(id, environment.id, name);
    }
  },

  recordList: {
    title: 'Feeds',
    sql: 'SELECT id, name AS label FROM feeds WHERE environment_id = ? ORDER BY rowid',
  },

  createHandlers(database, clock) {
    const feeds = new Feeds(database, clock);
    return {
      createFeed: ({ environment, body }) => dataResponse(201, feeds.create(environment, text(body, 'name'))),
      deleteFeed: ({ environment, params }) => dataResponse(200, feeds.delete(environment, text(params, 'feedId'))),
    };
  },
};

/** In-app feeds. */
class Feeds {
  readonly #clock: Clock;
  readonly #insert: StatementSync;
  readonly #list: StatementSync;
  readonly #findByName: StatementSync;
  readonly #findUse: StatementSync;
  readonly #delete: StatementSync;

  constructor(database: SandboxDatabase, clock: Clock) {
    this.#clock = clock;
    this.#insert = database.prepare('INSERT INTO feeds (id, environment_id, name) VALUES (?, ?, ?)');
    this.#list = database.prepare('SELECT id, name FROM feeds WHERE environment_id = ? ORDER BY rowid');
    this.#findByName = database.prepare('SELECT id FROM feeds WHERE environment_id = ? AND name = ?');
    this.#findUse = database.prepare(`
      SELECT workflows.identifier
      FROM workflows, json_each(workflows.document, '$.steps') AS step
      WHERE workflows.environment_id = ? AND step.value ->> '$.template._feedId' = ?
      LIMIT 1
    `);
    this.#delete = database.prepare('DELETE FROM feeds WHERE id = ? AND environment_id = ?');
  }

  create(environment: Environment, name: string) {
    if (this.#findByName.get(environment.id, name) !== undefined) {
      throw new ApiError(409, `A feed named "${name}" already exists.`);
    }
    const id = createId(this.#clock());
    this.#insert.run(id, environment.id, name);
    return toFeed(environment, { id, name });
  }

  /** Deletes a feed and returns the remaining feeds. Both errors are 400, as in the real service. */
  delete(environment: Environment, id: string) {
    const use = this.#findUse.get(environment.id, id);
    if (use !== undefined) {
      throw new ApiError(
        400,
        `The workflow "${text(use, 'identifier')}" uses the feed "${id}", so it can't be deleted.`,
      );
    }
    if (this.#delete.run(id, environment.id).changes === 0) {
      throw new ApiError(400, `This environment has no feed with the id "${id}".`);
    }
    return this.#list.all(environment.id).map((row) => toFeed(environment, row));
  }
}

function toFeed(environment: Environment, row: Row) {
  const name = text(row, 'name');
  return {
    _id: text(row, 'id'),
    name,
    identifier: name,
    _organizationId: environment.organizationId,
    _environmentId: environment.id,
  };
}
