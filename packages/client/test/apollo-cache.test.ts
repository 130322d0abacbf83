import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { type DocumentNode, OperationTypeNode, parse, visit } from 'graphql';
import { expect, it } from 'vitest';
import { loadOperations } from '../../../src/documents/shipped-operations.ts';
import workflowPages from '../../../src/modules/shipped/workflows.ts';
import { startGateway } from '../../../test/support/gateway.ts';
import { group, workflow } from '../../../test/support/records.ts';
import { documentOf, isMutation } from '../../../test/support/shipped-documents.ts';
import { SANDBOX_KEYS } from '../../sandbox/src/sandbox.ts';
import {
  CreateNotificationGroupDocument,
  DeleteNotificationGroupDocument,
  NotificationGroupsDocument,
  possibleTypes,
  UpdateNotificationGroupDocument,
  WorkflowDocument,
  WorkflowPageDocument,
} from '../src/index.ts';

/** Starts an Apollo Client of a gateway. */
function createApollo(uri: string) {
  const cache = new InMemoryCache({ possibleTypes });
  const responses: unknown[] = [];
  const link = new HttpLink({
    uri,
    headers: { authorization: `ApiKey ${SANDBOX_KEYS.development}` },
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      responses.push((await response.clone().json()).data);
      return response;
    },
  });
  return { apollo: new ApolloClient({ cache, link }), cache, responses };
}

/** Operation that selects fewer fields of a workflow than another one, so that the cache merges them. */
const SAME_WORKFLOW = { name: 'Workflows', variables: '{ "idsOrIdentifiers": ["welcome-onboarding"] }' };

/** Returns a mutation as the query with which the cache reads its result. */
const asQuery = (mutation: DocumentNode): DocumentNode =>
  visit(mutation, { OperationDefinition: (node) => ({ ...node, operation: OperationTypeNode.QUERY }) });

it('one cache holds the responses of all shipped operations, and reads each of them back unchanged', async () => {
  await using gateway = await startGateway({ service: 'sandbox' });
  const { apollo, cache, responses } = createApollo(gateway.url);
  const queries: { query: DocumentNode; variables: Record<string, unknown> }[] = [];

  for (const { name, variables: example = '{}' } of [...loadOperations(), SAME_WORKFLOW]) {
    const document = documentOf(name);
    const variables = JSON.parse(example);
    if (isMutation(document)) {
      await apollo.mutate({ mutation: document, variables, keepRootFields: true });
      const query = asQuery(document);
      expect(cache.readQuery({ id: 'ROOT_MUTATION', query, variables })).toEqual(responses.at(-1));
    } else {
      await apollo.query({ query: document, variables });
      queries.push({ query: document, variables });
      expect(cache.readQuery({ query: document, variables })).toEqual(responses.at(-1));
    }
    expect(queries.filter((earlier) => cache.readQuery(earlier) === null)).toEqual([]); // null: a field is missing.
  }

  expect(responses).toHaveLength(loadOperations().length + 1);
  expect(queries.length).toBeGreaterThanOrEqual(5);
});

it('mutations update the cached record, and a deletion leaves it to the app', async () => {
  await using gateway = await startGateway({ service: 'sandbox' });
  const { apollo, cache } = createApollo(gateway.url);
  const namesOf = () =>
    cache.readQuery({ query: NotificationGroupsDocument })?.notificationGroups?.map((group) => group?.name);
  const { data } = await apollo.query({ query: NotificationGroupsDocument });
  const [first, ...others] = data?.notificationGroups ?? [];
  const id = String(first?.id);
  const key = String(cache.identify({ __typename: 'NotificationGroup', id }));
  const names = others.map((group) => group?.name);

  await apollo.mutate({ mutation: UpdateNotificationGroupDocument, variables: { input: { id, name: 'Renamed' } } });
  expect(namesOf()).toEqual(['Renamed', ...names]);

  const record = Object(cache.extract())[key];
  const deletion = { mutation: DeleteNotificationGroupDocument, variables: { input: { id } } };
  const { data: deleted } = await apollo.mutate(deletion);
  const { data: missing } = await apollo.mutate(deletion);
  expect(deleted?.deleteNotificationGroup).toMatchObject({ deletedId: id });
  expect(missing?.deleteNotificationGroup).toMatchObject({ __typename: 'NotFoundError' });
  expect(Object(cache.extract())[key]).toEqual(record);

  cache.evict({ id: key });
  expect(namesOf()).toEqual(names);

  const { data: created } = await apollo.mutate({
    mutation: CreateNotificationGroupDocument,
    variables: { input: { name: 'New' } },
  });
  expect(created?.createNotificationGroup).toMatchObject({ notificationGroup: { name: 'New' } });
  expect(namesOf()).toEqual(names); // An app adds new records to its lists.
});

/** Everything that the list has of a workflow, under names that both types have if there are any. */
const LIST = parse(`{
  workflowPage {
    workflows {
      id: workflowId
      name
      active
      notificationGroup { id name }
      steps { id: stepId name active type filters { id } }
    }
  }
}`);

it('a list of workflows changes nothing of the workflow on the screen, whose content the list does not have', async () => {
  const step = { _id: 's1', name: 'Email', active: true, filters: [{ _id: 'f1', type: 'BOOLEAN' }] };
  const complete = { ...step, template: { _id: 's1', type: 'email', subject: 'Hi', content: 'Hello {{name}}' } };
  await using gateway = await startGateway({
    service: ({ path }) => ({
      body: path.startsWith('/v1/workflows?')
        ? {
            page: 0,
            totalCount: 1,
            data: [
              workflow({
                name: 'Newer',
                notificationGroup: group(),
                steps: [{ ...step, template: { type: 'email' } }],
              }),
            ],
          }
        : { data: path.includes('/notification-groups') ? group() : workflow({ steps: [complete] }) },
    }),
    modules: [workflowPages],
  });
  const { apollo, cache, responses } = createApollo(gateway.url);
  const screen = { query: WorkflowDocument, variables: { idOrIdentifier: 'w1' } };
  const shown: unknown[] = [];
  const subscription = apollo.watchQuery(screen).subscribe(({ data }) => void shown.push(data));
  await apollo.query(screen);
  const { length } = gateway.service.calls();

  for (const list of [{ query: LIST }, { query: WorkflowPageDocument, variables: {} }]) {
    await apollo.query(list);
    expect(cache.readQuery(list)).toEqual(responses.at(-1));
    expect(cache.readQuery(screen)).toEqual(responses[0]);
  }

  subscription.unsubscribe();
  expect(shown.at(-1)).toMatchObject({ workflow: { steps: [{ template: { content: 'Hello {{name}}' } }] } });
  const calls = gateway.service.calls().slice(length);
  expect(calls.map((call) => call.split('?')[0])).toEqual(['GET /v1/workflows', 'GET /v1/workflows']); // Nothing was loaded again.
});
