import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { Client, cacheExchange, type Exchange, fetchExchange } from '@urql/core';
import { persistedExchange } from '@urql/exchange-persisted';
import { type GraphQLSchema, parse, validate } from 'graphql';
import { GraphQLClient } from 'graphql-request';
import { describe, expect, it } from 'vitest';
import released from '../../../schema/released-documents.json' with { type: 'json' };
import manifest from '../../../schema/trusted-documents.json' with { type: 'json' };
import { createSchema } from '../../../src/modules/schema.ts';
import { SHIPPED_MODULES } from '../../../src/modules/shipped.ts';
import { startGateway } from '../../../test/support/gateway.ts';
import {
  type AnyDocument,
  documentOf,
  isMutation,
  shippedModules,
  shippedOperations,
} from '../../../test/support/shipped-documents.ts';
import { SANDBOX_KEYS } from '../../sandbox/src/sandbox.ts';
import * as documents from '../src/documents.gen.ts';
import { createClient, hashOf, possibleTypes } from '../src/index.ts';

/** Files of the manifests of modules. */
const OF_MODULES = readdirSync('schema/module-documents').toSorted();

const MANIFESTS: Record<string, string>[] = [
  manifest,
  ...OF_MODULES.map((file) => JSON.parse(readFileSync(`schema/module-documents/${file}`, 'utf8'))),
];

const all: Record<string, string> = Object.assign({}, ...MANIFESTS);

const authorization = `ApiKey ${SANDBOX_KEYS.development}`;
const headers = { authorization };

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

type Fetch = typeof globalThis.fetch;
type Send = (document: AnyDocument, variables: Record<string, unknown>) => Promise<unknown>;

type Start = (url: string, fetch: Fetch) => Send;

const startNotigraph =
  (send: 'text' | 'id'): Start =>
  (url, fetch) => {
    const notigraph = createClient({ url, authorization, fetch, send });
    return async ({ __meta__ }, variables) => {
      const { data, errors } = await notigraph.request({ __meta__ }, variables);
      expect(errors).toBeUndefined();
      return data;
    };
  };

const startUrql =
  (...more: Exchange[]): Start =>
  (url, fetch) => {
    const exchanges = [cacheExchange, ...more, fetchExchange];
    const urql = new Client({ url, fetch, exchanges, preferGetMethod: false, fetchOptions: { headers } });
    return async (document, variables) => {
      const { data, error } = await urql[isMutation(document) ? 'mutation' : 'query'](document, variables);
      expect(error).toBeUndefined();
      return data;
    };
  };

const startApollo =
  (...first: ApolloLink[]): Start =>
  (uri, fetch) => {
    const apollo = new ApolloClient({
      cache: new InMemoryCache({ possibleTypes }),
      link: ApolloLink.from([...first, new HttpLink({ uri, fetch, headers })]),
    });
    return async (document, variables) =>
      isMutation(document)
        ? (await apollo.mutate({ mutation: document, variables })).data
        : (await apollo.query({ query: document, variables, fetchPolicy: 'network-only' })).data; // Others can have it.
  };

/** Functions that create each client as an app would, with its cache if any. */
const CLIENTS: Record<string, Start> = {
  'notigraph/client': startNotigraph('text'),
  urql: startUrql(),
  'Apollo Client': startApollo(),
  'graphql-request': (url, fetch) => {
    const client = new GraphQLClient(url, { fetch, headers });
    return (document, variables) => client.request(document, variables);
  },
};

describe.each(Object.entries(CLIENTS))('with %s', (_, start) => {
  it('every shipped operation gets its data with the text of a trusted document', async () => {
    await using gateway = await startGateway({ service: 'sandbox', modules: shippedModules });
    await using reference = await startGateway({ service: 'sandbox', modules: shippedModules });
    const sent: { query: string }[] = [];
    const send = start(gateway.url, (input, init) => {
      sent.push(JSON.parse(String(init?.body)));
      return fetch(input, init);
    });

    for (const { name, query, variables = '{}' } of shippedOperations) {
      const document = documentOf(name);
      const data = JSON.stringify(await send(document, JSON.parse(variables)));
      expect(data).toContain('"__typename"');
      expect(data).not.toContain('"message"'); // No member of a result union that reports a failure.
      expect(JSON.stringify(await reference.data(query, JSON.parse(variables)))).not.toContain('"message"');
      expect(sha256(sent.at(-1)?.query ?? '')).toBe(document.__meta__.hash);
      expect(all).toHaveProperty(document.__meta__.hash, document.__meta__.text);
    }

    expect(sent).toHaveLength(shippedOperations.length);
    const calls = (of: typeof gateway) => of.upstream().map(({ method, path }) => `${method} ${path}`);
    expect(calls(gateway).toSorted()).toEqual(calls(reference).toSorted());
  });

  it('the failure of a mutation arrives with all of its fields', async () => {
    await using gateway = await startGateway({ service: 'sandbox' });
    const send = start(gateway.url, fetch);

    const data = await send(documentOf('DeleteNotificationGroup'), { input: { id: '0123456789abcdef01234567' } });

    expect(data).toEqual({
      deleteNotificationGroup: { __typename: 'NotFoundError', code: 'NOT_FOUND', message: expect.stringMatching(/./) },
    });
    expect(gateway.upstream().map(({ method, path }) => `${method} ${path}`)).toEqual([
      'DELETE /v1/notification-groups/0123456789abcdef01234567',
    ]);
  });
});

