import { readFile } from 'node:fs/promises';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { DEVELOPMENT } from '../../packages/sandbox/src/environments.ts';
import { sampleId } from '../../packages/sandbox/src/ids.ts';
import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';
import { sha256Of } from '../../src/documents/manifest.ts';
import type { GatewayOptions } from '../../src/gateway.ts';
import events from '../../src/modules/shipped/events.ts';
import inbox from '../../src/modules/shipped/inbox.ts';
import messages from '../../src/modules/shipped/messages.ts';
import { findIdProblem } from '../../src/upstream/input-rules.ts';
import { connectAgent } from '../support/agent.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { subscriberIn } from '../support/inbox.ts';
import type { Claims } from '../support/issuer.ts';
import { ofFile } from '../support/lifetime.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import { AUDIENCE, clientsOf, createSigner, ISSUER } from '../support/tokens.ts';
import { registerTestTraces } from '../support/traces.ts';

guards('src/modules/toolkit/mutation-failures.ts', 'toFailure');

// One person with a valid token tries to reach the inbox of another one, with a real service behind the gateway. Afterwards, nothing of the other has been
// requested, returned, logged or changed.

const SCOPES = ['inbox:read', 'inbox:write'] as const;
const OWN = 'customer-1001';
const OTHER = 'customer-1002';
const SECRET = 'canary-in-the-message-of-another';
/** Id of the message with this text. */
const OTHER_ID = sampleId(DEVELOPMENT, 'message', `to-${OTHER}`, sampleId(DEVELOPMENT, 'subscriber', OTHER), 'in_app');

/** Ids that a server could take for that of the other person. */
const DISGUISES = [
  ` ${OTHER}`,
  `${OTHER} `,
  `${OTHER}\u00a0`,
  `${OTHER}\ufeff`,
  `${OTHER}\u0000`,
  `${OTHER}\u200b`,
  `${OTHER}\n`,
  `${OTHER}/`,
  `${OTHER}?`,
  `${OTHER}#`,
  `${OTHER};a=b`,
  OTHER.toUpperCase(),
  'customer%2D1002',
  'customer%2d1002',
  'customer%252d1002',
  'customer‐1002',
  'сustomer-1002',
  'customer-１００２',
  'ｃustomer-1002',
  `${OWN}/../${OTHER}`,
  `${OWN}%2f%2e%2e%2f${OTHER}`,
  `../${OTHER}`,
  `%2e%2e/${OTHER}`,
  `%2e%2e%2f${OTHER}`,
  `${OWN},${OTHER}`,
  `${OWN}&subscriberId=${OTHER}`,
  `${OWN}\n${OTHER}`,
  '%2e%2e',
  '..',
  '.',
  '*',
  '',
  'null',
  'undefined',
  '[object Object]',
  sampleId(DEVELOPMENT, 'subscriber', OTHER), // The service's own id of the other person.
];

/** Fields of the inbox, one by one: a resolver could forget whose it is. */
const READS = [
  'subscriberId',
  'messages { messages { id content subject payload extra } }',
  'messages(feeds: ["Activity"], seen: false) { messages { content } }',
  'unseen { count }',
  'preferences { name }',
  'globalPreferences { enabled }',
];

const WRITES = {
  markMessages: `messageIds: ["${OTHER_ID}"], as: READ`,
  markAllMessages: 'as: READ',
  completeMessageAction: `messageId: "${OTHER_ID}", button: "primary", payload: { a: 1 }`,
  updateWorkflowPreference: `workflowId: "${sampleId(DEVELOPMENT, 'workflow', 'comment-mention')}", enabled: false`,
  updateGlobalPreferences: 'enabled: false, channels: [{ channel: IN_APP, enabled: false }]',
} as const;

interface Operation {
  query: string;
  variables?: Record<string, unknown>;
  operationName?: string;
}

