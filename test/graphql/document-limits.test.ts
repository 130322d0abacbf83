import { readdir, readFile } from 'node:fs/promises';
import { InMemoryCache } from '@apollo/client';
import { formatDocument } from '@urql/core';
import { getOperationAST, parse, print } from 'graphql';
import { describe, expect, it } from 'vitest';
import { createMeasure, MAX_CHARACTERS, MAX_TOKENS } from '../../src/documents/operations/limits.ts';
import { startGateway } from '../support/gateway.ts';
import { ofFile } from '../support/lifetime.ts';
import { shippedModules, shippedOperations } from '../support/shipped-documents.ts';

const DASHBOARD = 'examples/dashboard/documents/';

/** A page of components with a fragment each, and conditional parts, as apps with Apollo Client compose it. */
const APOLLO = `
  query OverviewPage(
    $days: Int!, $first: ID!, $second: ID!, $third: ID!, $withStats: Boolean!, $withGroups: Boolean!, $withList: Boolean!
    $withText: Boolean!, $withSteps: Boolean!, $isCompact: Boolean = false
  ) {
    notificationStats(days: $days, fillGaps: true) @include(if: $withStats) { ...DayBar }
    notificationGroups @include(if: $withGroups) { ...GroupChip }
    workflowPage(limit: 10) @include(if: $withList) { totalCount workflows { id: workflowId name active tags @include(if: $withText) } }
    first: workflow(idOrIdentifier: $first) { ...WorkflowCard }
    second: workflow(idOrIdentifier: $second) @skip(if: $isCompact) { ...WorkflowCard }
    third: workflow(idOrIdentifier: $third) @skip(if: $isCompact) { ...WorkflowCard }
  }
  fragment WorkflowCard on Workflow {
    id name active critical
    description @include(if: $withText)
    tags @include(if: $withText)
    notificationGroup @skip(if: $isCompact) { ...GroupChip }
    preferenceSettings @skip(if: $isCompact) { email sms inApp chat push }
    steps @include(if: $withSteps) { ...StepRow }
  }
  fragment StepRow on WorkflowStep { id name active template { type subject variables { name type required } } metadata { amount unit } }
  fragment GroupChip on NotificationGroup { id name }
  fragment DayBar on StatsEntry { date count channels workflows(first: 5) { id name } }`;

/** Lists with their pages in one operation, as apps with urql write it. */
const URQL = `
  query Directory($page: Int!, $search: String, $topic: String) {
    subscribers(page: $page, limit: 20) { page hasMore subscribers { ...Person } }
    topics(page: $page, pageSize: 10, key: $topic) { totalCount topics { key name subscriberIds } }
    workflowPage(page: $page, limit: 20, query: $search) {
      totalCount
      workflows { ...Row notificationGroup { id name } steps { stepId name active type metadata { amount unit } } }
    }
  }
  fragment Person on Subscriber { id subscriberId firstName lastName email phone locale avatar data }
  fragment Row on WorkflowSummary { workflowId identifier name description active critical tags }`;

/** An operation that Relay's compiler has made: without fragments, and with the ids and types that its store needs. */
const RELAY = `
  query DetailRouteQuery($id: ID!, $days: Int!, $subscriberId: ID!) {
    workflow(idOrIdentifier: $id) {
      __typename id identifier name description active critical tags
      notificationGroup { __typename id name }
      steps {
        id name active
        template { type subject content contentBlocks variables { id name type required } }
        filters { id type value isNegated children { on field operator value } }
        metadata { amount unit }
      }
    }
    notificationStats(days: $days) { key date count channels workflows(first: 3) { __typename id name } }
    subscriber(subscriberId: $subscriberId) { __typename id subscriberId firstName lastName email locale }
    notificationGroups { __typename id name }
  }`;

/** The documents as the clients send them, with variables. */
const IN_THE_STYLE_OF: Record<string, [document: string, variables: Record<string, unknown>]> = {
  'Apollo Client': [
    print(new InMemoryCache().transformDocument(parse(APOLLO))),
    {
      ...{ days: 2, first: 'payment-failed', second: 'order-shipped', third: 'weekly-digest' },
      ...{ withStats: true, withGroups: true, withList: true, withText: true, withSteps: true },
    },
  ],
  urql: [print(JSON.parse(JSON.stringify(formatDocument(parse(URQL))))), { page: 0, search: 'e' }],
  Relay: [print(parse(RELAY)), { id: 'payment-failed', days: 2, subscriberId: 'customer-1001' }],
};

const of = (maxRootFields: number, maxFields: number, maxDepth: number) =>
  startGateway({ service: 'sandbox', modules: shippedModules, maxRootFields, maxFields, maxDepth });

/** Half of the limits, except of the depth, which decides about the cost of a document least. Aliases follow from the root fields. */
const half = ofFile(await of(10, 250, 7));
const usual = ofFile(await of(20, 500, 10));

/** Checks the limits of which no setting is half. */
function checkConstants(text: string): void {
  expect(text.length).toBeLessThanOrEqual(MAX_CHARACTERS / 2);
  const document = parse(text, { maxTokens: MAX_TOKENS / 2 });
  const operation = getOperationAST(document);
  expect(operation && createMeasure(document)(operation).directives).toBeLessThanOrEqual(25);
}

describe('half of every limit is enough', () => {
  it.each(Object.entries(IN_THE_STYLE_OF))('for a page in the style of %s', async (_, [document, variables]) => {
    checkConstants(document);
    const data = await half.data(document, variables);
    expect(Object.values(data)).not.toContain(null);
  });

  it('for the operations of the package and of the dashboard', async () => {
    const files = await readdir(DASHBOARD);
    const ofDashboard = await Promise.all(files.map((file) => readFile(DASHBOARD + file, 'utf8')));
    const documents = [...shippedOperations.map(({ query }) => query), ...ofDashboard];
    expect(documents.length).toBeGreaterThan(40);
    for (const document of documents) {
      checkConstants(document);
      const { codes } = await half.send(document, {});
      expect([document, codes.filter((code) => code !== 'BAD_USER_INPUT')]).toEqual([document, []]); // Variables are missing.
    }
  });
});

it.each([
  ['eleven conditional fields', 11],
  ['as many conditional fields as there can be', 50],
])('a page with %s is served', async (_, count) => {
  const names = Array.from({ length: count }, (_, i) => `on${i}`);
  const fields = names.map((name) => `name @include(if: $${name})`);
  const document = `query Page(${names.map((name) => `$${name}: Boolean!`).join(' ')}) { workflow(idOrIdentifier: "payment-failed") { id ${fields.join(' ')} } }`;
  const variables = Object.fromEntries(names.map((name, i) => [name, i === count - 1]));
  expect(await usual.data(document, variables)).toMatchObject({ workflow: { name: expect.any(String) } });
});
