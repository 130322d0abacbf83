// Type tests for the documents of `notigraph/client` in each supported client. `npm run check:types` fails if a line below `@ts-expect-error`
// compiles. This file is never run.

import { ApolloClient, gql, HttpLink, InMemoryCache, type TypedDocumentNode } from '@apollo/client';
import { Client, type DocumentInput, fetchExchange } from '@urql/core';
import { GraphQLClient, request } from 'graphql-request';
import type { Explanation as GatewayExplanation } from '../../../src/graphql/declared-calls.ts';
import type { UpstreamReport as GatewayReport } from '../../../src/http/message.ts';
import {
  type Channel,
  createClient,
  type ErrorCode,
  type ExplainedCall,
  type Explanation,
  type GatewayError,
  NotificationGroupsDocument as NotificationGroups,
  type NotificationGroupsResult,
  NotificationStatsDocument as NotificationStats,
  type OperationResult,
  UpdateWorkflowStatusDocument as UpdateWorkflowStatus,
  type UpdateWorkflowStatusResult,
  type UpdateWorkflowStatusVariables,
  type UpstreamReport,
  WorkflowDocument as Workflow,
  type WorkflowResult,
} from '../src/index.ts';

type Equals<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only if the type of the value is exactly the expected one, and neither `any` nor a wider type. */
function expectType<Expected>() {
  return <Value>(_value: Value, ..._proof: Equals<Value, Expected> extends true ? [] : [never]): void => {};
}

export async function withNotigraphClient(): Promise<void> {
  const notigraph = createClient({ url: 'https://example.com/graphql', authorization: async () => 'Bearer token' });
  const answer = await notigraph.request(Workflow, { idOrIdentifier: 'welcome' }, { signal: AbortSignal.timeout(1) });
  expectType<OperationResult<WorkflowResult>>()(answer);
  expectType<WorkflowResult | null>()(answer.data);
  if (answer.errors === undefined) {
    expectType<WorkflowResult>()(answer.data);
    expectType<string | undefined>()(answer.data.workflow?.name);
    // @ts-expect-error The operation does not select the field.
    answer.data.workflow?.payloadSchema;
  } else {
    expectType<boolean | undefined>()(answer.errors[0]?.extensions.retryable);
    expectType<'NOT_APPLIED' | 'UNKNOWN' | undefined>()(answer.errors[0]?.extensions.outcome);
    // @ts-expect-error Extensions have no other properties.
    answer.errors[0]?.extensions.stack;
  }
  // @ts-expect-error The data can be null if there are errors.
  answer.data.workflow;

  await notigraph.request(NotificationGroups);
  await notigraph.request(NotificationGroups, {}, { headers: { 'x-request-id': 'a' } });
  await notigraph.request(NotificationStats);
  await notigraph.request(NotificationStats, { days: 7, workflowsPerDay: 3 });
  const { data } = await notigraph.request(UpdateWorkflowStatus, { input: { workflowId: 'a', active: true } });
  const result = data?.updateWorkflowStatus;
  if (result?.__typename === 'UpdateWorkflowStatusSuccess') {
    expectType<boolean>()(result.changed);
    // @ts-expect-error Only failures have a code.
    result.code;
  }

  // @ts-expect-error A required variable is missing.
  await notigraph.request(Workflow, {});
  // @ts-expect-error The variable is misspelled.
  await notigraph.request(Workflow, { id: 'welcome' });
  // @ts-expect-error The variable has the wrong type.
  await notigraph.request(Workflow, { idOrIdentifier: true });
  // @ts-expect-error The variable is unknown.
  await notigraph.request(Workflow, { idOrIdentifier: 'welcome', days: 7 });
  // @ts-expect-error The operation has no variables.
  await notigraph.request(NotificationGroups, { first: 3 });
  // @ts-expect-error A required input field is missing.
  await notigraph.request(UpdateWorkflowStatus, { input: { workflowId: 'a' } });
  // @ts-expect-error An input field is unknown.
  await notigraph.request(UpdateWorkflowStatus, { input: { workflowId: 'a', active: true, enabled: true } });
  await notigraph.request(NotificationStats, { fillGaps: null });
  // @ts-expect-error A number is not a document.
  await notigraph.request(1);
  // @ts-expect-error The value of `send` is unknown.
  createClient({ url: '/graphql', send: 'hash' });

  const own = await notigraph.request<{ ok: boolean }, { id: string }>('query ($id: ID!) { ok(id: $id) }', { id: 'a' });
  expectType<{ ok: boolean } | null>()(own.data);
  const untyped = await notigraph.request('{ notificationGroups { name } }');
  expectType<Record<string, unknown> | null>()(untyped.data);
  const generated: TypedDocumentNode<{ ok: boolean }, { id: string }> = gql('query Ok($id: ID!) { ok(id: $id) }');
  expectType<{ ok: boolean } | null>()((await notigraph.request(generated, { id: 'a' })).data);
}