/** Returns the forms in which an operation can name a person for a root field. */
function formsOf(kind: 'query' | 'mutation', id: unknown, fieldWith: (id: string) => string): Operation[] {
  const type = kind === 'query' ? 'Query' : 'Mutation';
  const literal = JSON.stringify(id);
  const variables = { id };
  return [
    { query: `${kind} { ${fieldWith(literal)} }` },
    { query: `${kind} { x: ${fieldWith(literal)} }` },
    { query: `${kind} ($id: ID) { ${fieldWith('$id')} }`, variables },
    { query: `${kind} ($id: ID!) { ${fieldWith('$id')} }`, variables },
    { query: `${kind} ($id: ID = ${literal}) { ${fieldWith('$id')} }` },
    { query: `${kind} { ...F } fragment F on ${type} { ${fieldWith(literal)} }` },
    { query: `${kind} ($id: ID) { ...F } fragment F on ${type} { x: ${fieldWith('$id')} }`, variables },
    { query: `${kind} { ... on ${type} { ... { ${fieldWith(literal)} } } }` },
    { query: `${kind} ($on: Boolean! = true) { ... @include(if: $on) { ${fieldWith(literal)} } }` },
    { query: `${kind} ($off: Boolean = false) { ... @skip(if: $off) { ${fieldWith(literal)} } }` },
    { query: `query B { __typename } ${kind} A { ${fieldWith(literal)} }`, operationName: 'A' },
  ];
}

const hasVariables = ({ variables }: Operation) => variables !== undefined;

/** Number of forms. */
const FORMS = formsOf('query', OTHER, String).length;

const operations = (id: unknown): Operation[] => [
  ...READS.flatMap((read) => formsOf('query', id, (text) => `inbox(subscriberId: ${text}) { ${read} }`)),
  ...Object.entries(WRITES).flatMap(([name, input]) =>
    formsOf('mutation', id, (text) => `${name}(input: { subscriberId: ${text}, ${input} }) { __typename }`),
  ),
];

/** Documents of an app, which are also tools. */
const DOCUMENTS: Readonly<Record<string, string>> = Object.fromEntries([
  ...READS.map((read, i) => [`Read${i}`, `query Read${i}($id: ID) { inbox(subscriberId: $id) { ${read} } }`]),
  ...Object.entries(WRITES).map(([name, input]) => [
    `My${name}`,
    `mutation My${name}($id: ID) { ${name}(input: { subscriberId: $id, ${input} }) { __typename } }`,
  ]),
]);

const signer = createSigner();
const second = createSigner();
const SECOND_ISSUER = 'https://second.example.com';
const folder = ofFile(await createTemporaryFolder());
const auditFile = folder.path('audit.jsonl');

const options: Partial<GatewayOptions> = {
  modules: [inbox, messages, events],
  clients: clientsOf(signer, {
    scopes: [...SCOPES],
    explain: true,
    issuers: [
      { issuer: ISSUER, audience: AUDIENCE, publicKey: signer.publicKey, tenantClaim: 'tenant' },
      { issuer: SECOND_ISSUER, audience: AUDIENCE, publicKey: second.publicKey, tenant: 'globex' },
    ],
    tenants: { acme: SANDBOX_KEYS.development, globex: SANDBOX_KEYS.production },
  }),
  clientTokens: { secrets: ['a-fake-secret-of-client-tokens-0001'] },
  trustedDocuments: { manifests: [DOCUMENTS] },
  mcp: { manifest: DOCUMENTS, mutations: Object.keys(DOCUMENTS).filter((name) => name.startsWith('My')) },
  audit: { to: { file: auditFile }, required: false },
  federation: true,
  cache: true,
};

const traces = registerTestTraces();
afterAll(() => traces[Symbol.dispose]());
const gateway = ofFile(await startGateway({ service: 'sandbox', ...options }));
const bearer = (claims: Claims = {}) => signer.bearer({ sub: OWN, scope: SCOPES.join(' '), ...claims });

/** Everything that responses contained. */
const received: string[] = [];

/** Sends a request as the person, and returns its status and parsed body. */
async function request(init: RequestInit, url: string | URL = gateway.url, authorization?: string) {
  const headers = { 'content-type': 'application/json', authorization: authorization ?? (await bearer()) };
  const response = await fetch(url, { ...init, headers: { ...headers, ...Object(init.headers) } });
  const text = await response.text();
  received.push(text, JSON.stringify([...response.headers]));
  return { status: response.status, body: JSON.parse(text || 'null') };
}

