import { gql, type TypedDocumentNode } from '@apollo/client';
import { Client, fetchExchange } from '@urql/core';
import { GraphQLClient } from 'graphql-request';
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { shippedOperations } from '../../../test/support/shipped-documents.ts';
import { createClient, NotificationGroupsDocument, WorkflowsDocument } from '../../client/src/index.ts';
import { gatewayError, mockOperation, mocks } from '../src/msw/index.ts';

const url = 'http://mocked.example.com/graphql';
const server = setupServer(http.all('*', () => HttpResponse.error())); // Requests that are not mocked fail.
const notigraph = createClient({ url });

beforeAll(() => server.listen());
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

/** Groups as a mock returns them. */
const GROUPS = { notificationGroups: [{ __typename: 'NotificationGroup' as const, id: '1', name: 'Mocked' }] };

const urql = new Client({ url, exchanges: [fetchExchange], preferGetMethod: 'force' });

/** Functions that send a typed document and return its data. */
const CLIENTS: Record<string, (variables: { idsOrIdentifiers: string[] }) => Promise<unknown>> = {
  'a text': async (variables) => (await notigraph.request(WorkflowsDocument, variables)).data,
  'an id': async (variables) => (await createClient({ url, send: 'id' }).request(WorkflowsDocument, variables)).data,
  'a text of graphql-request': (variables) => new GraphQLClient(url).request(WorkflowsDocument, variables),
  'a GET request of urql': async (variables) => (await urql.query(WorkflowsDocument, variables)).data,
};

describe('a mock', () => {
  it.each(Object.entries(CLIENTS))('answers %s, and gets its variables', async (_title, send) => {
    const received: unknown[] = [];
    const data = { workflows: [null] };
    server.use(
      mocks.Workflows(({ variables, request }) => {
        received.push([variables.idsOrIdentifiers, new URL(request.url).pathname]);
        return { data };
      }),
    );
    expect(await send({ idsOrIdentifiers: ['welcome'] })).toEqual(data);
    expect(received).toEqual([[['welcome'], '/graphql']]);
  });

  it('of every shipped operation answers only that one', async () => {
    const names = shippedOperations.map(({ name }) => name);
    expect(Object.keys(mocks)).toEqual(names.toSorted());
    server.use(mocks.NotificationGroups(() => ({ data: GROUPS })));
    expect((await notigraph.request(NotificationGroupsDocument)).data).toEqual(GROUPS);
    await expect(
      notigraph.request('query Other { notificationGroups { id } }', {}, { retries: false }),
    ).rejects.toThrow(TypeError);
    await expect(notigraph.request('{ notificationGroups { id } }', {}, { retries: false })).rejects.toThrow(TypeError);
  });

  it('can be limited to one address, and to one request', async () => {
    const resolver = () => ({ data: GROUPS });
    server.use(mocks.NotificationGroups(resolver, { url: 'http://other.example.com/graphql' }));
    const request = () => notigraph.request(NotificationGroupsDocument, {}, { retries: false });
    await expect(request()).rejects.toThrow(TypeError);
    server.use(mocks.NotificationGroups(resolver, { url, once: true }));
    expect((await request()).data).toEqual(GROUPS);
    await expect(request()).rejects.toThrow(TypeError);
  });

  it('answers an operation of the app, whose document has only a name', async () => {
    const Own: TypedDocumentNode<{ own: boolean }, object> = gql('query Own { notificationGroups { id } }');
    server.use(mockOperation(Own)(() => ({ data: { own: true } })));
    expect(await new GraphQLClient(url).request(Own)).toEqual({ own: true });
    const Unnamed: typeof Own = gql('{ notificationGroups { id } }');
    expect(() => mockOperation(Unnamed)).toThrow('The operation has no name.');
  });

  it('answers a document by its id, with or without the name of the algorithm', async () => {
    const hash = 'a'.repeat(64);
    for (const written of [hash, `sha256:${hash}`]) {
      server.use(
        mockOperation<{ own: boolean }, object>({ __meta__: { hash: written } })(() => ({ data: { own: true } })),
      );
      for (const sent of [hash, `sha256:${hash}`]) {
        const bodies = [{ documentId: sent }, { extensions: { persistedQuery: { version: 1, sha256Hash: sent } } }];
        for (const body of bodies) {
          const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
          expect(await response.json()).toEqual({ data: { own: true } });
        }
      }
      server.resetHandlers();
    }
  });

  it('has to return something, which plain JavaScript may forget', async () => {
    const log = vi.spyOn(console, 'error').mockReturnValue(); // msw writes the error there.
    server.use(mocks.NotificationGroups(() => ({}) as { data: typeof GROUPS }));
    const body = expect.stringContaining('The resolver of a mock must return data, errors or a Response.');
    const sent = notigraph.request(NotificationGroupsDocument, {}, { retries: false });
    await expect(sent)
      .rejects.toMatchObject({ status: 500, body })
      .finally(() => log.mockRestore());
  });
});

describe('a mocked error', () => {
  it('has a code of the gateway', () => {
    expect(() => gatewayError('OVERLOAD' as 'OVERLOADED')).toThrow(
      'Unknown error code "OVERLOAD". Codes of the gateway: ',
    );
  });

  it('has a message for people, without the Markdown of the docs', () => {
    const { message } = gatewayError('UNAUTHENTICATED');
    expect(message).toBe('The credential is missing, or refused: by the gateway with a reason, or by the service.');
  });

  it('of a rejected request has the status of its code, and is retried', async () => {
    server.use(
      mocks.NotificationGroups(() => ({ errors: [gatewayError('RATE_LIMITED', { retryAfterSeconds: 0.01 })] }), {
        once: true,
      }),
      mocks.NotificationGroups(() => ({ data: GROUPS })),
    );
    const once = await notigraph.request(NotificationGroupsDocument, {}, { retries: false });
    expect(once).toMatchObject({
      status: 429,
      data: null,
      errors: [{ extensions: { code: 'RATE_LIMITED', retryable: true } }],
    });
    expect(once.headers.get('content-type')).toBe('application/graphql-response+json');
    server.restoreHandlers();
    expect(await notigraph.request(NotificationGroupsDocument)).toMatchObject({ attempts: 2, data: GROUPS });
  });

  it('of an executed operation comes with data and status 200', async () => {
    const path = ['notificationGroups'];
    const error = gatewayError('UPSTREAM_ERROR', { path, message: 'Failed.', errorId: 'a' });
    expect(error).toEqual({
      message: 'Failed.',
      path,
      extensions: { code: 'UPSTREAM_ERROR', retryable: false, errorId: 'a' },
    });
    server.use(mocks.NotificationGroups(() => ({ data: { notificationGroups: null }, errors: [error] })));
    const answer = await notigraph.request(NotificationGroupsDocument);
    expect(answer).toMatchObject({ status: 200, data: { notificationGroups: null }, errors: [error] });
  });
});