/** The client's own copy of the gateway's type, and the reverse. */
export const explanations = [
  (explanation: GatewayExplanation): Explanation => explanation,
  (explanation: Explanation): GatewayExplanation => explanation,
];

export async function withOptions(report: GatewayReport): Promise<void> {
  expectType<UpstreamReport>()(report); // The client's own copy of the gateway's type.
  const retries = { maxAttempts: 5 };
  const notigraph = createClient({
    url: '/graphql',
    retries,
    onRetry: ({ errors, waitMs }) => {
      expectType<readonly GatewayError[] | undefined>()(errors);
      expectType<number>()(waitMs);
    },
  });
  const variables = { idOrIdentifier: 'welcome' };
  const { extensions, attempts } = await notigraph.request(Workflow, variables, {
    cost: true,
    cache: 'no-cache',
    retries,
  });
  expectType<UpstreamReport | undefined>()(extensions?.upstream);
  expectType<number>()(attempts);
  const explained = await notigraph.explain(Workflow, variables);
  if (explained.explanation === undefined) {
    expectType<ErrorCode | undefined>()(explained.errors[0]?.extensions.code);
  } else {
    expectType<ExplainedCall[]>()(explained.explanation.calls);
  }
  // @ts-expect-error A required variable is missing.
  await notigraph.explain(Workflow);
  // @ts-expect-error Only `no-cache` is supported.
  await notigraph.request(NotificationGroups, {}, { cache: 'no-store' });
  // @ts-expect-error Retries have limits, or are off.
  createClient({ url: '/graphql', retries: 3 });
}

export async function withUrql(): Promise<void> {
  const urql = new Client({ url: 'https://example.com/graphql', exchanges: [fetchExchange], preferGetMethod: false });
  const input: DocumentInput<UpdateWorkflowStatusResult, UpdateWorkflowStatusVariables> = UpdateWorkflowStatus;
  const { data } = await urql.query(Workflow, { idOrIdentifier: 'welcome' });
  expectType<WorkflowResult | undefined>()(data);
  expectType<NotificationGroupsResult | undefined>()((await urql.query(NotificationGroups, {})).data);
  expectType<UpdateWorkflowStatusResult | undefined>()(
    (await urql.mutation(input, { input: { workflowId: 'a', active: true } })).data,
  );
  expectType<Channel[] | undefined>()(
    (await urql.query(NotificationStats, { days: 7 })).data?.notificationStats?.[0]?.channels,
  );

  // @ts-expect-error A required variable is missing.
  await urql.query(Workflow, {});
  // @ts-expect-error The variable has the wrong type.
  await urql.query(Workflow, { idOrIdentifier: true });
  // @ts-expect-error A required input field is missing.
  await urql.mutation(UpdateWorkflowStatus, { input: { workflowId: 'a' } });
  // @ts-expect-error The operation does not select the field.
  data?.workflow?.payloadSchema;
}

export async function withApolloClient(): Promise<void> {
  const apollo = new ApolloClient({
    cache: new InMemoryCache(),
    link: new HttpLink({ uri: 'https://example.com/graphql' }),
  });
  const node: TypedDocumentNode<UpdateWorkflowStatusResult, UpdateWorkflowStatusVariables> = UpdateWorkflowStatus;
  const { data } = await apollo.query({ query: Workflow, variables: { idOrIdentifier: 'welcome' } });
  expectType<WorkflowResult | undefined>()(data);
  expectType<NotificationGroupsResult | undefined>()((await apollo.query({ query: NotificationGroups })).data);
  expectType<UpdateWorkflowStatusResult | undefined>()(
    (await apollo.mutate({ mutation: node, variables: { input: { workflowId: 'a', active: true } } })).data,
  );

  // @ts-expect-error A required variable is missing.
  await apollo.query({ query: Workflow });
  // @ts-expect-error The variable has the wrong type.
  await apollo.query({ query: Workflow, variables: { idOrIdentifier: true } });
  // @ts-expect-error A required input field is missing.
  await apollo.mutate({ mutation: UpdateWorkflowStatus, variables: { input: { workflowId: 'a' } } });
  // @ts-expect-error The operation does not select the field.
  data?.workflow?.payloadSchema;
}

export async function withGraphqlRequest(): Promise<void> {
  const client = new GraphQLClient('https://example.com/graphql');
  const data = await client.request(Workflow, { idOrIdentifier: 'welcome' });
  expectType<WorkflowResult>()(data);
  expectType<NotificationGroupsResult>()(await client.request(NotificationGroups));
  expectType<UpdateWorkflowStatusResult>()(
    await request('https://example.com/graphql', UpdateWorkflowStatus, { input: { workflowId: 'a', active: true } }),
  );

  // @ts-expect-error A required variable is missing.
  await client.request(Workflow);
  // @ts-expect-error The variable has the wrong type.
  await client.request(Workflow, { idOrIdentifier: true });
  // @ts-expect-error A required input field is missing.
  await client.request(UpdateWorkflowStatus, { input: { workflowId: 'a' } });
  // @ts-expect-error The operation does not select the field.
  data.workflow?.payloadSchema;
}