const post = (body: unknown, authorization?: string) =>
  request({ method: 'POST', body: JSON.stringify(body) }, gateway.url, authorization);

const WHOLE = `{ inbox(subscriberId: "${OTHER}") { unseen { count } messages(limit: 50) { messages { id seen read cta { status } } } preferences { name enabled channels { inApp } } globalPreferences { enabled channels { inApp } } } }`;
const stateOfOther = () => gateway.data(WHOLE);

for (const [person, amount] of [
  [OWN, '1.00'],
  [OTHER, SECRET],
]) {
  await gateway.data(
    `mutation { triggerEvent(input: { event: { workflow: "payment-failed", transactionId: "to-${person}", subscriberIds: ["${person}"], payload: { amount: "${amount}" } } }) { __typename } }`,
  );
}
const before = await stateOfOther();
expect(JSON.stringify(before)).toContain(OTHER_ID);
traces.take();

beforeEach(() => gateway.forget());

/** Requests of the service for an inbox that is not the person's own. */
const strayed = () => gateway.upstream().filter(({ path }) => (subscriberIn({ path }) ?? OWN) !== OWN);

/** Sends many operations, some at a time, and expects of each that it was refused. Returns their number. */
async function expectRefused(sent: readonly Operation[], send: (operation: Operation) => Promise<unknown>) {
  const rest = [...sent];
  const results: [Operation, unknown][] = [];
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
        results.push([next, await send(next)]);
      }
    }),
  );
  const allowed = results.filter(([, result]) => result !== 'refused');
  expect(allowed).toEqual([]);
  expect(gateway.upstream()).toEqual([]);
  return results.length;
}

/** Returns `refused` if a response has no data but null, and an error of one of these codes. */
function judge(
  { status, body }: { status: number; body: Record<string, unknown> | null },
  ...codes: string[]
): unknown {
  const { data, errors = [] } = Object(body);
  const found = errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code);
  const isEmpty =
    data == null ||
    Object.values(data)
      .flat()
      .every((value) => value === null);
  return isEmpty && found.length > 0 && found.every((code: string) => codes.includes(code))
    ? 'refused'
    : { status, body };
}

const REFUSED = ['FORBIDDEN'];
const MALFORMED = [...REFUSED, 'BAD_USER_INPUT', 'GRAPHQL_VALIDATION_FAILED'];