/** Functions that create each client so that it sends only ids. */
const CLIENTS_BY_ID: Record<string, Start> = {
  'notigraph/client': startNotigraph('id'),
  urql: startUrql(
    persistedExchange({
      generateHash: async (_text, document) => hashOf(document),
      enforcePersistedQueries: true,
      enableForMutation: true,
      preferGetForPersistedQueries: false,
    }),
  ),
  'Apollo Client': startApollo(new PersistedQueryLink({ generateHash: hashOf })),
};

/** Starts a gateway that serves only the shipped documents. */
const startEnforcingGateway = () =>
  startGateway({
    service: 'sandbox',
    modules: shippedModules,
    trustedDocuments: { manifests: MANIFESTS },
    clients: { server: { trustedDocuments: 'enforce' } },
  });

describe('a gateway that serves only trusted documents', () => {
  it.each(Object.entries(CLIENTS_BY_ID))('accepts the ids that %s sends', async (_, start) => {
    await using gateway = await startEnforcingGateway();
    const sent: string[] = [];
    const send = start(gateway.url, (input, init) => {
      sent.push(String(init?.body));
      return fetch(input, init);
    });

    for (const { name, variables = '{}' } of shippedOperations) {
      const document = documentOf(name);
      const data = JSON.stringify(await send(document, JSON.parse(variables)));
      expect(data).toContain('"__typename"');
      expect(data).not.toContain('"message"'); // No member of a result union that reports a failure.
      expect(sent.at(-1)).toContain(document.__meta__.hash);
      expect(sent.at(-1)).not.toContain(document.__meta__.text.slice(0, 12));
    }

    expect(sent).toHaveLength(shippedOperations.length);
    expect(gateway.upstream('PUT').map(({ path }) => path)).toEqual([
      '/v1/workflows/9e1e02437234c8472228388e/status',
      '/v1/subscribers/customer-1001',
    ]);
  });

  it('rejects all other documents', async () => {
    await using gateway = await startEnforcingGateway();
    const { url } = gateway;
    const byText = await createClient({ url, authorization }).request('{ notificationGroups { name } }');
    const byId = await createClient({ url, authorization, send: 'id' }).request({ __meta__: { hash: 'a'.repeat(64) } });
    const answers = [byText, byId].map(({ status, errors }) => `${status} ${errors?.[0]?.extensions.code}`);
    expect(answers).toEqual(['400 DOCUMENT_NOT_TRUSTED', '400 PERSISTED_QUERY_NOT_FOUND']);
    expect(gateway.upstream()).toEqual([]);
  });
});

it('the unprocessed texts of the operation files are trusted too, because GraphiQL’s tabs and curl send them', () => {
  for (const { query } of shippedOperations) {
    expect(all).toHaveProperty(sha256(query), query);
  }
  // As in the file, in the tab, and as printed by graphql-js. Others are those of earlier versions.
  const added = Object.keys(all).filter((hash) => !(hash in released));
  expect(added.length).toBeLessThanOrEqual(3 * shippedOperations.length);
});

it('the documents of earlier versions stay trusted, and are valid', () => {
  const schema = createSchema(undefined, shippedModules);
  for (const [hash, text] of Object.entries<string>(released)) {
    expect([all[hash], validate(schema, parse(text))]).toEqual([text, []]);
  }
});

it('each manifest has only documents of the schema that it is for', () => {
  const valid = (schema: GraphQLSchema) => (text: string) => validate(schema, parse(text)).length === 0;
  expect(Object.values(manifest).filter(valid(createSchema()))).toHaveLength(Object.keys(manifest).length);
  expect(OF_MODULES).toEqual(SHIPPED_MODULES.map((name) => `${name.split('/').at(-1)}.json`));
  for (const [i, file] of OF_MODULES.entries()) {
    const texts = Object.values(MANIFESTS[i + 1] ?? {});
    const schema = createSchema(undefined, shippedModules.slice(i, i + 1));
    expect([file, texts.length > 0, texts.filter((text) => !valid(schema)(text))]).toEqual([file, true, []]);
    expect(texts.filter(valid(createSchema()))).toEqual([]);
  }
});

it('every typed document equals its parsed text', () => {
  const names = shippedOperations.map(({ name }) => `${name}Document`);
  expect(Object.keys(documents)).toEqual(names.toSorted());
  for (const document of Object.values<AnyDocument>(documents)) {
    // Without the empty lists that only the parser adds.
    const text = JSON.stringify(parse(document.__meta__.text, { noLocation: true }), (key, value) =>
      ['arguments', 'directives', 'variableDefinitions'].includes(key) && value.length === 0 ? undefined : value,
    );
    const { kind, definitions } = document;
    expect({ kind, definitions }).toEqual(JSON.parse(text));
  }
});
