import { getNamedType, isInputObjectType, isObjectType } from 'graphql';
import { beforeEach, describe, expect, it } from 'vitest';
import notes from '../../examples/testing/notes.ts';
import { sha256Of } from '../../src/documents/manifest.ts';
import { defineModule } from '../../src/modules/index.ts';
import { createSchema } from '../../src/modules/schema.ts';
import inbox from '../../src/modules/shipped/inbox.ts';
import { connectAgent } from '../support/agent.ts';
import { sendExplain } from '../support/explain.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { INBOX_WRITES, inboxService, SHARED_ID, subscriberIn, WHOLE_INBOX, WORKFLOW_ID } from '../support/inbox.ts';
import type { Claims } from '../support/issuer.ts';
import { ofFile } from '../support/lifetime.ts';
import { clientsOf, createSigner, ISSUER, TENANT_KEYS } from '../support/tokens.ts';

guards('src/modules/toolkit/subject.ts', 'subjectOf');
guards('src/modules/toolkit/mutation-run.ts', 'MutationRun.constructor');
guards('src/auth/tokens/token-verifier.ts', 'createTokenVerifier.subject');

// Whose inbox a caller reaches: a token only that of its subject. Each attempt is judged by the requests that arrive at the service.

const signer = createSigner();

const SCOPES = ['inbox:read', 'inbox:write', 'messages:write', 'notes:read', 'notes:write'] as const;

/** Module with a mutation whose only input is the person. */
const clearing = defineModule('clearing', ({ endpoint, mutation }) => {
  const clear = endpoint('DELETE /v1/people/{personId}/note', { expect: 'nothing' });
  mutation('clearNote', {
    description: 'Clears the note of a person.',
    scope: 'notes:write',
    subject: 'personId',
    endpoint: clear,
    resolve: async ({ personId }, send) => {
      await send({ personId });
      return { personId };
    },
    success: { description: 'It was cleared.', fields: (t) => ({ personId: t.exposeID('personId') }) },
  });
});

const OWN = 'user-1';
const OTHER = 'user-2';

/** Documents of an app, which are also tools. */
const DOCUMENTS = {
  Inbox: `query Inbox($id: ID) { inbox(subscriberId: $id) ${WHOLE_INBOX} }`,
  ...Object.fromEntries(
    Object.entries(INBOX_WRITES).map(([name, input]) => {
      const typeName = name.charAt(0).toUpperCase() + name.slice(1);
      return [
        typeName,
        `mutation ${typeName}($id: ID) { ${name}(input: { subscriberId: $id, ${input} }) { __typename } }`,
      ];
    }),
  ),
};

const options = {
  modules: [inbox, notes, clearing],
  clients: clientsOf(signer, { scopes: [...SCOPES], explain: true }),
  clientTokens: { secrets: ['a-fake-secret-of-client-tokens-0001'] },
  trustedDocuments: { manifests: [DOCUMENTS] },
  mcp: { manifest: DOCUMENTS, mutations: Object.keys(DOCUMENTS).slice(1) },
  federation: true,
  maxRetries: 0,
} as const;

const gateway: GatewayWithService = ofFile(await startGateway({ service: inboxService, ...options }));

beforeEach(() => gateway.service.forget());

const bearer = (claims: Claims = {}) => signer.bearer({ scope: SCOPES.join(' '), ...claims });

/** Returns the subscribers that requests of the service were about, in their order. */
/** Returns whose records were reached. The deletion of the own message names nobody. */
const reached = (): (string | undefined)[] => {
  const naming = gateway.service.requests.filter(({ path }) => path !== `/v1/messages/${SHARED_ID}`);
  return [...new Set(naming.map(subscriberIn))];
};

const send = async (query: string, variables: Record<string, unknown> = {}, claims: Claims = {}) =>
  gateway.send(query, variables, { authorization: await bearer(claims) });

