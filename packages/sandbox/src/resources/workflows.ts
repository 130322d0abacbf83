// Tables and endpoints of workflows.

import { type Environment, owned, PRODUCTION } from '../environments.ts';
import { ApiError } from '../errors.ts';
import { sampleId } from '../ids.ts';
import { findId } from '../references.ts';
import type { Resource } from '../resource.ts';
import { bareResponse, dataResponse } from '../response.ts';
import { documentOf, flag, isRow, json, optionalText, type Row, requireRecord, requireRow, text } from '../rows.ts';
import { createWorkflowDocument } from '../workflow-document.ts';

/** Name of a workflow's group. */
const GROUP = "(SELECT name FROM notification_groups WHERE id = document ->> '$._notificationGroupId') AS group_name";

/** Notification templates made of steps and triggers. */
export const resource: Resource = {
  schema: `
    CREATE TABLE workflows (
      id TEXT PRIMARY KEY,
      environment_id TEXT NOT NULL,
      identifier TEXT NOT NULL,
      document TEXT NOT NULL,
      UNIQUE (environment_id, identifier)
    ) STRICT;
  `,

  writeRecords(database, { workflows = [] }, { environment, now }) {
    const insert = database.prepare(
      'INSERT INTO workflows (id, environment_id, identifier, document) VALUES (?, ?, ?, ?)',
    );
    for (const workflow of workflows) {
      const { identifier, id = sampleId(environment, 'workflow', identifier), group } = workflow;
      const idOf = (kind: 'notification group' | 'feed', idOrName: string) =>
        findId(database, environment, kind, idOrName, `The workflow "${identifier}"`);
      const document = createWorkflowDocument(environment, workflow, {
        id,
        groupId: group === undefined ? sampleId(environment, 'group', '') : idOf('notification group', group),
        feedIdOf: (feed) => idOf('feed', feed),
        now,
      });
      insert.run(id, environment.id, identifier, JSON.stringify(document));
    }
  },

  recordList: {
    title: 'Workflows',
    sql: `
      SELECT identifier AS id, document ->> '$.name' || iif(document ->> '$.active', '', ' (inactive)') AS label
      FROM workflows
      WHERE environment_id = ?
      ORDER BY rowid
    `,
  },

  createHandlers(database, clock, topUp) {
    const findStatus = database.prepare(
      "SELECT document ->> '$.active' AS active FROM workflows WHERE environment_id = ? AND id = ?",
    );
    // A trigger identifier can equal the id of another workflow. The id takes precedence.
    const findByIdOrIdentifier = database.prepare(`
      SELECT document FROM workflows
      WHERE environment_id = :environment AND (id = :key OR identifier = :key)
      ORDER BY id = :key DESC
      LIMIT 1
    `);
    const readPage = database.preparePages(`
      SELECT document, ${GROUP} FROM workflows
      WHERE environment_id = :environment
        AND (instr(lower(document ->> '$.name'), lower(:query)) OR instr(lower(identifier), lower(:query)))
      ORDER BY document ->> '$.createdAt' DESC, rowid DESC
    `);
    const setStatus = database.prepare(`
      UPDATE workflows
      SET document = json_set(document, '$.active', json(?), '$.draft', json(?), '$.updatedAt', ?)
      WHERE environment_id = ? AND id = ?
      RETURNING document
    `);
    return {
      getWorkflow({ environment, params }) {
        const key = text(params, 'workflowIdOrIdentifier');
        const row = findByIdOrIdentifier.get({ environment: environment.id, key });
        return dataResponse(200, json(requireRow(row, 'workflow with the id or trigger identifier', key), 'document'));
      },

      listWorkflows({ environment, query }) {
        const selected = { environment: environment.id, query: optionalText(query, 'query') ?? '' };
        const { page, pageSize, totalCount, rows } = readPage(selected, query.page, query.limit);
        const data = rows.map((row) => toListed(environment, row));
        return bareResponse(200, { page, pageSize, totalCount, data });
      },

      /** Switches a workflow on or off. As in the real service, setting the status it already has is an error. */
      updateWorkflowStatus({ environment, params, body }) {
        if (environment === PRODUCTION) {
          throw new ApiError(401, 'This action is only allowed in Development environment');
        }
        topUp(); // The traffic of the days before is that of the workflows that were active.
        const id = text(params, 'workflowId');
        const isActive = body.active === true;
        const status = requireRecord(findStatus.get(environment.id, id), 'workflow', id, 'templateId');
        if (flag(status, 'active') === isActive) {
          throw new ApiError(400, `The workflow is already ${isActive ? 'active' : 'inactive'}.`);
        }
        const [active, draft] = [String(isActive), String(!isActive)];
        const row = setStatus.get(active, draft, clock().toISOString(), environment.id, id) ?? {};
        return dataResponse(200, json(row, 'document'));
      },
    };
  },
};

/** Returns a workflow as lists have it: with its group, but without `id` anywhere, and of the templates of its steps only their types. */
function toListed(environment: Environment, row: Row): unknown {
  const workflow = documentOf(row);
  const name = optionalText(row, 'group_name');
  const group = name === null ? null : owned(environment, { _id: workflow._notificationGroupId, name });
  return JSON.parse(JSON.stringify({ ...workflow, notificationGroup: group }), (key, value) =>
    key === 'id' ? undefined : key === 'template' && isRow(value) ? { _id: value._id, type: value.type } : value,
  );
}
