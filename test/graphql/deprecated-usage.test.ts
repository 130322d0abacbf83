import { type GraphQLSchema, isEnumType, isInputObjectType, isObjectType, lexicographicSortSchema } from 'graphql';
import { beforeAll, expect, it } from 'vitest';
import { createSchema } from '../../src/modules/schema.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { metricValues } from '../support/metrics-text.ts';

/** Returns a copy of the gateway's schema with a deprecated element of each kind. */
function deprecateSome(): GraphQLSchema {
  const schema = lexicographicSortSchema(createSchema()); // A copy, because gateways share the original.
  const deprecated = { deprecationReason: 'Use something else.' };
  const workflow = schema.getType('Workflow');
  const input = schema.getType('CreateSubscriberInput');
  const channel = schema.getType('Channel');
  const days = schema
    .getQueryType()
    ?.getFields()
    .notificationStats?.args.find(({ name }) => name === 'days');
  Object.assign(isObjectType(workflow) ? (workflow.getFields().draft ?? {}) : {}, deprecated);
  Object.assign(isObjectType(workflow) ? (workflow.getFields().critical ?? {}) : {}, deprecated);
  Object.assign(isInputObjectType(input) ? (input.getFields().phone ?? {}) : {}, deprecated);
  Object.assign(isEnumType(channel) ? (channel.getValue('SMS') ?? {}) : {}, deprecated);
  Object.assign(days ?? {}, deprecated);
  return schema;
}

const WORKFLOW = `
  query Twice { a: workflow(idOrIdentifier: "x") { ...Parts } b: workflow(idOrIdentifier: "y") { ...Parts draft } }
  query Once { workflow(idOrIdentifier: "x") { name } }
  fragment Parts on Workflow { draft }
`;
const STATS = 'query ($days: Int) { notificationStats(days: $days) { count } }';
const DELETE =
  'mutation ($input: DeleteMessagesByTransactionInput!) { deleteMessagesByTransaction(input: $input) { __typename } }';
const CREATE = 'mutation ($input: CreateSubscribersInput!) { createSubscribers(input: $input) { succeeded } }';

let gateway: GatewayWithService;

beforeAll(async () => {
  const schema = deprecateSome();
  gateway = await startGateway({
    service: 'sandbox',
    plugins: [{ onPluginInit: ({ setSchema }) => setSchema(schema) }],
  });
  return () => gateway[Symbol.asyncDispose]();
});

/** Sends a document, with the name of an operation if it has several. */
async function send(query: string, variables: object = {}, operationName?: string): Promise<void> {
  const response = await fetch(gateway.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'ApiKey sandbox-development-key' },
    body: JSON.stringify({ query, variables, operationName }),
  });
  expect(await response.json()).not.toHaveProperty('errors');
}

it('deprecated elements are counted once per operation that uses them in its text', async () => {
  const counts = async () => metricValues(await gateway.metrics(), /^notigraph_deprecated_fields_total/);
  const expected = (values: Record<string, number>) =>
    Object.fromEntries(
      Object.entries(values).map(([field, count]) => [`notigraph_deprecated_fields_total{field="${field}"}`, count]),
    );
  const unused = {
    'Workflow.draft': 0,
    'Workflow.critical': 0,
    'CreateSubscriberInput.phone': 0,
    'Channel.SMS': 0,
    'Query.notificationStats(days:)': 0,
  };
  expect(await counts()).toEqual(expected(unused));

  await send(WORKFLOW, {}, 'Twice');
  await send(WORKFLOW, {}, 'Twice');
  await send(WORKFLOW, {}, 'Once');
  await send(STATS, { days: 3 });
  await send(DELETE, { input: { transactionId: 't', channel: 'SMS' } });
  await send(DELETE, { input: { transactionId: 't', channel: 'EMAIL' } });
  await send('mutation { deleteMessagesByTransaction(input: { transactionId: "t", channel: SMS }) { __typename } }');
  await send('mutation { createSubscribers(input: { subscribers: { subscriberId: "c", phone: "1" } }) { succeeded } }');
  await send(CREATE, { input: { subscribers: { subscriberId: 'c', phone: '1' } } }); // Not in the text.
  expect(await counts()).toEqual(
    expected({
      ...unused,
      'Workflow.draft': 2,
      'CreateSubscriberInput.phone': 1,
      'Channel.SMS': 1,
      'Query.notificationStats(days:)': 1,
    }),
  );
});

it('deprecated elements are in the log line of the operation', async () => {
  const lines = () => gateway.log.filter(({ msg }) => msg === 'operation');
  await send(WORKFLOW, {}, 'Twice');
  expect(lines().at(-1)?.deprecated).toEqual(['Workflow.draft']);
  await send(WORKFLOW, {}, 'Once');
  expect(lines().at(-1)).not.toHaveProperty('deprecated');
});

it('a schema without deprecated elements has no such metric', async () => {
  await using plain = await startGateway({ service: 'sandbox' });
  await plain.data('{ notificationGroups { id } }');
  expect(await plain.metrics()).not.toContain('deprecated');
});