describe('an inbox of another person', () => {
  it('is reached in no form of an operation, under no disguise of the id', async () => {
    const sent = [...operations(OTHER), ...DISGUISES.flatMap((id) => operations(id).filter(hasVariables))];
    const number = await expectRefused(sent, async (operation) => judge(await post(operation), ...REFUSED));
    expect(number).toBe((FORMS + 3 * DISGUISES.length) * (READS.length + Object.keys(WRITES).length));
  });

  it('is reached with no value of another type', async () => {
    const values = [[OTHER], [OWN, OTHER], { subscriberId: OTHER }, 1002, 1.5, true, [], {}];
    const sent = values.flatMap((id) => operations(id).filter(hasVariables));
    await expectRefused(sent, async (operation) => judge(await post(operation), ...MALFORMED));
  });

  it('is reached with no other transport', async () => {
    const sent = operations(OTHER);
    await expectRefused(sent, async (operation) => judge(await post([operation]), 'BAD_REQUEST'));
    await expectRefused(sent, async ({ query, variables, operationName }) => {
      const url = new URL(gateway.url);
      url.searchParams.set('query', query);
      url.searchParams.set('variables', JSON.stringify(variables ?? {}));
      if (operationName !== undefined) {
        url.searchParams.set('operationName', operationName);
      }
      const response = await request({ method: 'GET', headers: { 'graphql-require-preflight': '1' } }, url);
      return judge(response, 'FORBIDDEN', 'METHOD_NOT_ALLOWED', 'BAD_REQUEST');
    });
    await expectRefused(sent, async (operation) => {
      const response = await post({ ...operation, extensions: { explain: true } });
      expect([operation, response.body.extensions?.explain?.calls ?? []]).toEqual([operation, []]);
      return judge(response, ...REFUSED);
    });
    const documents = Object.values(DOCUMENTS).map((query) => ({ query, variables: { id: OTHER } }));
    await expectRefused(documents, async ({ query, variables }) =>
      judge(await post({ documentId: sha256Of(query), variables }), ...REFUSED),
    );
  });

  it('is reached with no tool, entity or token of the gateway', async () => {
    await using agent = await connectAgent(gateway, await bearer());
    for (const name of await agent.names()) {
      for (const args of [
        { id: OTHER },
        { id: [OTHER] },
        { subscriberId: OTHER, id: OTHER },
        { ID: OTHER, id: OTHER },
      ]) {
        const { text, structured, isError } = await agent.call(name, args);
        received.push(text, JSON.stringify(structured));
        expect([name, args, isError]).toEqual([name, args, true]);
      }
    }
    for (const __typename of ['Inbox', 'InboxMessage', 'InboxPage', 'WorkflowPreference']) {
      const representations = [{ __typename, id: OTHER_ID, subscriberId: OTHER }];
      const query =
        'query ($representations: [_Any!]!) { _entities(representations: $representations) { __typename } }';
      expect(judge(await post({ query, variables: { representations } }), ...MALFORMED)).toBe('refused');
    }
    const mint = (body: object, authorization: string) =>
      request(
        { method: 'POST', body: JSON.stringify({ scopes: SCOPES, ...body }) },
        new URL('/client-tokens', gateway.url),
        authorization,
      );
    expect((await mint({ subject: OTHER }, await bearer())).status).toBe(401);
    for (const subject of [[OTHER], { sub: OTHER }, 1002, true]) {
      expect((await mint({ subject }, `ApiKey ${SANDBOX_KEYS.development}`)).status).toBe(400);
    }
    expect(strayed()).toEqual([]);
  });
});

it('a token reads the inbox of its subject, exactly as it is written, or none', async () => {
  const query = '{ inbox { subscriberId messages { messages { id content } } } }';
  for (const sub of [...DISGUISES, [OTHER], { sub: OTHER }, 1002]) {
    const { body } = await post({ query }, await bearer({ sub }));
    const result = body.data?.inbox ?? body.errors[0].extensions;
    expect([sub, result]).toEqual([
      sub,
      findIdProblem(String(sub)) === undefined && typeof sub === 'string'
        ? { subscriberId: sub, messages: { messages: [] } }
        : expect.objectContaining(typeof sub === 'string' ? { code: 'FORBIDDEN' } : { reason: 'TOKEN_INVALID' }),
    ]);
  }
  expect(gateway.upstream().map(subscriberIn)).not.toContain(OTHER);
});

it('tokens of two issuers with the same subject reach the inboxes of their own tenants, also at the same time', async () => {
  const query = '{ inbox { unseen { count } messages { messages { content } } } }';
  const claims = { iss: SECOND_ISSUER, sub: OTHER, scope: SCOPES.join(' ') };
  const ofSecond = await second.bearer(claims);
  const responses = await Promise.all(Array.from({ length: 10 }, () => post({ query }, ofSecond)));
  const whole = async () => (await gateway.data<{ inbox: object }>(WHOLE)).inbox;
  const [mixed] = await Promise.all([post({ query }, ofSecond), whole(), gateway.data(WHOLE)]);
  for (const { status, body } of [...responses, mixed]) {
    expect([status, body]).toEqual([200, { data: { inbox: { unseen: { count: 0 }, messages: { messages: [] } } } }]);
  }
  // A claim of the tenant doesn't move the second issuer's token to the first one's tenant, nor does a key of the other issuer.
  const moved = await post({ query }, await second.bearer({ ...claims, tenant: 'acme' }));
  expect(moved.body.data.inbox.messages.messages).toEqual([]);
  expect((await post({ query }, await second.bearer({ ...claims, iss: ISSUER }))).status).toBe(401);
  expect((await post({ query }, await signer.bearer({ ...claims, tenant: 'acme' }))).status).toBe(401);
  const keys = gateway.upstream().map(({ headers }) => headers.authorization);
  expect(keys.filter((key) => key === `ApiKey ${SANDBOX_KEYS.development}`)).toHaveLength(4); // Of the reads as a server, which share calls.
});

