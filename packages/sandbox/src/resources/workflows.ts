// Tables and endpoints of workflows.

import { ApiError } from '../errors.ts';
import type { Resource } from '../resource.ts';
import { bareResponse, dataResponse } from '../response.ts';
import { flag, integer, isRow, json, optionalText, type Row, readPage, requireRow, text } from '../rows.ts';

/** Notification templates made of steps and triggers. */
export const resource: Resource = {
  schema: `
    CREATE TABLE workflows (
      id TEXT PRIMARY KEY,
      environment_id TEXT NOT NULL,
      identifier TEXT NOT NULL,
      active INTEGER NOT NULL,
      draft INTEGER NOT NULL,
      updated_at TEXT NOT NULL,
      document TEXT NOT NULL,
      UNIQUE (environment_id, identifier)
    ) STRICT;
  `,

  writeRecords(database, { environment, workflows }) {
    const insert = database.prepare(`
      INSERT INTO workflows (id, environment_id, identifier, active, draft, updated_at, document)
      VALUES (?, ?, ?, ?, ?, ?, ?)
    `);
    for (const { id, identifier, active, updatedAt, document } of workflows) {
      const status = [Number(active), Number(!active)] as const;
      insert.run(id, environment.id, identifier, ...status, updatedAt, JSON.stringify(document));
    }
  },

  recordList: {
    title: 'Workflows',
    sql: `
      SELECT identifier AS id, document ->> '$.name' || iif(active, '', ' (inactive)') AS label
      FROM workflows
      WHERE environment_id = ?
      ORDER BY rowid
    `,
  },

  createHandlers(database, clock) {
    const find = database.prepare('SELECT * FROM workflows WHERE environment_id = ? AND id = ?');
    // A trigger identifier can equal the id of another workflow. The id takes precedence.
    const findByIdOrIdentifier = database.prepare(`
      SELECT * FROM workflows
      WHERE environment_id = :environment AND (id = :key OR identifier = :key)
      ORDER BY id = :key DESC
      LIMIT 1
    `);
    const filter = `
      FROM workflows
      WHERE environment_id = :environment
        AND (instr(lower(document ->> '$.name'), lower(:query)) OR instr(lower(identifier), lower(:query)))
    `;
    const count = database.prepare(`SELECT count(*) AS total ${filter}`);
    const list = database.prepare(`SELECT * ${filter} ORDER BY rowid LIMIT :limit OFFSET :offset`);
    const setStatus = database.prepare(
      'UPDATE workflows SET active = ?, draft = ?, updated_at = ? WHERE environment_id = ? AND id = ?',
    );
    return {
      getWorkflow({ environment, params }) {
        const key = text(params, 'workflowIdOrIdentifier');
        const row = findByIdOrIdentifier.get({ environment: environment.id, key });
        return dataResponse(200, toWorkflow(requireRow(row, 'workflow with the id or trigger identifier', key)));
      },

      listWorkflows({ environment, query }) {
        const { page, size: pageSize, limit, offset } = readPage(query.page, query.limit);
        const selected = { environment: environment.id, query: optionalText(query, 'query') ?? '' };
        const rows = list.all({ ...selected, limit, offset });
        const totalCount = integer(count.get(selected) ?? {}, 'total');
        return bareResponse(200, { page, pageSize, totalCount, data: rows.map(toWorkflow) });
      },

      /** Switches a workflow on or off. As in the real service, setting the status it already has is an error. */
      updateWorkflowStatus({ environment, params, body }) {
        const id = text(params, 'workflowId');
        const isActive = body.active === true;
        const row = requireRow(find.get(environment.id, id), 'workflow with the id', id);
        if (flag(row, 'active') === isActive) {
          throw new ApiError(400, `The workflow is already ${isActive ? 'active' : 'inactive'}.`);
        }
        const [active, draft] = [Number(isActive), Number(!isActive)];
        const updatedAt = clock().toISOString();
        setStatus.run(active, draft, updatedAt, environment.id, id);
        return dataResponse(200, toWorkflow({ ...row, active, draft, updated_at: updatedAt }));
      },
    };
  },
};

function toWorkflow(row: Row) {
  const document = json(row, 'document');
  if (!isRow(document)) {
    throw new TypeError(`The document of workflow ${text(row, 'id')} is not an object`);
  }
  return { ...document, active: flag(row, 'active'), draft: flag(row, 'draft'), updatedAt: text(row, 'updated_at') };
}
