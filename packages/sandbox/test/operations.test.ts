import { expect, it } from 'vitest';
import requests from '../src/requests.gen.json' with { type: 'json' };
import { resources } from '../src/resources/index.ts';
import { openDatabase } from '../src/service.ts';

it('every operation of the OpenAPI document has one handler', () => {
  const now = () => new Date('2026-01-15T12:00:00Z');
  using database = openDatabase(':memory:', now, []);
  const handlers = resources.flatMap(({ createHandlers }) => Object.keys(createHandlers(database, now, () => {})));
  const operations = [...JSON.stringify(requests).matchAll(/"operationId":"(\w+)"/g)].map(([, id]) => id);
  expect(handlers.toSorted()).toEqual(operations.toSorted());
});
