// Table and endpoints of layouts.

import { DEVELOPMENT } from '../environments.ts';
import { ApiError } from '../errors.ts';
import { createId, sampleId } from '../ids.ts';
import type { Resource } from '../resource.ts';
import { dataResponse } from '../response.ts';
import { text } from '../rows.ts';

export const resource: Resource = {
  schema: `
    CREATE TABLE layouts (
      _id TEXT PRIMARY KEY,
      environment_id TEXT NOT NULL,
      name TEXT NOT NULL,
      UNIQUE (environment_id, name)
    ) STRICT;
  `,

  writeSamples(database) {
    const insert = database.prepare('INSERT INTO layouts (_id, environment_id, name) VALUES (?, ?, ?)');
    for (const name of ['Makers', 'Newsletter']) {
      insert.run(sampleId(DEVELOPMENT, 'layout', name), DEVELOPMENT.id, name);
    }
  },

  createHandlers(database, clock) {
    const list = database.prepare('SELECT _id, name FROM layouts WHERE environment_id = ? ORDER BY rowid');
    const insert = database.prepare(
      'INSERT INTO layouts (_id, environment_id, name) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING _id, name',
    );
    return {
      listLayouts: ({ environment }) => dataResponse(200, list.all(environment.id)),
      createLayout({ environment, body }) {
        const layout = insert.get(createId(clock()), environment.id, text(body, 'name'));
        if (layout === undefined) {
          throw new ApiError(409, `A layout named "${text(body, 'name')}" already exists.`);
        }
        return dataResponse(201, layout);
      },
    };
  },
};
