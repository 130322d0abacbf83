import { expect, it } from 'vitest';
import type { UpstreamReport } from '../../src/http/message.ts';
import { READ_WORKFLOW, startCachedGateway } from '../support/cached-gateway.ts';
import { type StartedGateway, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { group, workflow } from '../support/records.ts';

guards('src/http/pipeline/select-upstream.ts', 'createUpstreamSelector.select');
guards('src/http/pipeline/pipeline.ts', 'createPipeline.handle');
guards('src/http/params.ts', 'readFlags');
guards('src/http/pipeline/respond.ts', 'limitSize');
guards('src/http/pipeline/respond.ts', 'createRespond');

/** Runs an operation, and returns its report with the other parts of the response. */
async function report(gateway: StartedGateway, document: string, authorization = 'ApiKey a') {
  const { body, codes, status } = await gateway.send(document, {}, { authorization, extensions: { upstream: true } });
  const { upstream, ...extensions } = body.extensions ?? {};
  return { ...(upstream as UpstreamReport), status, codes, data: body.data, extensions };
}

/** Returns the number of requests that a report implies. */
const sentOf = ({ calls, shared, cached, unsent = 0, retries }: UpstreamReport): number =>
  calls - shared - cached - unsent + retries;

/** Upstream whose workflows are in two groups. */
const service = (path: string) => {
  const [, , resource, id = ''] = path.split('/');
  switch (resource) {
    case 'workflows':
      return { data: workflow({ _id: id, _notificationGroupId: id === 'w1' ? 'g1' : 'g2' }) };
    case 'notification-groups':
      return { data: [group({ _id: 'g1' }), group({ _id: 'g2' })] };
    default:
      return [];
  }
};

it('reports calls, shared responses, retries, the rate limit, and the calls of each field', async () => {
  let failures = 1;
  await using gateway = await startGateway({
    service: ({ path }) =>
      path === '/v1/workflows/w2' && failures-- > 0
        ? { status: 503 }
        : {
            body: service(path),
            headers: { 'ratelimit-limit': '30', 'ratelimit-remaining': '17', 'ratelimit-reset': '1' },
          },
  });
  const document = `{
    workflows(idsOrIdentifiers: ["w1", "w2"]) { id notificationGroup { name } }
    same: workflow(idOrIdentifier: "w1") { id }
    notificationStats { key }
    sameStats: notificationStats { key }
    notificationGroups { id }
  }`;
  const started = performance.now();
  const { ms, ...result } = await report(gateway, document);
  expect(result).toMatchObject({ calls: 5, shared: 1, cached: 0, retries: 1, rateLimitRemaining: 17, extensions: {} });
  expect(result).not.toHaveProperty('unsent');
  expect(result.fields).toEqual({
    'Query.workflows': 2,
    'Query.workflow': 1,
    'Workflow.notificationGroup': 1,
    'Query.notificationStats': 2,
    'Query.notificationGroups': 1,
  });
  expect(gateway.service.requests).toHaveLength(5);
  expect(sentOf({ ms, ...result })).toBe(5);
  expect(ms).toBeGreaterThan(0);
  expect(ms).toBeLessThan(performance.now() - started);
  expect(gateway.log.at(-1)).toMatchObject({ upstreamCalls: 5, shared: 1, retries: 1 });

  const { body } = await gateway.send(document, {}, { extensions: { upstream: false } });
  expect(body).toEqual({ data: result.data });
});

it('reports the calls of mutations with those of bulk items and of loaders', async () => {
  await using gateway = await startGateway({
    service: ({ method, path }) => {
      switch (method) {
        case 'PUT':
          return { status: 400, body: { message: 'Workflow is already active' } };
        case 'POST':
          return { body: { data: { subscriberId: 's', _organizationId: 'o', _environmentId: 'e', deleted: false } } };
        default:
          return { body: { data: workflow({ _id: path.slice(14), active: true, _notificationGroupId: 'g1' }) } };
      }
    },
    maxUpstreamCalls: 2,
  });
  const result = await report(
    gateway,
    `mutation {
      updateWorkflowStatus(input: { workflowId: "w1", active: true }) {
        ... on UpdateWorkflowStatusSuccess { changed workflow { notificationGroup { name } } }
      }
      createSubscribers(input: { subscribers: [{ subscriberId: "a" }, { subscriberId: "b" }, { subscriberId: "c" }] }) {
        succeeded
      }
    }`,
  );
  expect(result.codes).toEqual(['BUDGET_EXCEEDED']); // The group's call was refused, so it doesn't count.
  expect(result.data).toMatchObject({ updateWorkflowStatus: { changed: false }, createSubscribers: { succeeded: 3 } });
  expect(result).toMatchObject({ calls: 5, shared: 0, cached: 0, retries: 0 });
  expect(result.fields).toEqual({ 'Mutation.updateWorkflowStatus': 2, 'Mutation.createSubscribers': 3 });
  expect(sentOf(result)).toBe(gateway.service.requests.length);
});

it('counts stored responses only if no request was made for them, and calls that were not sent', async () => {
  await using cached = await startCachedGateway({ maxRetries: 0 }, { breakerMinimumCalls: 2 });
  const read = async () => {
    cached.service.forget();
    const { fields, ...result } = await report(cached, READ_WORKFLOW);
    expect(fields).toEqual({ 'Query.workflow': 1 });
    expect(sentOf({ fields, ...result })).toBe(cached.service.calls().length);
    return result;
  };
  expect(await read()).toMatchObject({ calls: 1, cached: 0 });
  expect(await read()).toMatchObject({ calls: 1, cached: 1, ms: 0, extensions: {} });

  const other = '{ workflow(idOrIdentifier: "other") { name } }';
  await cached.run(other);
  cached.advance(45);
  const refresh = cached.service.hold('GET /v1/workflows/other');
  const revalidating = await report(cached, other);
  expect(revalidating).toMatchObject({ calls: 1, shared: 0, cached: 1, ms: 0 }); // The refresh belongs to no operation.
  await refresh.arrived;
  refresh.release();

  cached.advance(200);
  cached.service.script = () => ({ status: 503 });
  const stale = await read();
  expect(stale).toMatchObject({ calls: 1, cached: 0, extensions: { cache: { stale: true, ageSeconds: 245 } } });
  expect(stale).not.toHaveProperty('unsent');
  expect(stale.ms).toBeGreaterThan(0);
  await read();
  expect(await read()).toMatchObject({ calls: 1, cached: 0, unsent: 1 }); // The circuit breaker is open.
});

it('is part of responses without data, and of those whose data was too large', async () => {
  const record = { data: workflow({ _id: 'w1', name: '€'.repeat(600) }) };
  await using gateway = await startGateway({ service: () => ({ body: record }), maxResponseBytes: 1_024 });
  const none = { calls: 0, shared: 0, cached: 0, retries: 0, ms: 0, fields: {} };
  expect(await report(gateway, '{ unknown }')).toMatchObject({
    status: 400,
    codes: ['GRAPHQL_VALIDATION_FAILED'],
    ...none,
  });
  const large = await report(gateway, '{ workflow(idOrIdentifier: "w1") { name } }');
  expect(large).toMatchObject({ codes: ['RESULT_LIMIT_EXCEEDED'], calls: 1, fields: { 'Query.workflow': 1 } });

  const extensions = { explain: true, upstream: true };
  const { body: explained } = await gateway.send('{ workflow(idOrIdentifier: "w1") { name } }', {}, { extensions });
  expect(explained.extensions).toEqual({ explain: expect.anything() }); // Its plan is its cost.
});
