import type { StatementSync } from 'node:sqlite';

import type { Clock } from './clock.ts';
import type { SandboxDatabase } from './database.ts';
import type { Environment } from './environments.ts';
import { ApiError } from './errors.ts';
import { createId } from './ids.ts';
import { type Row, text } from './rows.ts';

/** In-app feeds. */
export class Feeds {
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
      throw new ApiError(409, `A feed named "${name}" exists already.`);
    }
    const id = createId(this.#clock());
    this.#insert.run(id, environment.id, name);
    return toFeed(environment, { id, name });
  }

  /** Answers the feeds that remain; both refusals are 400, as in the real service. */
  delete(environment: Environment, id: string) {
    const use = this.#findUse.get(environment.id, id);
    if (use !== undefined) {
      throw new ApiError(400, `The feed "${id}" is used by the workflow "${text(use, 'identifier')}" and stays.`);
    }
    if (this.#delete.run(id, environment.id).changes === 0) {
      throw new ApiError(400, `There is no feed with the id "${id}" in this environment.`);
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
