import type { StatementSync } from 'node:sqlite';

import type { Clock } from './clock.ts';
import type { SandboxDatabase } from './database.ts';
import type { Environment } from './environments.ts';
import { ApiError } from './errors.ts';
import { flag, isRow, json, type Row, text } from './rows.ts';

/** Notification templates made of steps and triggers. */
export class Workflows {
  readonly #clock: Clock;
  readonly #find: StatementSync;
  readonly #findByIdOrIdentifier: StatementSync;
  readonly #setStatus: StatementSync;

  constructor(database: SandboxDatabase, clock: Clock) {
    this.#clock = clock;
    this.#find = database.prepare('SELECT * FROM workflows WHERE environment_id = ? AND id = ?');
    // The id wins should a trigger identifier look like the id of another workflow.
    this.#findByIdOrIdentifier = database.prepare(`
      SELECT * FROM workflows
      WHERE environment_id = :environment AND (id = :key OR identifier = :key)
      ORDER BY id = :key DESC
      LIMIT 1
    `);
    this.#setStatus = database.prepare(
      'UPDATE workflows SET active = ?, draft = ?, updated_at = ? WHERE environment_id = ? AND id = ?',
    );
  }

  get(environment: Environment, idOrIdentifier: string) {
    const row = this.#findByIdOrIdentifier.get({ environment: environment.id, key: idOrIdentifier });
    if (row === undefined) {
      throw unknownWorkflow('id or trigger identifier', idOrIdentifier);
    }
    return toWorkflow(row);
  }

  /** Refuses the status that the workflow already has, as the real service does. */
  setStatus(environment: Environment, id: string, active: boolean) {
    const row = this.#find.get(environment.id, id);
    if (row === undefined) {
      throw unknownWorkflow('id', id);
    }
    if (flag(row, 'active') === active) {
      throw new ApiError(400, `The workflow is ${active ? 'active' : 'inactive'} already; nothing was changed.`);
    }
    const updatedAt = this.#clock().toISOString();
    this.#setStatus.run(Number(active), Number(!active), updatedAt, environment.id, id);
    return toWorkflow({ ...row, active: Number(active), draft: Number(!active), updated_at: updatedAt });
  }
}

function toWorkflow(row: Row) {
  const document = json(row, 'document');
  if (!isRow(document)) {
    throw new TypeError(`The document of workflow ${text(row, 'id')} is not an object`);
  }
  return { ...document, active: flag(row, 'active'), draft: flag(row, 'draft'), updatedAt: text(row, 'updated_at') };
}

function unknownWorkflow(kind: string, key: string): ApiError {
  return new ApiError(404, `There is no workflow with the ${kind} "${key}" in this environment.`);
}
