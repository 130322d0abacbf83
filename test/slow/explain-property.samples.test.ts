import fc from 'fast-check';
import type { Plugin } from 'graphql-yoga';
import { expect, it } from 'vitest';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import type { GatewayContext } from '../../src/graphql/context.ts';
import { createSchema } from '../../src/modules/schema.ts';
import { type Choices, readTape } from '../support/choices.ts';
import { type Explanation, sendExplain } from '../support/explain.ts';
import { type StartedGateway, startGateway } from '../support/gateway.ts';
import { type GeneratedBehavior, generatedService } from '../support/generated-service.ts';
import { ofFile } from '../support/lifetime.ts';
import { sampleSize } from '../support/samples.ts';
import { startService } from '../support/service.ts';
import { DocumentGenerator, type GeneratedRequest, type Scalars } from './fuzz/documents.ts';

const RUNS = sampleSize(25, 1_000);

const SCALARS: Scalars = {
  ID: [
    ['"w1"', '"w2"', '"w3"', '"g1"', '"g2"', '7', '"../x"'],
    ['w1', 'w2', 'w3', 'g1', 'g2', 7, ''],
  ],
  Int: [
    ['1', '30', '100', '0'],
    [1, 3, 30, -1],
  ],
  JSONObject: [['{ a: 1 }'], [{ a: 1 }]],
  JSON: [['1'], [1]],
  DateTime: [['"2026-01-01T00:00:00Z"'], ['2026-01-01T00:00:00Z']],
  LocalDate: [['"2026-01-01"'], ['2026-01-01']],
};

const GROUP = 'notificationGroup { name }';

const QUERIES: readonly [(choices: Choices) => string, ...((choices: Choices) => string)[]] = [
  (choices) => `workflow(idOrIdentifier: "${key(choices)}") { name ${groupOrNone(choices)} }`,
  (choices) => `workflows(idsOrIdentifiers: ${JSON.stringify(keys(choices))}) { id ${groupOrNone(choices)} }`,
  (choices) => `notificationGroup(id: "g${choices.pick(14)}") { name }`,
  () => 'notificationGroups { name }',
  (choices) => `notificationStats { workflows(first: ${1 + choices.pick(4)}) { id ${groupOrNone(choices)} } }`,
];

const MUTATIONS: typeof QUERIES = [
  (choices) =>
    `updateWorkflowStatus(input: { workflowId: "${key(choices)}", active: true }) { ... on UpdateWorkflowStatusSuccess { workflow { id a: ${GROUP} b: ${GROUP} } } }`,
  () => 'createNotificationGroup(input: { name: "New" }) { __typename }',
  (choices) => `updateNotificationGroup(input: { id: "g${choices.pick(14)}", name: "Other" }) { __typename }`,
  (choices) => `deleteNotificationGroup(input: { id: "g${choices.pick(14)}" }) { __typename }`,
  (choices) =>
    `createSubscribers(input: { subscribers: [${keys(choices).map((id) => `{ subscriberId: "${id}" }`)}] }) { failed }`,
];

/** Generates an operation of the fields whose numbers of calls depend on others. */
function generateCalls(choices: Choices): GeneratedRequest {
  const [kind, fields] = choices.oneIn(3) ? (['mutation', MUTATIONS] as const) : (['query', QUERIES] as const);
  const selections = Array.from({ length: 1 + choices.pick(4) }, (_, i) => `a${i}: ${choices.of(fields)(choices)}`);
  return { query: `${kind} { ${selections.join(' ')} }`, variables: {}, operationName: undefined };
}

const key = (choices: Choices): string => (choices.oneIn(20) ? '..' : `w${choices.pick(20)}`);

const keys = (choices: Choices): string[] => Array.from({ length: 1 + choices.pick(12) }, () => key(choices));

const groupOrNone = (choices: Choices): string => (choices.oneIn(3) ? '' : GROUP);

const example = fc.record({
  tape: fc.array(fc.nat({ max: 5_039 }), { minLength: 20, maxLength: 160, size: 'max' }),
  budget: fc.constantFrom(3, 12, 50),
  isFocused: fc.boolean(),
  behavior: fc.record({
    seed: fc.integer(),
    embeds: fc.constantFrom('always', 'never', 'never', 'sometimes'),
    groups: fc.constantFrom(1, 2, 12),
    omitsIds: fc.boolean(),
    workflowsPerEntry: fc.constantFrom(0, 2, 10),
    rejects: fc.boolean(),
  }) satisfies fc.Arbitrary<GeneratedBehavior>,
});

let behavior: GeneratedBehavior;
let made: GatewayContext['budget'] | undefined;

