import { expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { group, workflow } from '../support/records.ts';
import type { ServiceResponse } from '../support/service.ts';

guards('src/upstream/transport/body.ts', 'readJson');
guards('src/upstream/transport/body.ts', 'readSuccess');
guards('src/upstream/transport/body.ts', 'readText');
guards('src/upstream/transport/body.ts', 'findHeaderProblem');

const RECORD = { data: workflow({ name: 'shown' }) };
const TEXT = JSON.stringify(RECORD);

const ofType = (type: string, body = TEXT): ServiceResponse => ({ headers: { 'content-type': type }, body });

const ONE = '{ workflow(idOrIdentifier: "w") { name } }';
const LIST = '{ notificationGroups { name } }';

it.each<[title: string, query: string, response: ServiceResponse, cause: string | undefined]>([
  ['of a suffixed type', ONE, ofType('Application/Vnd.own+JSON; charset=utf-8'), undefined],
  ['of another type', ONE, ofType('text/html; charset=utf-8'), 'status 200 with text/html instead of JSON'],
  [
    'of a type that could be a secret',
    ONE,
    ofType('own/secret'),
    'status 200 with another content type instead of JSON',
  ],
  [
    'in an encoding that was not requested',
    ONE,
    { headers: { 'content-type': 'application/json', 'content-encoding': 'br' }, body: TEXT },
    'status 200 with a content encoding that was not requested',
  ],
  ['that is no JSON', ONE, ofType('application/json', '{'), 'the body is not JSON'],
  ['that is an error', ONE, { body: { statusCode: 500 } }, 'the body is an error, although the status is 200'],
  ['with an error', ONE, { body: { data: { statusCode: 404 } } }, 'the body is an error, although the status is 200'],
  [
    'that is an error with an empty envelope',
    ONE,
    { body: { statusCode: 500, data: null } },
    'the body is an error, although the status is 200',
  ],
  ['with a list in place of a record', ONE, { body: { data: [RECORD.data] } }, 'the body is not a record'],
  ['with a record in place of a list', LIST, { body: { data: group() } }, 'the body is not a list'],
  ['with a record without an id', ONE, { body: { data: { name: 'shown' } } }, 'the record has none of _id'],
])('a body %s', async (_, query, response, cause) => {
  await using gateway = await startGateway({ service: () => response, maxRetries: 0 });
  const { body, codes } = await gateway.send(query);
  expect(codes).toEqual(cause === undefined ? [] : ['UPSTREAM_BAD_RESPONSE']);
  expect(JSON.stringify(body).includes('shown')).toBe(cause === undefined);
  const logged = JSON.stringify(gateway.log);
  expect(logged).toContain(cause ?? 'operation');
  expect(logged).not.toContain('own/secret');
});