describe('the inbox of another person', () => {
  it.each<[string, string, Record<string, unknown>]>([
    ['an argument', `{ inbox(subscriberId: "${OTHER}") ${WHOLE_INBOX} }`, {}],
    ['only its name', `{ inbox(subscriberId: "${OTHER}") { subscriberId __typename } }`, {}],
    ['a variable', `query ($id: ID) { inbox(subscriberId: $id) ${WHOLE_INBOX} }`, { id: OTHER }],
    ['the default of a variable', `query ($id: ID = "${OTHER}") { inbox(subscriberId: $id) ${WHOLE_INBOX} }`, {}],
    ['a number', `query ($id: ID) { inbox(subscriberId: $id) ${WHOLE_INBOX} }`, { id: 2 }],
    ['an alias', `{ mine: inbox(subscriberId: "${OTHER}") ${WHOLE_INBOX} }`, {}],
    ['a fragment', `{ ...Theirs } fragment Theirs on Query { inbox(subscriberId: "${OTHER}") ${WHOLE_INBOX} }`, {}],
    ['an inline fragment', `{ ... on Query { inbox(subscriberId: "${OTHER}") ${WHOLE_INBOX} } }`, {}],
    [
      '@include',
      `query ($on: Boolean!) { inbox(subscriberId: "${OTHER}") @include(if: $on) ${WHOLE_INBOX} }`,
      { on: true },
    ],
    [
      '@skip',
      `query ($off: Boolean!) { inbox(subscriberId: "${OTHER}") @skip(if: $off) ${WHOLE_INBOX} }`,
      { off: false },
    ],
    ['a field of a user’s module', `{ note(personId: "${OTHER}") }`, {}],
  ])('is FORBIDDEN with %s', async (_, query, variables) => {
    const { status, body, codes } = await send(query, variables);
    expect([status, codes, Object.values(body.data ?? {})]).toEqual([200, ['FORBIDDEN'], [null]]);
    expect(body.errors?.[0]?.message).toMatch(
      /^\w+Id is not the subject of the token, which permits no other\. Omit \w+Id\.$/,
    );
    expect(body.errors?.[0]?.extensions).not.toHaveProperty('upstream');
    expect(gateway.service.requests).toEqual([]);
  });

  it.each([
    '',
    ' user-1',
    'user-1 ',
    'USER-1',
    'User-1',
    'user%2D1',
    'user-1/',
    'user-1?',
    'user-1/../user-2',
    '../user-2',
    'user‐1',
    'ｕser-1',
    'user-1\u0000',
    'user-1\u200b',
    '*',
    'user-01',
    '1',
    'null',
    'user-1,user-2',
  ])('is not mistaken for the own one if the id is %j', async (id) => {
    const read = await send(`query ($id: ID) { inbox(subscriberId: $id) ${WHOLE_INBOX} }`, { id });
    expect(read.codes).toEqual(['FORBIDDEN']);
    for (const [name, input] of Object.entries(INBOX_WRITES)) {
      const text = `mutation ($id: ID) { ${name}(input: { subscriberId: $id, ${input} }) { __typename } }`;
      expect((await send(text, { id })).codes).toEqual(['FORBIDDEN']);
    }
    expect(gateway.service.requests).toEqual([]);
  });

  it('is not read beside the own one, under any name', async () => {
    const { body } = await send(
      `query ($id: ID) { a: inbox { ...F } b: inbox(subscriberId: $id) { ...F } c: inbox(subscriberId: "${OWN}") { ...F } d: inbox(subscriberId: null) { ...F } }
       fragment F on Inbox { subscriberId unseen { count } }`,
      { id: OTHER },
    );
    const own = { subscriberId: OWN, unseen: { count: 3 } };
    expect(body.data).toEqual({ a: own, b: null, c: own, d: own });
    expect(body.errors?.map(({ path }) => path)).toEqual([['b']]);
    expect(reached()).toEqual([OWN]);
  });

  it.each(Object.entries(INBOX_WRITES))('is not changed with %s, in any form', async (name, input) => {
    const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
    const value = { subscriberId: OTHER };
    for (const [text, variables] of [
      [`mutation { ${name}(input: { subscriberId: "${OTHER}", ${input} }) { __typename } }`, {}],
      [`mutation ($id: ID) { x: ${name}(input: { subscriberId: $id, ${input} }) { __typename } }`, { id: OTHER }],
      [
        `mutation ($id: ID = "${OTHER}") { ...M } fragment M on Mutation { ${name}(input: { subscriberId: $id, ${input} }) { __typename } }`,
        {},
      ],
      [
        `mutation ($input: ${type}!) { ${name}(input: $input) { ... on ${name.charAt(0).toUpperCase()}${name.slice(1)}Success { inbox ${WHOLE_INBOX} } } }`,
        { input: { ...value, ...VALUES[name] } },
      ],
      [
        `mutation ($on: Boolean!) { ${name}(input: { subscriberId: "${OTHER}", ${input} }) @include(if: $on) { __typename } }`,
        { on: true },
      ],
    ] as const) {
      const { codes, body } = await send(text, variables);
      expect([text, codes]).toEqual([text, ['FORBIDDEN']]);
      expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'FORBIDDEN', outcome: 'NOT_APPLIED' });
    }
    expect(gateway.service.requests).toEqual([]);
  });

  it('does not keep other fields of the same operation from being changed', async () => {
    const { body } = await send(`mutation {
      a: markAllMessages(input: { as: READ }) { __typename }
      b: markAllMessages(input: { subscriberId: "${OTHER}", as: READ }) { __typename }
      c: markAllMessages(input: { subscriberId: "${OWN}", as: READ }) { __typename }
    }`);
    const marked = { __typename: 'MarkAllMessagesSuccess' };
    expect(body.data).toEqual({ a: marked, b: null, c: marked });
    expect(reached()).toEqual([OWN]);
  });

  it('is not changed with a bulk mutation: nothing of it is sent, also for the person', async () => {
    const text = `mutation { writeNotes(input: { notes: [{ text: "a" }, { personId: "${OTHER}", text: "b" }] }) { succeeded } }`;
    const { codes } = await send(text);
    expect(codes).toEqual(['FORBIDDEN']);
    expect(gateway.service.requests).toEqual([]);
    const own = await send(
      'mutation { writeNotes(input: { notes: [{ text: "a" }, { text: "b" }] }) { succeeded } clearNote { __typename } }',
    );
    expect(own.body.data).toEqual({ writeNotes: { succeeded: 2 }, clearNote: { __typename: 'ClearNoteSuccess' } });
    expect(reached()).toEqual([OWN]);
    expect((await send(`mutation { clearNote(input: { personId: "${OTHER}" }) { __typename } }`)).codes).toEqual([
      'FORBIDDEN',
    ]);
    expect(reached()).toEqual([OWN]);
  });

  it('is not reached with a trusted document, a tool or an explanation', async () => {
    await using agent = await connectAgent(gateway, await bearer());
    expect((await agent.names()).toSorted()).toEqual(Object.keys(DOCUMENTS).toSorted());
    for (const [name, query] of Object.entries(DOCUMENTS)) {
      const byId = await fetch(gateway.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: await bearer() },
        body: JSON.stringify({ documentId: sha256Of(query), variables: { id: OTHER } }),
      });
      expect((await byId.json()).errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
      expect(await agent.call(name, { id: OTHER })).toMatchObject({ text: expect.stringContaining('not the subject') });
      const { body } = await sendExplain(
        gateway,
        { query, variables: { id: OTHER } },
        { authorization: await bearer() },
      );
      expect([body.errors?.map(({ extensions }) => extensions.code), body.extensions?.explain?.calls]).toEqual([
        ['FORBIDDEN'],
        [],
      ]);
    }
    expect(gateway.service.requests).toEqual([]);
  });

  it('is not reached as an entity or a node: there is none', async () => {
    const entity = `{ _entities(representations: [{ __typename: "Inbox", subscriberId: "${OTHER}" }]) { __typename } }`;
    expect((await send(entity)).codes).toEqual(['BAD_USER_INPUT']);
    expect((await send(`{ node(id: "${OTHER}") { __typename } }`)).codes).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    const typed = entity.replace('__typename }', '... on Inbox { subscriberId } }');
    expect((await send(typed)).codes).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(gateway.service.requests).toEqual([]);
  });

  it('is not reached by any field of the module: each that names a person was tried here', () => {
    const schema = createSchema(undefined, [inbox]);
    const built = createSchema();
    const fieldsOf = (of: typeof schema) =>
      [of.getQueryType(), of.getMutationType()].filter(isObjectType).flatMap((type) => Object.values(type.getFields()));
    const known = new Set(fieldsOf(built).map(({ name }) => name));
    const added = fieldsOf(schema).filter(({ name }) => !known.has(name));
    expect(added.map(({ name }) => name).toSorted()).toEqual(['inbox', ...Object.keys(INBOX_WRITES)].toSorted());
    for (const { args } of added) {
      const names = args.flatMap(({ name, type }) => {
        const named = getNamedType(type);
        return isInputObjectType(named) ? Object.keys(named.getFields()) : [name];
      });
      expect(names).toContain('subscriberId');
    }
  });
});

