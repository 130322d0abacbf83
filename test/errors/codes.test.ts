import { expect, it } from 'vitest';
import { ERROR_CODES, type ErrorCodeEntry } from '../../src/index.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';

guards('src/http/head.ts', 'readHead');

const JSON_TYPE = { 'content-type': 'application/json', authorization: 'ApiKey x' };
const post = (body: string, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { ...JSON_TYPE, ...headers },
  body,
});

it('a rejected request has the status, code and retryable of the table, one line in the log, and is not stored (R23)', async () => {
  await using gateway = await startGateway({ service: 'sandbox' });
  const refusals: [keyof typeof ERROR_CODES, RequestInit, string?][] = [
    ['BAD_REQUEST', post('[]')],
    ['BAD_REQUEST', post('{')],
    ['BAD_REQUEST', { headers: JSON_TYPE }],
    ['GRAPHQL_PARSE_FAILED', post('{"query":"{"}')],
    ['GRAPHQL_VALIDATION_FAILED', post('{"query":"{ nothing }"}')],
    ['BAD_USER_INPUT', post('{"query":"query ($a: Int!) { notificationStats(days: $a) { count } }"}')],
    ['OPERATION_RESOLUTION_FAILURE', post('{"query":"{ __typename }","operationName":"X"}')],
    ['DOCUMENT_LIMIT_EXCEEDED', post(JSON.stringify({ query: `{ ${'__typename '.repeat(30)} }` }))],
    ['PERSISTED_QUERY_NOT_FOUND', post('{"documentId":"none"}')],
    ['PERSISTED_QUERY_NOT_SUPPORTED', post('{"extensions":{"persistedQuery":{"sha256Hash":"none"}}}')],
    ['UNAUTHENTICATED', post('{"query":"{ __typename }"}', { authorization: 'Basic x' })],
    ['CSRF_REFUSED', { method: 'GET' }, '?query={__typename}'],
    ['NOT_FOUND', post('{}'), '/other'],
    ['METHOD_NOT_ALLOWED', { method: 'PUT', headers: JSON_TYPE }],
    ['METHOD_NOT_ALLOWED', { headers: JSON_TYPE }, '?query=mutation{__typename}'],
    ['NOT_ACCEPTABLE', post('{"query":"{ __typename }"}', { accept: 'image/png' })],
    ['PAYLOAD_TOO_LARGE', post(' '.repeat(300_000))],
    ['UNSUPPORTED_MEDIA_TYPE', post('{}', { 'content-type': 'text/plain' })],
  ];
  for (const [code, init, suffix = ''] of refusals) {
    gateway.log.length = 0;
    const response = await fetch(gateway.url + suffix, init);
    const { errors } = await response.json();
    const { status, retryable }: ErrorCodeEntry = ERROR_CODES[code];
    const requestId = response.headers.get('x-request-id');
    expect([code, response.status, response.headers.get('cache-control')]).toEqual([code, status, 'no-store']);
    expect(errors[0].extensions).toMatchObject({ code, retryable: retryable === true, requestId });
    expect(gateway.log).toMatchObject([{ msg: 'operation', httpStatus: status, code, requestId }]);
  }
  expect(gateway.upstream()).toHaveLength(0);
});
