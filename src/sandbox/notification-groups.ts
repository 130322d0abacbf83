import type { StatementSync } from 'node:sqlite';

import type { Clock } from './clock.ts';
import type { SandboxDatabase } from './database.ts';
import type { Environment } from './environments.ts';
import { ApiError } from './errors.ts';
import { createId } from './ids.ts';
import { type Row, text } from './rows.ts';

/** Groups that workflows belong to. */
export class NotificationGroups {
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

  /** Workflows that belong to the group keep its id, as in the real service. */
  delete(environment: Environment, id: string) {
    if (this.#delete.run(id, environment.id).changes === 0) {
      throw unknownGroup(id);
    }
    return { acknowledged: true, status: 'deleted' };
  }
}

function toGroup(environment: Environment, row: Row) {
  return {
    _id: text(row, 'id'),
    name: text(row, 'name'),
    _organizationId: environment.organizationId,
    _environmentId: environment.id,
  };
}

function unknownGroup(id: string): ApiError {
  return new ApiError(404, `There is no notification group with the id "${id}" in this environment.`);
}
