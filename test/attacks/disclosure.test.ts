import { describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { ofFile } from '../support/lifetime.ts';
import { workflow } from '../support/records.ts';

guards('src/documents/engine.ts', 'createExecuteOperation.executePlans.hideSuggestions');
guards('src/http/pipeline/respond.ts', 'limitSize');
guards('src/documents/validate.ts', 'useDocumentLimits.onValidate');

let body: unknown;
const gateway = ofFile(await startGateway({ service: () => ({ body }), introspection: false }));

const SUBSCRIBER = 'mutation ($v: CreateSubscriberInput!) { createSubscriber(input: $v) { __typename } }';

it.each([
  ['a field', '{ workflowz { id } }', {}],
  ['an argument', '{ workflow(idOrIdentifie: "a") { id } }', {}],
  ['a type', '{ workflow(idOrIdentifier: "a") { ... on Workfloww { id } } }', {}],
  ['a field that needs a fragment', 'mutation { createFeed(input: { name: "a" }) { feed { id } } }', {}],
  [
    'an enum value',
    'mutation { deleteMessagesByTransaction(input: { transactionId: "a", channel: EMAILL }) { __typename } }',
    {},
  ],
  ['an input field', 'mutation { createSubscriber(input: { subscriberIdd: "a" }) { __typename } }', {}],
  ['a directive', '{ __typename @includee(if: true) }', {}],
  ['an input field of a variable', SUBSCRIBER, { v: { subscriberIdd: 'a' } }],
  [
    'an enum value of a variable',
    'mutation ($v: Channel!) { deleteMessagesByTransaction(input: { transactionId: "a", channel: $v }) { __typename } }',
    { v: 'EMAILL' },
  ],
])('without introspection no message suggests a name: %s', async (_, document, variables) => {
  const { status, body: response } = await gateway.send(document, variables);
  expect(status).toBe(400);
  expect(JSON.stringify(response)).not.toContain('Did you mean');
});

describe('requests with different documents', () => {
  it('never share one, whatever separates their parameters', async () => {
    const texts = [
      'query a { a: __typename }',
      'query a { b: __typename }',
      'query a { a: __typename }\u0000',
      'query a { a: __typename } #\u0000a',
    ];
    for (const operationName of ['a', 'a\u0000', '\u0000a', '', '\ud800', '\ud801']) {
      for (const query of texts) {
        const response = await fetch(gateway.url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ query, operationName }),
        });
        const { data } = await response.json();
        const key = query.includes('b:') ? 'b' : 'a';
        expect(data).toEqual(
          ['a', ''].includes(operationName) && !query.endsWith('\u0000') ? { [key]: 'Query' } : undefined,
        );
      }
    }
  });

  it('never share one because lone surrogates are the same in UTF-8', async () => {
    for (const half of ['\ud800', '\ud801']) {
      const { body: response } = await gateway.send(`{ workflow(idOrIdentifier: "${half}") { id } } # ${half}`);
      expect(JSON.stringify(response)).not.toContain('"data":{"workflow":{');
    }
  });
});

describe('a response is limited to 4 MiB', () => {
  const MAX_BYTES = 4 * 1024 * 1024;

  it.each([
    ['text outside of ASCII', '日'.repeat(1_600_000)],
    ['control characters', '\u0001'.repeat(800_000)],
    ['ASCII', 'x'.repeat(4_900_000)],
    ['lone surrogates', '\ud800'.repeat(800_000)],
  ])('if it consists of %s', async (_, description) => {
    body = JSON.stringify({ data: workflow({ description }) });
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'ApiKey a' },
      body: JSON.stringify({ query: '{ workflow(idOrIdentifier: "a") { description } }' }),
    });
    const text = await response.text();
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BYTES);
    expect(text).toContain('RESULT_LIMIT_EXCEEDED');
  });

  it.each([
    ['ASCII', 'x', 1_000_000],
    ['text outside of ASCII', '日', 1_200_000],
    ['control characters', '\u0001', 700_000],
  ])('while each field of a mutation still reports its outcome: %s', async (_, character, length) => {
    body = JSON.stringify({
      data: { _id: 'f', name: character.repeat(length), identifier: 'f', _organizationId: 'o', _environmentId: 'e' },
    });
    gateway.service.forget();
    const names = Array.from({ length: 6 }, (_, i) => `a${i}`);
    const { body: response } = await gateway.send(
      `mutation { ${names.map((name) => `${name}: createFeed(input: { name: "${name}" }) { ... on CreateFeedSuccess { feed { name } } }`).join(' ')} }`,
    );
    const outcomes = (response.errors ?? []).map(({ path, extensions }) => `${path} ${extensions?.outcome}`);
    const sent = gateway.service.requests.length;
    const reported = names.map((name) => outcomes.find((text) => text.startsWith(name)) ?? name);
    expect(reported.filter((text) => text.endsWith('NOT_APPLIED'))).toHaveLength(6 - sent);
    expect(reported.some((text) => text.endsWith('UNKNOWN'))).toBe(true);
    expect(Buffer.byteLength(JSON.stringify(response))).toBeLessThanOrEqual(MAX_BYTES);
    expect(Object.keys(response.data ?? {})).toHaveLength(6);
  });
});