/** Notes the calls of the last operation. */
const noteUsage: Plugin<GatewayContext> = {
  onExecute({ args }) {
    ({ budget: made } = args.contextValue as GatewayContext);
  },
};

const upstream = ofFile(await startService(generatedService(() => behavior)));

/** Gateways by their maximum number of calls. */
const gateways = new Map<number, StartedGateway>();
for (const maxUpstreamCalls of [3, 12, 50]) {
  const options = { plugins: [noteUsage], maxUpstreamCalls, maxConcurrentCallsPerKey: 100 };
  gateways.set(maxUpstreamCalls, ofFile(await startGateway({ upstream: upstream.url, ...options })));
}

const authorization = `ApiKey ${SANDBOX_KEYS.development}`;

/** Explains an operation. Returns undefined if it is invalid, as the executed operation must be too. */
async function explain(gateway: StartedGateway, request: GeneratedRequest): Promise<Explanation | undefined> {
  const { body } = await sendExplain(gateway, request, { authorization });
  return body.extensions?.explain;
}

async function execute({ url }: StartedGateway, request: GeneratedRequest): Promise<void> {
  made = undefined;
  const headers = { 'content-type': 'application/json', authorization };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(request) });
  await response.json();
}

/** Returns the highest number of requests per endpoint that an explanation permits. */
const mostByRoute = ({ calls }: Explanation): Map<string, number> =>
  calls.reduce(
    (most, { method, route, max }) => most.set(`${method} ${route}`, (most.get(`${method} ${route}`) ?? 0) + max),
    new Map<string, number>(),
  );

const ROUTES: readonly [RegExp, string][] = [
  [/^\/v1\/notification-groups\/[^/]+$/, '/v1/notification-groups/{id}'],
  [/^\/v1\/workflows\/[^/]+\/status$/, '/v1/workflows/{workflowId}/status'],
  [/^\/v1\/workflows\/[^/]+$/, '/v1/workflows/{workflowIdOrIdentifier}'],
  [/^\/v1\/feeds\/[^/]+$/, '/v1/feeds/{feedId}'],
  [/^\/v1\/messages\/transaction\/[^/]+$/, '/v1/messages/transaction/{transactionId}'],
];

function endpointOf({ method, path }: { method: string; path: string }): string {
  const plain = path.replace(/\?.*/, '');
  return `${method} ${ROUTES.find(([pattern]) => pattern.test(plain))?.[1] ?? plain}`;
}

it('explaining sends nothing, and the calls of the operation stay within the explanation', {
  timeout: 30_000 + RUNS * 100,
}, async () => {
  const schema = createSchema();
  const seen = { explained: 0, exact: 0, open: 0, atMost: 0, bulk: 0 };
  await fc.assert(
    fc.asyncProperty(example, async ({ tape, budget, isFocused, behavior: next }) => {
      const gateway = gateways.get(budget) ?? expect.unreachable();
      behavior = next;
      const choices = readTape(tape);
      const request = isFocused ? generateCalls(choices) : new DocumentGenerator(schema, choices, SCALARS).generate();
      const before = upstream.requests.length;
      const explanation = await explain(gateway, request);
      expect(upstream.requests.length).toBe(before);
      await execute(gateway, request);
      const requests = upstream.requests.slice(before);
      const hint = JSON.stringify({ request, explanation, requests: requests.map(endpointOf) }, null, 1);
      if (explanation === undefined) {
        expect(requests, hint).toEqual([]);
        return;
      }
      const { min, max, limit } = explanation.budget;
      const { calls = 0, bulkItems = 0 } = made ?? {};
      expect(max, hint).toBeLessThanOrEqual(limit);
      expect(calls, hint).toBeGreaterThanOrEqual(min);
      expect(calls, hint).toBeLessThanOrEqual(max);
      expect(bulkItems, hint).toBe(explanation.bulkItems?.max ?? 0);
      const most = mostByRoute(explanation);
      for (const [endpoint, sent] of Map.groupBy(requests, endpointOf)) {
        expect(sent.length, `${endpoint} in ${hint}`).toBeLessThanOrEqual(most.get(endpoint) ?? 0);
      }
      seen.explained += 1;
      seen.exact += min === max && min > 0 ? 1 : 0;
      seen.open += min < max ? 1 : 0;
      seen.atMost += min < max && calls === max ? 1 : 0;
      seen.bulk += bulkItems > 0 ? 1 : 0;
    }),
    { numRuns: RUNS, seed: 7, endOnFailure: true },
  );
  // The sample contains each case.
  expect(
    Object.values(seen).every((count) => count > 0),
    JSON.stringify(seen),
  ).toBe(true);
});
