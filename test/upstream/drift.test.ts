import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createCounts } from '../../src/telemetry/metrics/gateway-metrics.ts';
import { RESPONSES } from '../../src/upstream/contract/responses.gen.ts';
import { CONTRACT, createSubscribers } from '../../src/upstream/endpoints.ts';
import { deviationsIn, startGateway } from '../support/gateway.ts';
import { ofFile } from '../support/lifetime.ts';
import { metricValues } from '../support/metrics-text.ts';
import { feed, group, subscriber, workflow } from '../support/records.ts';
import { type ServiceResponse, startService } from '../support/service.ts';

/** Text in deviating values and in names of further fields. It must not appear in the log and the metrics. */
const CANARY = 'canary4711@example.com';

const entry = (fields: object = {}) => ({ _id: '2026-03-01', count: 1, templates: [], channels: ['email'], ...fields });

/** Returns a record without some of its fields. */
function without(record: object, ...names: string[]): object {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}

/** Successful operation, the response of the service, and its deviations from the contract. */
interface Seed {
  operation: string;
  response: ServiceResponse;
  deviations: readonly string[];
}

/** A seed for every endpoint with a response body. */
const SEEDS: Readonly<Record<string, Seed>> = {
  'GET /v1/workflows/{workflowIdOrIdentifier}': {
    operation: '{ workflow(idOrIdentifier: "w1") { name } }',
    response: {
      body: {
        data: {
          ...without(workflow(), 'draft'),
          critical: CANARY,
          triggers: null,
          createdAt: CANARY,
          origin: CANARY,
          tags: CANARY,
          preferenceSettings: { email: CANARY, fax: true },
          steps: [{ template: { type: 'email' } }, { template: { type: 7 }, metadata: { amount: CANARY } }],
          [CANARY]: true,
        },
      },
    },
    deviations: [
      'data.draft missing',
      'data.critical wrong_type',
      'data.triggers null',
      'data.tags wrong_type',
      'data.preferenceSettings.email wrong_type',
      'data.steps[].template.type wrong_type',
      'data.steps[].metadata.amount wrong_type',
    ],
  },
  'PUT /v1/workflows/{workflowId}/status': {
    operation:
      'mutation { updateWorkflowStatus(input: { workflowId: "w1", active: true }) { ... on UpdateWorkflowStatusSuccess { changed } } }',
    response: { body: { data: without(workflow(), '_creatorId') } },
    deviations: ['data._creatorId missing'],
  },
  'POST /v1/subscribers': {
    operation:
      'mutation { createSubscriber(input: { subscriberId: "u" }) { ... on CreateSubscriberSuccess { replayed } } }',
    response: {
      status: 201,
      body: { data: { ...subscriber(), isOnline: CANARY, lastOnlineAt: null, timezone: CANARY } },
    },
    deviations: ['data.isOnline wrong_type', 'data.lastOnlineAt null'],
  },
  'GET /v1/notification-groups': {
    operation: '{ notificationGroups { name } }',
    response: { body: { data: [group(), { ...without(group(), '_environmentId'), _parentId: 7 }], nextPage: CANARY } },
    deviations: ['data[]._environmentId missing', 'data[]._parentId wrong_type'],
  },
  'POST /v1/notification-groups': {
    operation:
      'mutation { createNotificationGroup(input: { name: "n" }) { ... on CreateNotificationGroupSuccess { replayed } } }',
    response: { status: 201, body: { data: { ...group(), _organizationId: null } } },
    deviations: ['data._organizationId null'],
  },
  'GET /v1/notification-groups/{id}': {
    operation: '{ notificationGroup(id: "g1") { name } }',
    response: { body: { ...group(), _parentId: [CANARY] } },
    deviations: ['_parentId wrong_type'],
  },
  'PATCH /v1/notification-groups/{id}': {
    operation:
      'mutation { updateNotificationGroup(input: { id: "g1", name: "n" }) { ... on UpdateNotificationGroupSuccess { replayed } } }',
    response: { body: { data: { ...group(), _environmentId: [CANARY], color: CANARY } } },
    deviations: ['data._environmentId wrong_type'],
  },
  'DELETE /v1/notification-groups/{id}': {
    operation:
      'mutation { deleteNotificationGroup(input: { id: "g1" }) { ... on DeleteNotificationGroupSuccess { deletedId } } }',
    response: { body: { data: { acknowledged: true, status: CANARY } } },
    deviations: ['data.status unknown_value'],
  },
  'POST /v1/feeds': {
    operation: 'mutation { createFeed(input: { name: "n" }) { ... on CreateFeedSuccess { replayed } } }',
    response: { status: 201, body: { data: without(feed(), 'identifier') } },
    deviations: ['data.identifier missing'],
  },
  'DELETE /v1/feeds/{feedId}': {
    operation: 'mutation { deleteFeed(input: { id: "f1" }) { ... on DeleteFeedSuccess { deletedId } } }',
    response: { body: { data: [feed(), { ...feed(), name: { en: CANARY } }] } },
    deviations: ['data[].name wrong_type'],
  },
  'GET /v1/notifications/graph/stats': {
    operation: '{ notificationStats { date channels } }',
    response: { body: [entry(), entry({ channels: ['email', CANARY] }), entry({ templates: null })] },
    deviations: ['[].channels[] unknown_value', '[].templates null'],
  },
};

