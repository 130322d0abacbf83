/**
 * What must compile, and what must not, with the documents of `notigraph/client` in each client. `npm run check:types` fails where a line
 * below `@ts-expect-error` compiles. Nothing here is run.
 */
import { ApolloClient, gql, HttpLink, InMemoryCache, type TypedDocumentNode } from '@apollo/client';
import { Client, type DocumentInput, fetchExchange } from '@urql/core';
import { GraphQLClient, request } from 'graphql-request';
import {
  type Channel,
  createClient,
  NotificationGroupsDocument as NotificationGroups,
  type NotificationGroupsResult,
  NotificationStatsDocument as NotificationStats,
  type OperationResult,
  UpdateWorkflowStatusDocument as UpdateWorkflowStatus,
  type UpdateWorkflowStatusResult,
  type UpdateWorkflowStatusVariables,
  WorkflowDocument as Workflow,
  type WorkflowResult,
} from '../../src/client/index.ts';

type Equals<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles where the value's type is exactly the one given: neither `any`, nor something wider. */
function is<Expected>() {
  return <Value>(_value: Value, ..._proof: Equals<Value, Expected> extends true ? [] : [never]): void => {};
}

export async function withTheClientOfItsOwn(): Promise<void> {
  const notigraph = createClient({ url: 'https://example.com/graphql', authorization: async () => 'Bearer token' });
  const answer = await notigraph.request(Workflow, { idOrIdentifier: 'welcome' }, { signal: AbortSignal.timeout(1) });
  is<OperationResult<WorkflowResult>>()(answer);
  is<WorkflowResult | null>()(answer.data);
  if (answer.errors === undefined) {
    is<WorkflowResult>()(answer.data);
    is<string | undefined>()(answer.data.workflow?.name);
    // @ts-expect-error The operation does not ask for it.
    answer.data.workflow?.payloadSchema;
  } else {
    is<boolean | undefined>()(answer.errors[0]?.extensions.retryable);
    is<'NOT_APPLIED' | 'UNKNOWN' | undefined>()(answer.errors[0]?.extensions.outcome);
    // @ts-expect-error Extensions are closed.
    answer.errors[0]?.extensions.stack;
  }
  // @ts-expect-error It may be null, when there are errors.
  answer.data.workflow;

  await notigraph.request(NotificationGroups);
  await notigraph.request(NotificationGroups, {}, { headers: { 'x-request-id': 'a' } });
  await notigraph.request(NotificationStats);
  await notigraph.request(NotificationStats, { days: 7, workflowsPerDay: 3 });
  const { data } = await notigraph.request(UpdateWorkflowStatus, { input: { workflowId: 'a', active: true } });
  const result = data?.updateWorkflowStatus;
  if (result?.__typename === 'UpdateWorkflowStatusSuccess') {
    is<boolean>()(result.changed);
    // @ts-expect-error Only failures have it.
    result.code;
  }

  // @ts-expect-error A required variable is missing.
  await notigraph.request(Workflow);
  // @ts-expect-error A required variable is missing.
  await notigraph.request(Workflow, {});
  // @ts-expect-error The variable has another name.
  await notigraph.request(Workflow, { id: 'welcome' });
  // @ts-expect-error The variable has another type.
  await notigraph.request(Workflow, { idOrIdentifier: true });
  // @ts-expect-error There is one too many.
  await notigraph.request(Workflow, { idOrIdentifier: 'welcome', days: 7 });
  // @ts-expect-error The operation has no variables.
  await notigraph.request(NotificationGroups, { first: 3 });
  // @ts-expect-error A required field of the input is missing.
  await notigraph.request(UpdateWorkflowStatus, { input: { workflowId: 'a' } });
  // @ts-expect-error A field of the input has another name.
  await notigraph.request(UpdateWorkflowStatus, { input: { workflowId: 'a', active: true, enabled: true } });
  // @ts-expect-error A variable with a default takes no null.
  await notigraph.request(NotificationStats, { fillGaps: null });
  // @ts-expect-error A number is no document.
  await notigraph.request(1);
  // @ts-expect-error There is no such way.
  createClient({ url: '/graphql', send: 'hash' });

  const own = await notigraph.request<{ ok: boolean }, { id: string }>('query ($id: ID!) { ok(id: $id) }', { id: 'a' });
  is<{ ok: boolean } | null>()(own.data);
  const untyped = await notigraph.request('{ notificationGroups { name } }');
  is<Record<string, unknown> | null>()(untyped.data);
  const generated: TypedDocumentNode<{ ok: boolean }, { id: string }> = gql('query Ok($id: ID!) { ok(id: $id) }');
  is<{ ok: boolean } | null>()((await notigraph.request(generated, { id: 'a' })).data);
}

