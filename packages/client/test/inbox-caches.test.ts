import * as apollo4 from '@apollo/client';
import { Client, fetchExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import * as apollo3 from 'apollo-client-3/core/index.js';
import { type DocumentNode, parse } from 'graphql';
import { expect, it } from 'vitest';
import { startGateway } from '../../../test/support/gateway.ts';
import { documentOf, isMutation, shippedModules, shippedOperations } from '../../../test/support/shipped-documents.ts';
import { SANDBOX_KEYS } from '../../sandbox/src/sandbox.ts';
import { keys, possibleTypes, typePolicies } from '../src/index.ts';
import { type CachedApp, collectWarnings, useInbox } from './inbox-scenario.ts';

const headers = { authorization: `ApiKey ${SANDBOX_KEYS.development}` };

/** Query of an app, with fewer fields of each part of the inbox. */
const SMALLER = parse(`query Smaller($subscriberId: ID) {
  inbox(subscriberId: $subscriberId) {
    id
    unseen { count }
    messages(page: 0, limit: 10) { hasMore messages { id cta { status } } }
    preferences { id channels { push } }
    globalPreferences { id channels { email } }
  }
}`);

const find = (name: string): DocumentNode => (name === 'Smaller' ? SMALLER : documentOf(name));

/** `fetch` that notes the names of the operations. */
const recordTo =
  (sent: string[]): Fetch =>
  (url, init) => {
    sent.push(JSON.parse(String(init?.body)).operationName);
    return fetch(url, init);
  };

/** Members that Apollo Client 3 and 4 have in common. */
interface Apollo {
  watchQuery(options: { query: DocumentNode; variables: Variables }): {
    subscribe(next: (result: { data?: unknown }) => void): unknown;
  };
  query(options: { query: DocumentNode; variables: Variables; fetchPolicy: 'network-only' }): Promise<unknown>;
  mutate(options: { mutation: DocumentNode; variables: Variables }): Promise<unknown>;
}

type Variables = Record<string, unknown>;
type Fetch = typeof globalThis.fetch;

const createApollo3 = (uri: string, fetch: Fetch): Apollo =>
  new apollo3.ApolloClient({
    cache: new apollo3.InMemoryCache({ possibleTypes, typePolicies }),
    link: new apollo3.HttpLink({ uri, headers, fetch }),
  });

const createApollo4 = (uri: string, fetch: Fetch): Apollo =>
  new apollo4.ApolloClient({
    cache: new apollo4.InMemoryCache({ possibleTypes, typePolicies }),
    link: new apollo4.HttpLink({ uri, headers, fetch }),
  });

const startApollo =
  (create: (uri: string, fetch: Fetch) => Apollo) =>
  (uri: string): CachedApp => {
    const sent: string[] = [];
    const client = create(uri, recordTo(sent));
    return {
      sent,
      async show(name, variables) {
        const query = client.watchQuery({ query: find(name), variables });
        let shown: unknown;
        await new Promise<void>((resolve) => {
          query.subscribe(({ data }) => {
            shown = data;
            if (data !== undefined) {
              resolve();
            }
          });
        });
        return () => shown;
      },
      send: (name, variables) =>
        isMutation(find(name))
          ? client.mutate({ mutation: find(name), variables })
          : client.query({ query: find(name), variables, fetchPolicy: 'network-only' }),
    };
  };

function startGraphcache(url: string): CachedApp {
  const sent: string[] = [];
  const exchanges = [cacheExchange({ keys, possibleTypes }), fetchExchange];
  const client = new Client({
    url,
    exchanges,
    preferGetMethod: false,
    fetchOptions: { headers },
    fetch: recordTo(sent),
  });
  return {
    sent,
    async show(name, variables) {
      let shown: unknown;
      await new Promise<void>((resolve) => {
        client.query(find(name), variables).subscribe(({ data }) => {
          shown = data;
          resolve();
        });
      });
      return () => shown;
    },
    send: (name, variables) =>
      isMutation(find(name))
        ? client.mutation(find(name), variables).toPromise()
        : client.query(find(name), variables, { requestPolicy: 'network-only' }).toPromise(),
  };
}

const CLIENTS: [string, (url: string) => CachedApp][] = [
  ['Apollo Client 3', startApollo(createApollo3)],
  ['Apollo Client 4', startApollo(createApollo4)],
  ['Graphcache', startGraphcache],
];

/** Without a whole schema, Graphcache looks for the fields of all members of a union in development. */
const OF_OTHER_MEMBERS = /^Invalid undefined: The field at `\w+` .*\n\(Caused At: Inline Fragment on "\w+Success"\)/;

const isUnexpected = (warning: string): boolean => !OF_OTHER_MEMBERS.test(warning);

it.each(CLIENTS)('%s shows the inbox as it is after each change, and loads the list once', async (_, start) => {
  await using gateway = await startGateway({ service: 'sandbox', modules: shippedModules });
  const warnings = await useInbox(gateway, start(gateway.url));
  expect(warnings.filter(isUnexpected)).toEqual([]);
});

it.each(CLIENTS)('%s keeps what a query with fewer fields lacks, and loads nothing again', async (_, start) => {
  const warnings = collectWarnings();
  await using gateway = await startGateway({ service: 'sandbox', modules: shippedModules });
  const app = start(gateway.url);
  const person = { subscriberId: 'customer-1001' };
  const screens = [await app.show('Inbox', person), await app.show('InboxPreferences', person)];
  const before = screens.map((read) => read());

  await app.send('Smaller', person);

  expect(screens.map((read) => read())).toEqual(before);
  expect(app.sent).toEqual(['Inbox', 'InboxPreferences', 'Smaller']);
  expect(warnings.filter(isUnexpected)).toEqual([]);
});

it.each(CLIENTS)('%s warns of no response of a shipped operation', async (_, start) => {
  const warnings = collectWarnings();
  await using gateway = await startGateway({ service: 'sandbox', modules: shippedModules });
  const app = start(gateway.url);

  for (const { name, variables = '{}' } of shippedOperations) {
    await app.send(name, JSON.parse(variables));
  }

  expect(app.sent).toEqual(shippedOperations.map(({ name }) => name));
  expect(warnings.filter(isUnexpected)).toEqual([]);
});
