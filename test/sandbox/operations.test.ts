import { expect, it } from 'vitest';
import { openDatabase } from '../../src/sandbox/open-database.ts';
import type { Resource } from '../../src/sandbox/resource.ts';
import { resources } from '../../src/sandbox/resources/index.gen.ts';
import { createRouter } from '../../src/sandbox/router.ts';
import { createOperations } from '../../src/sandbox/service.ts';

const now = () => new Date('2026-01-15T12:00:00Z');

/** Creates a resource with one handler and no tables. */
const handling = (operationId: string): Resource => ({
  migrations: [],
  createHandlers: () => ({ [operationId]: () => ({ status: 204, body: null, headers: {} }) }),
});

async function collect(all: readonly Resource[]): Promise<string[]> {
  const database = openDatabase(':memory:', resources, now);
  try {
    return [...createOperations(all, (await createRouter()).operationIds(), database, now, []).keys()];
  } finally {
    database.close();
  }
}

it('every operation of the OpenAPI document has a handler', async () => {
  expect((await collect(resources)).toSorted()).toEqual((await createRouter()).operationIds().toSorted());
});

it.each([
  ['no handler', resources.slice(1), 'No file in src/sandbox/resources has a handler for createFeed, deleteFeed.'],
  ['two handlers', [...resources, handling('createFeed')], 'The operation createFeed has two handlers.'],
  [
    'a handler and is not in the document',
    [...resources, handling('createTopic')],
    'The operation createTopic is not in the OpenAPI document.',
  ],
])('an operation with %s prevents the start', async (_, all, message) => {
  await expect(collect(all)).rejects.toThrow(message);
});