export async function withUrql(): Promise<void> {
  const urql = new Client({ url: 'https://example.com/graphql', exchanges: [fetchExchange], preferGetMethod: false });
  const input: DocumentInput<UpdateWorkflowStatusResult, UpdateWorkflowStatusVariables> = UpdateWorkflowStatus;
  const { data } = await urql.query(Workflow, { idOrIdentifier: 'welcome' });
  is<WorkflowResult | undefined>()(data);
  is<NotificationGroupsResult | undefined>()((await urql.query(NotificationGroups, {})).data);
  is<UpdateWorkflowStatusResult | undefined>()(
    (await urql.mutation(input, { input: { workflowId: 'a', active: true } })).data,
  );
  is<Channel[] | undefined>()(
    (await urql.query(NotificationStats, { days: 7 })).data?.notificationStats?.[0]?.channels,
  );

  // @ts-expect-error A required variable is missing.
  await urql.query(Workflow, {});
  // @ts-expect-error The variable has another name.
  await urql.query(Workflow, { id: 'welcome' });
  // @ts-expect-error The variable has another type.
  await urql.query(Workflow, { idOrIdentifier: true });
  // @ts-expect-error A required field of the input is missing.
  await urql.mutation(UpdateWorkflowStatus, { input: { workflowId: 'a' } });
  // @ts-expect-error The operation does not ask for it.
  data?.workflow?.payloadSchema;
}

export async function withApolloClient(): Promise<void> {
  const apollo = new ApolloClient({
    cache: new InMemoryCache(),
    link: new HttpLink({ uri: 'https://example.com/graphql' }),
  });
  const node: TypedDocumentNode<UpdateWorkflowStatusResult, UpdateWorkflowStatusVariables> = UpdateWorkflowStatus;
  const { data } = await apollo.query({ query: Workflow, variables: { idOrIdentifier: 'welcome' } });
  is<WorkflowResult | undefined>()(data);
  is<NotificationGroupsResult | undefined>()((await apollo.query({ query: NotificationGroups })).data);
  is<UpdateWorkflowStatusResult | undefined>()(
    (await apollo.mutate({ mutation: node, variables: { input: { workflowId: 'a', active: true } } })).data,
  );

  // @ts-expect-error A required variable is missing.
  await apollo.query({ query: Workflow });
  // @ts-expect-error The variable has another name.
  await apollo.query({ query: Workflow, variables: { id: 'welcome' } });
  // @ts-expect-error The variable has another type.
  await apollo.query({ query: Workflow, variables: { idOrIdentifier: true } });
  // @ts-expect-error A required field of the input is missing.
  await apollo.mutate({ mutation: UpdateWorkflowStatus, variables: { input: { workflowId: 'a' } } });
  // @ts-expect-error The operation does not ask for it.
  data?.workflow?.payloadSchema;
}

export async function withGraphqlRequest(): Promise<void> {
  const client = new GraphQLClient('https://example.com/graphql');
  const data = await client.request(Workflow, { idOrIdentifier: 'welcome' });
  is<WorkflowResult>()(data);
  is<NotificationGroupsResult>()(await client.request(NotificationGroups));
  is<UpdateWorkflowStatusResult>()(
    await request('https://example.com/graphql', UpdateWorkflowStatus, { input: { workflowId: 'a', active: true } }),
  );

  // @ts-expect-error A required variable is missing.
  await client.request(Workflow);
  // @ts-expect-error The variable has another name.
  await client.request(Workflow, { id: 'welcome' });
  // @ts-expect-error The variable has another type.
  await client.request(Workflow, { idOrIdentifier: true });
  // @ts-expect-error A required field of the input is missing.
  await client.request(UpdateWorkflowStatus, { input: { workflowId: 'a' } });
  // @ts-expect-error The operation does not ask for it.
  data.workflow?.payloadSchema;
}