it('the same operation of two people at the same moment, with the same idempotency key, has each one’s own result', async () => {
  const mutation = `mutation { markAllMessages(input: { as: SEEN, idempotencyKey: "same" }) {
    ... on MarkAllMessagesSuccess { replayed inbox { subscriberId messages { messages { seen } } } } } }`;
  const people = ['person-1', 'person-2', 'person-3'];
  const event = { workflow: 'payment-failed', subscriberIds: people, payload: { amount: '2.00' } };
  await gateway.data('mutation ($event: EventInput!) { triggerEvent(input: { event: $event }) { __typename } }', {
    event,
  });
  const sendAll = () =>
    Promise.all(
      people
        .flatMap((sub) => [sub, sub])
        .map(async (sub) => [sub, await post({ query: mutation }, await bearer({ sub }))] as const),
    );
  for (const round of [1, 2]) {
    for (const [sub, { body }] of await sendAll()) {
      const result = body.data.markAllMessages;
      if (result.inbox !== undefined || round === 2) {
        const seen = { subscriberId: sub, messages: { messages: [{ seen: true }] } };
        expect(result).toEqual({ replayed: expect.any(Boolean), inbox: seen });
      }
    }
  }
  const writes = gateway.upstream('POST /v1/subscribers/');
  const keysOf = (sub: string) =>
    new Set(writes.filter((each) => subscriberIn(each) === sub).map(({ headers }) => headers['idempotency-key']));
  expect(people.map((sub) => keysOf(sub).size)).toEqual([1, 1, 1]);
  expect(new Set(people.flatMap((sub) => [...keysOf(sub)])).size).toBe(3);
});

it('a message of another person and one that does not exist are not told apart', async () => {
  const unknownId = '0'.repeat(24);
  const MARK =
    'mutation ($id: ID!) { markMessages(input: { messageIds: [$id], as: READ }) { __typename ... on MutationError { code message } ... on MarkMessagesSuccess { messageIds inbox { unseen { count } } } } }';
  const COMPLETE =
    'mutation ($id: ID!, $key: String) { completeMessageAction(input: { messageId: $id, button: "primary", idempotencyKey: $key }) { __typename ... on MutationError { code message replayed } ... on NotFoundError { resource requestedId } } }';
  for (const query of [MARK, COMPLETE, COMPLETE]) {
    for (const extensions of [{}, { upstream: true }, { explain: true }]) {
      const [others, unknown] = await Promise.all(
        [OTHER_ID, unknownId].map(async (id) => {
          const variables = { id, ...(query === COMPLETE && { key: `key-of-${id}` }) };
          const { status, body } = await post({ query, variables, extensions });
          const { ms: _, rateLimitRemaining: __, ...report } = body.extensions?.upstream ?? {};
          return [
            status,
            JSON.stringify({ ...body, extensions: { ...body.extensions, upstream: report } })
              .replaceAll(id, 'ID')
              .replace(/[0-9a-f]{64}/, 'KEY'),
          ];
        }),
      );
      expect([query, extensions, others]).toEqual([query, extensions, unknown]);
      expect(String(others)).toContain(
        extensions.explain ? '"calls":' : query === MARK ? 'MarkMessagesSuccess' : 'NotFoundError',
      );
    }
  }
  expect(gateway.upstream().map(({ status }) => status)).toEqual(expect.arrayContaining([400, 404]));
});

it('nothing of the other person was returned, logged or changed by all of this', async () => {
  const left = [gateway.log, traces.take(), await gateway.metrics(), await readFile(auditFile, 'utf8')];
  const texts = [...received, ...left.map((value) => JSON.stringify(value))];
  expect(texts.length).toBeGreaterThan(2_000);
  expect(texts.filter((text) => text.includes(SECRET))).toEqual([]);
  expect(left.map((value) => JSON.stringify(value).length > 1_000)).toEqual([true, true, true, true]);
  expect(JSON.stringify(left)).toContain(OWN); // The audit log names who it was.
  expect(await stateOfOther()).toEqual(before);
});