/** Returns the endpoint of a request, with the names of the seeds. */
const endpointOf = ({ method, path }: { method: string; path: string }): string =>
  Object.keys(SEEDS).find((endpoint) => {
    const [verb, route = ''] = endpoint.split(' ');
    return verb === method && new RegExp(`^${route.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);
  }) ?? '';

/** Gateway that has received the response of each seed once. */
const gateway = ofFile(
  await startGateway({ service: (request) => SEEDS[endpointOf(request)]?.response ?? { status: 500 } }),
);
for (const { operation } of Object.values(SEEDS)) {
  await gateway.data(operation);
}

describe('deviations of responses from the contract', () => {
  const expected = Object.entries(SEEDS).flatMap(([endpoint, { deviations }]) =>
    deviations.map((deviation) => `${endpoint} ${deviation}`),
  );

  it('are logged once each', () => {
    expect(expected.length).toBeGreaterThanOrEqual(20);
    expect(deviationsIn(gateway.log).sort()).toEqual([...expected].sort());
  });

  it('are counted', async () => {
    const labelled = expected.map((deviation) => {
      const [method, route, path, kind] = deviation.split(' ');
      return `notigraph_upstream_deviations_total{method="${method}",route="${route}",path="${path}",kind="${kind}"}`;
    });
    expect(metricValues(await gateway.metrics(), /^notigraph_upstream_deviations_total/)).toEqual(
      Object.fromEntries(labelled.map((line) => [line, 1])),
    );
  });

  it('are reported without values', async () => {
    expect(JSON.stringify(gateway.log) + (await gateway.metrics())).not.toMatch(/canary/i);
  });
});

it('known differences of real services are no deviations, nor are free-form values and failed responses', async () => {
  const bookkeeping = { id: 'x', __v: 0, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: null, deleted: false };
  const live = {
    ...workflow({ description: null, _parentId: null, data: { anything: [{ at: 'all' }] } }),
    steps: [{ _parentId: 'step', template: { _feedId: null, content: [{ type: 'text', content: 'Hi' }] } }],
    notificationGroup: { ...group(), ...bookkeeping },
    workflowIntegrationStatus: { hasActiveIntegrations: true, channels: { email: {} } },
  };
  const responses: Record<string, ServiceResponse[]> = {
    'GET /v1/workflows/{workflowIdOrIdentifier}': [
      { body: { data: live } },
      { body: live },
      { status: 404, body: { statusCode: 404, nothing: 'of the contract' } },
    ],
    'GET /v1/notification-groups': [{ body: [{ ...group(), ...bookkeeping }] }, { body: { data: [] } }],
    'POST /v1/feeds': [
      { status: 201, body: { data: { ...feed(), ...bookkeeping } } },
      { status: 409, body: { x: 1 } },
    ],
    'GET /v1/notifications/graph/stats': [{ body: { data: [entry()] } }, { body: [] }],
  };
  await using gateway = await startGateway({
    service: (request) => responses[endpointOf(request)]?.shift() ?? { status: 500 },
  });
  for (const endpoint of Object.keys(responses)) {
    while (responses[endpoint]?.length !== 0) {
      await gateway.data(SEEDS[endpoint]?.operation ?? '');
    }
  }
  expect(gateway.service.requests).toHaveLength(9);
  expect(deviationsIn(gateway.log)).toEqual([]);
});

it('the number of reported places is limited', () => {
  const paths: unknown[] = [];
  const logger = pino({}, { write: (line) => void paths.push(JSON.parse(line).path) });
  const report = createCounts(logger).deviationReporterOf(undefined);
  for (let i = 0; i < 600; i += 1) {
    report({ method: 'GET', route: '/v1/feeds' }, { kind: 'missing', path: `field${i % 300}` });
  }
  expect(paths).toEqual([...Array.from({ length: 200 }, (_, i) => `field${i}`), '(other)']);
});

// 101 is odd, so that of two responses that alternate, both are checked.
it('the first of 101 responses of an endpoint is checked, and so on; several upstreams have their own counts and log lines', async () => {
  await using upstream = await startService(() => ({ body: [{ ...group(), _environmentId: null }] }));
  const url = new URL(upstream.url).href;
  await using gateway = await startGateway({
    upstreams: { eu: { url, default: true }, us: { url, pathPrefix: '/us' } },
  });
  const ask = (path: string) => gateway.data('{ notificationGroups { name } }', {}, { path });
  for (let i = 0; i < 102; i += 1) {
    await ask('/graphql');
  }
  await ask('/us/graphql');
  const place = 'method="GET",route="/v1/notification-groups",path="[]._environmentId",kind="null"';
  expect(metricValues(await gateway.metrics(), /^notigraph_upstream_deviations_total/)).toEqual({
    [`notigraph_upstream_deviations_total{upstream="eu",${place}}`]: 2,
    [`notigraph_upstream_deviations_total{upstream="us",${place}}`]: 1,
  });
  expect(gateway.log.flatMap(({ kind, upstream }) => (kind === undefined ? [] : [upstream]))).toEqual(['eu', 'us']);
});

it('all of a response is checked, also if it is long', async () => {
  const groups: object[] = Array.from({ length: 2_500 }, () => group());
  groups[1_000] = { ...group(), _environmentId: null };
  groups[2_400] = { ...group(), name: null };
  await using gateway = await startGateway({ service: () => ({ body: groups }) });
  await gateway.data('{ notificationGroups { id } }');
  const route = 'GET /v1/notification-groups';
  expect(deviationsIn(gateway.log)).toEqual([`${route} []._environmentId null`, `${route} [].name null`]);
});

it('every endpoint of the contract with a response has a shape to compare it with', () => {
  const declared = [...CONTRACT, createSubscribers]
    .filter(({ expect: form }) => form !== 'nothing')
    .map(({ method, route }) => `${method} ${route}`);
  expect(Object.keys(RESPONSES).toSorted()).toEqual(declared.toSorted());
});