describe('the own inbox', () => {
  it('is that of the subject, which can be named or omitted', async () => {
    for (const query of [`{ inbox ${WHOLE_INBOX} }`, `{ inbox(subscriberId: "${OWN}") ${WHOLE_INBOX} }`]) {
      const { body } = await send(query);
      expect(body.errors).toBeUndefined();
      expect(body.data).toMatchObject({ inbox: { subscriberId: OWN } });
    }
    for (const [name, input] of Object.entries(INBOX_WRITES)) {
      const { body } = await send(`mutation { ${name}(input: { ${input} }) { __typename } }`);
      expect(JSON.stringify(body.data)).toMatch(/Success"/);
    }
    expect(reached()).toEqual([OWN]);
  });

  it('is that of an id with characters that paths encode', async () => {
    for (const sub of ['auth0|4711', 'a%40b', 'ü@example.com', '4711']) {
      gateway.service.forget();
      expect((await send(`{ inbox ${WHOLE_INBOX} }`, {}, { sub })).codes).toEqual([]);
      expect(reached()).toEqual([sub]);
    }
  });

  it('is that of a client token’s subject', async () => {
    const issue = async (subject?: string) => {
      const response = await fetch(new URL('/client-tokens', gateway.url), {
        method: 'POST',
        headers: { authorization: `ApiKey ${TENANT_KEYS.acme}`, 'content-type': 'application/json' },
        body: JSON.stringify({ scopes: ['inbox:read'], ...(subject !== undefined && { subject }) }),
      });
      return `Bearer ${(await response.json()).token}`;
    };
    const [own, none] = [await issue(OWN), await issue()];
    gateway.service.forget();
    const query = 'query ($id: ID) { inbox(subscriberId: $id) { unseen { count } } }';
    expect((await gateway.send(query, {}, { authorization: own })).codes).toEqual([]);
    expect((await gateway.send(query, { id: OTHER }, { authorization: own })).codes).toEqual(['FORBIDDEN']);
    expect((await gateway.send(query, { id: OTHER }, { authorization: none })).codes).toEqual(['FORBIDDEN']);
    expect((await gateway.send(query, {}, { authorization: none })).body.errors?.[0]?.message).toContain(
      'subject of this token is missing',
    );
    expect(reached()).toEqual([OWN]);
  });

  it.each<[string, Claims, string]>([
    ['no subject', { sub: undefined }, 'is missing'],
    ['an empty subject', { sub: '' }, 'is missing'],
    [
      'a subject with a space around it, which the service would trim',
      { sub: ' user-2' },
      'must not begin or end with a space',
    ],
    ['a subject that leads to another path', { sub: '../user-2' }, 'must not contain the path segments'],
    ['a subject with a slash, which proxies may take for a separator', { sub: 'user-2/x' }, 'must not contain "/"'],
    ['a subject with an encoded backslash', { sub: 'user-2%5Cx' }, 'must not contain "/"'],
    ['a subject that is too long', { sub: 'a'.repeat(257) }, 'must not be longer than 256 characters'],
  ])('does not exist for a token with %s', async (_, claims, reason) => {
    for (const text of [
      `{ inbox ${WHOLE_INBOX} }`,
      `{ inbox(subscriberId: "${OTHER}") ${WHOLE_INBOX} }`,
      'mutation { markAllMessages(input: { as: READ }) { __typename } }',
      `mutation { markMessages(input: { subscriberId: "${OTHER}", messageIds: ["${SHARED_ID}"], as: READ }) { __typename } }`,
    ]) {
      const { codes, body } = await send(text, {}, claims);
      expect([codes, body.errors?.[0]?.message]).toEqual([['FORBIDDEN'], expect.stringContaining(reason)]);
    }
    expect(gateway.service.requests).toEqual([]);
  });

  it.each([[4711], [['user-2']], [{ toString: 'user-2' }], [true]])(
    'does not exist for a token whose subject is %j: it is invalid',
    async (sub) => {
      const { status, body } = await send(`{ inbox ${WHOLE_INBOX} }`, {}, { sub });
      expect([status, body.errors?.[0]?.extensions.reason]).toEqual([401, 'TOKEN_INVALID']);
      expect(gateway.service.requests).toEqual([]);
    },
  );
});

it('a mutation of records that belong to no person needs no subject', async () => {
  const text = 'mutation { deleteMessagesByTransaction(input: { transactionId: "t1" }) { __typename } }';
  for (const authorization of [await bearer({ sub: undefined }), 'ApiKey of-a-server']) {
    const { body } = await gateway.send(text, {}, { authorization });
    expect(body).toEqual({
      data: { deleteMessagesByTransaction: { __typename: 'DeleteMessagesByTransactionSuccess' } },
    });
  }
});

describe('an API key', () => {
  it('reaches the inbox of everybody, whom it must name', async () => {
    const asServer = (query: string) => gateway.send(query, {}, { authorization: 'ApiKey a' });
    for (const id of [OWN, OTHER]) {
      expect((await asServer(`{ inbox(subscriberId: "${id}") ${WHOLE_INBOX} }`)).codes).toEqual([]);
    }
    expect(new Set(reached())).toEqual(new Set([OWN, OTHER, undefined])); // The key is tried once.
    gateway.service.forget();
    for (const text of [
      `{ inbox ${WHOLE_INBOX} }`,
      `{ inbox(subscriberId: null) ${WHOLE_INBOX} }`,
      ...Object.entries(INBOX_WRITES).map(
        ([name, input]) => `mutation { ${name}(input: { ${input} }) { __typename } }`,
      ),
      'mutation { clearNote { __typename } }',
    ]) {
      const { codes, body } = await asServer(text);
      expect([codes, body.errors?.[0]?.message]).toEqual([
        ['BAD_USER_INPUT'],
        expect.stringMatching(/^\w+Id is required with an API key/),
      ]);
    }
    expect((await asServer(`{ inbox(subscriberId: "..") ${WHOLE_INBOX.replace('subscriberId ', '')} }`)).codes).toEqual(
      Array(5).fill('BAD_USER_INPUT'),
    );
    expect(gateway.service.requests).toEqual([]);
  });

  it('is needed, or a token', async () => {
    const { status, codes } = await gateway.send(
      `{ inbox(subscriberId: "${OTHER}") ${WHOLE_INBOX} }`,
      {},
      { authorization: null },
    );
    expect([status, codes]).toEqual([401, ['UNAUTHENTICATED']]);
    expect(gateway.service.requests).toEqual([]);
  });
});

describe('an issuer with another claim for the subject', () => {
  const issuers = (subjectClaim: string) => [
    { issuer: ISSUER, audience: 'notigraph-test', publicKey: signer.publicKey, tenantClaim: 'tenant', subjectClaim },
  ];
  const start = (subjectClaim: string, rateLimit?: { calls: number; perSeconds: number }) =>
    startGateway({
      service: inboxService,
      modules: [inbox],
      clients: clientsOf(signer, {
        scopes: ['inbox:read'],
        issuers: issuers(subjectClaim),
        ...(rateLimit && { rateLimit }),
      }),
    });
  const QUERY = 'query ($id: ID) { inbox(subscriberId: $id) { unseen { count } } }';
  const read = async (own: GatewayWithService, claims: Claims, id?: string) =>
    own.send(QUERY, { id }, { authorization: await bearer(claims) });

  it.each([
    ['user_id', { user_id: OWN }],
    ['https://example.com/user', { 'https://example.com/user': OWN }],
    ['app_metadata.user', { app_metadata: { user: OWN } }],
  ])('%s reaches only the inbox that it names', async (claim, claims) => {
    await using own = await start(claim);
    const all = { sub: OTHER, ...claims };
    expect((await read(own, all)).codes).toEqual([]);
    expect((await read(own, all, OTHER)).codes).toEqual(['FORBIDDEN']);
    expect((await read(own, { sub: OTHER })).codes).toEqual(['FORBIDDEN']);
    expect((await read(own, { sub: OTHER }, OTHER)).codes).toEqual(['FORBIDDEN']);
    expect(own.service.requests.map(subscriberIn)).toEqual([OWN]);
    const invalid = claim === 'app_metadata.user' ? { app_metadata: { user: 1 } } : { [claim]: 1 };
    expect((await read(own, { sub: OTHER, ...invalid })).status).toBe(401);
    expect((await read(own, { ...all, sub: 1 })).status).toBe(401);
  });

  it('is the one that the rate limit counts by, too', async () => {
    await using own = await start('user_id', { calls: 1, perSeconds: 60 });
    expect((await read(own, { sub: 'a', user_id: OWN })).status).toBe(200);
    expect((await read(own, { sub: 'b', user_id: OWN })).status).toBe(429);
    expect((await read(own, { sub: 'a', user_id: OTHER })).status).toBe(200);
  });
});

/** Inputs of the writes as variables. */
const VALUES: Readonly<Record<string, object>> = {
  markMessages: { messageIds: [SHARED_ID], as: 'READ' },
  markAllMessages: { as: 'SEEN' },
  completeMessageAction: { messageId: SHARED_ID, button: 'primary' },
  updateWorkflowPreference: { workflowId: WORKFLOW_ID, channel: 'EMAIL', enabled: false },
  updateGlobalPreferences: { channels: [{ channel: 'EMAIL', enabled: false }] },
  deleteInboxMessages: { messageIds: [SHARED_ID] },
};
