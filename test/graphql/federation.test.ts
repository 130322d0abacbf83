import { writeFile } from 'node:fs/promises';
import { composeServices } from '@theguild/federation-composition';
import { buildSchema, findBreakingChanges, lexicographicSortSchema, parse, printSchema, printType } from 'graphql';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { defineModule } from '../../src/modules/index.ts';
import { createSchema } from '../../src/modules/schema.ts';
import { printSubgraph } from '../../src/modules/toolkit/federation.ts';
import { SCOPES, type Scope } from '../../src/settings/scopes.ts';
import { blocks, read, runCurl } from '../support/docs.ts';
import { sendExplain } from '../support/explain.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { group, workflow } from '../support/records.ts';
import { createTemporaryFolder } from '../support/sandbox-files.ts';
import type { Script } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('src/documents/operations/required-scopes.ts', 'findRepresentations');
guards('src/modules/toolkit/federation.ts', 'createResolveReference.invalid');
guards('src/modules/toolkit/federation.ts', 'createServiceField.resolve');
guards('src/modules/toolkit/federation.ts', 'findUnknownDirectives');
guards('src/modules/types/workflow.ts', 'workflows.loadBy');
guards('src/documents/engine.ts', 'checkRepresentations');
guards('src/modules/toolkit/federation.ts', 'createResolveReference');

const SUBGRAPH = printSubgraph(createSchema());
const DOCS = read('docs/federation.md');
const ROUTER_SECRET = 'a-secret-of-the-router-for-tests';
const ENTITIES = `query ($representations: [_Any!]!) {
  _entities(representations: $representations) {
    __typename
    ... on Workflow { id identifier notificationGroup { name } }
    ... on NotificationGroup { groupId: id name }
  }
}`;

const groupOf = (number: string | number) => group({ _id: `g${number}`, name: `Group ${number}` });

const workflowOf = (number: string) =>
  workflow({
    _id: `w${number}`,
    triggers: [{ identifier: `wf-${number}`, variables: [] }],
    _notificationGroupId: `g${number}`,
  });

const signer = createSigner();
let gateway: GatewayWithService;
beforeAll(async () => {
  const script: Script = ({ path }) => {
    const [, , noun, key] = path.split('/');
    const number = /^(?:g|w|wf-)(\d+)$/.exec(key ?? '')?.[1];
    if (noun === 'notification-groups' && key === undefined) {
      return { body: { data: Array.from({ length: 100 }, (_, i) => groupOf(i)) } };
    }
    if (number === undefined) {
      return { status: 404, body: { statusCode: 404, message: 'not found' } };
    }
    return { body: { data: noun === 'workflows' ? workflowOf(number) : groupOf(number) } };
  };
  const federation = { routerSecret: ROUTER_SECRET };
  gateway = await startGateway({ service: script, clients: clientsOf(signer), federation, introspection: false });
  return () => gateway[Symbol.asyncDispose]();
});
beforeEach(() => gateway.service.forget());

const calls = () => gateway.service.requests.map(({ path }) => path);

const references = (typeName: string, prefix: string, count: number, key = 'id') =>
  Array.from({ length: count }, (_, i) => ({ __typename: typeName, [key]: `${prefix}${i}` }));

const entities = (representations: readonly unknown[]) => gateway.send(ENTITIES, { representations });

describe('the schema of the subgraph', () => {
  it('is that of the gateway, with two more root fields', () => {
    const [plain, subgraph] = [createSchema(), createSchema({ federation: true, introspection: true })];
    expect(findBreakingChanges(plain, subgraph)).toEqual([]);
    const added = Object.keys(subgraph.getTypeMap()).filter((name) => plain.getType(name) === undefined);
    expect(added.toSorted()).toEqual(['_Any', '_Entity', '_Service']);
    for (const [name, type] of Object.entries(plain.getTypeMap()).filter(([name]) => name !== 'Query')) {
      expect(printType(subgraph.getTypeMap()[name] ?? type)).toBe(printType(type));
    }
  });

  it('differs in its text only by the keys, and by the types that others can have too', () => {
    const withoutKeys = SUBGRAPH.replace(/^extend schema .*\n\n/, '').replace(/ @(key\([^)]*\)|shareable)/g, '');
    const plain = printSchema(lexicographicSortSchema(createSchema()));
    expect(printSchema(lexicographicSortSchema(buildSchema(withoutKeys)))).toBe(plain);
    expect(SUBGRAPH.match(/^type .*@shareable.*(?= \{)/gm)).toEqual([
      'type ConflictError implements MutationError @shareable',
      'type InputIssue @shareable',
      'type InvalidInputError implements MutationError @shareable',
      'type NotFoundError implements MutationError @shareable',
      'type UpstreamFailure implements MutationError @shareable',
    ]);
    expect(SUBGRAPH.match(/^type .*@key.*(?= \{)/gm)).toEqual([
      'type Feed @key(fields: "id", resolvable: false)',
      'type NotificationGroup @key(fields: "id")',
      'type Subscriber @key(fields: "subscriberId", resolvable: false)',
      'type Workflow @key(fields: "id") @key(fields: "identifier")',
    ]);
  });

  it('composes with the subgraph of docs/federation.md, and with one that adds fields to feeds', () => {
    const [campaigns = ''] = blocks(DOCS, 'graphql');
    const [link = ''] = campaigns.split('\n');
    const feeds = `${link} type Feed @key(fields: "id") { id: ID color: String }`;
    const { supergraphSdl, errors } = composeServices([
      { name: 'notifications', typeDefs: parse(SUBGRAPH), url: 'http://127.0.0.1/a' },
      { name: 'campaigns', typeDefs: parse(campaigns), url: 'http://127.0.0.1/b' },
      { name: 'feeds', typeDefs: parse(feeds), url: 'http://127.0.0.1/c' },
    ]);
    expect(errors).toBeUndefined();
    expect(supergraphSdl).toContain('@join__type(graph: NOTIFICATIONS, key: "identifier")');
  });

  it('composes with a subgraph that has errors and enums of the same names', () => {
    const names = ['ConflictError', 'InputIssue', 'InvalidInputError', 'NotFoundError', 'UpstreamFailure'];
    const enums = ['Channel', 'ConflictReason', 'MutationErrorCode', 'WriteOutcome'];
    const schema = createSchema();
    const types = [...names, ...enums, 'MutationError'].map((name) => schema.getTypeMap()[name]);
    const shared = types.map((type) => (type === undefined ? expect.unreachable() : printType(type))).join('\n');
    const other = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", import: ["@shareable"])
      ${shared.replace(/^(type [^{]*) \{/gm, '$1 @shareable {')}
      type Query { failures: [MutationError] channels: [Channel] }`;
    const { supergraphSdl, errors } = composeServices([
      { name: 'notifications', typeDefs: parse(printSubgraph(schema)), url: 'http://127.0.0.1/a' },
      { name: 'orders', typeDefs: parse(other), url: 'http://127.0.0.1/b' },
    ]);
    expect(errors).toBeUndefined();
    expect(supergraphSdl).toMatch(/type NotFoundError[^{]*@join__type\(graph: ORDERS\)/);
  });

  /** Module whose types and fields have directives. */
  const tagged = (directives: object = { tag: [{ name: 'a "b"' }, { name: 'c' }], override: { from: 'legacy' } }) =>
    defineModule('offers', ({ builder, entity, requireScopes }) => {
      const Offer = builder.objectRef<{ id: string }>('Offer').implement({
        extensions: {
          ...requireScopes('offers:read'),
          ...entity({ id: null }),
          directives: { tag: { name: 'public' } },
        },
        fields: (t) => ({
          id: t.exposeID('id'),
          price: t.int({ extensions: { directives: { inaccessible: {} } }, resolve: () => 1 }),
          title: t.string({ extensions: { directives: { shareable: {} } }, resolve: () => 'A' }),
        }),
      });
      const OfferInput = builder.inputType('OfferInput', {
        fields: (t) => ({ old: t.boolean({ extensions: { directives: { inaccessible: {} } } }), name: t.string() }),
      });
      builder.queryField('offer', (t) =>
        t.field({
          type: Offer,
          nullable: true,
          extensions: { directives },
          args: { offer: t.arg({ type: OfferInput }) }, // The directives of the field are not those of its argument.
          resolve: () => null,
        }),
      );
    });

  it('has the directives that modules declare, and composes with them', () => {
    const sdl = printSubgraph(createSchema(undefined, [tagged()]));
    expect(sdl).toContain('type Offer @key(fields: "id", resolvable: false) @tag(name: "public") {');
    expect(sdl).toMatch(/^ {2}price: Int! @inaccessible$/m);
    expect(sdl).toMatch(/^ {2}title: String! @shareable$/m);
    expect(sdl).toMatch(/^ {2}old: Boolean @inaccessible$/m);
    expect(sdl).toMatch(
      /^ {2}offer\(offer: OfferInput\): Offer @tag\(name: "a \\"b\\""\) @tag\(name: "c"\) @override\(from: "legacy"\)$/m,
    );
    const legacy = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", import: ["@key", "@shareable"])
      type Offer @key(fields: "id") { id: ID! title: String! @shareable }
      input OfferInput { name: String }
      type Query { offer(offer: OfferInput): Offer @shareable }`;
    const { publicSdl = '', errors } = composeServices([
      { name: 'notifications', typeDefs: parse(sdl), url: 'http://127.0.0.1/a' },
      { name: 'legacy', typeDefs: parse(legacy), url: 'http://127.0.0.1/b' },
    ]);
    expect(errors).toBeUndefined();
    expect(publicSdl).toMatch(/type Offer \{\s+id: ID!\s+title: String!\s+\}/);
  });

  it.each([
    [{ inaccesible: {} }, '@inaccesible'],
    [{ tag: 'public' }, '@tag(: "public")'],
    [{ tag: { name: 'a', extra: 'b' } }, '@tag(name: "a")(extra: "b")'],
    [{ override: { from: 5 } }, '@override(from: 5)'],
    [['shareable'], '@0(: "shareable")'],
  ])('refuses a module with other directives: %j', (directives, printed) => {
    expect(() => createSchema(undefined, [tagged(directives)])).toThrow(
      `the module offers fails: Query.offer has the directive ${printed}; use shareable: {}`,
    );
  });
});

describe('_entities', () => {
  it('loads 100 groups with one call', async () => {
    const { body } = await entities(references('NotificationGroup', 'g', 100));
    expect(body.data?._entities).toHaveLength(100);
    expect(body.data?._entities).toContainEqual({ __typename: 'NotificationGroup', groupId: 'g99', name: 'Group 99' });
    expect(calls()).toEqual(['/v1/notification-groups']);
  });

  it('loads each workflow once, all groups with one call, and stays within the call budget', async () => {
    const twice = [...references('Workflow', 'w', 5), ...references('Workflow', 'w', 5)];
    const { body } = await entities(twice);
    expect(body.errors).toBeUndefined();
    expect(calls()).toHaveLength(6);
    gateway.service.forget();
    const { body: beyond } = await gateway.send(
      'query ($r: [_Any!]!) { _entities(representations: $r) { ... on Workflow { id } } }',
      { r: references('Workflow', 'w', 60) },
    );
    expect(calls()).toHaveLength(50);
    expect(beyond.data?._entities).toEqual([
      ...Array.from({ length: 50 }, (_, i) => ({ id: `w${i}` })),
      ...Array(10).fill(null),
    ]);
    expect(new Set(beyond.errors?.map(({ extensions }) => extensions?.code))).toEqual(new Set(['BUDGET_EXCEEDED']));
  });

  it('finds a workflow by exactly the key of the reference; a missing record is null without an error', async () => {
    const { body } = await entities([
      { __typename: 'Workflow', identifier: 'wf-7' },
      { __typename: 'Workflow', id: 'wf-7' },
      { __typename: 'Workflow', identifier: 'w7' },
      { __typename: 'Workflow', id: 'none' },
      { __typename: 'NotificationGroup', id: 'none' },
    ]);
    expect(body.errors).toBeUndefined();
    expect(body.data?._entities).toEqual([
      { __typename: 'Workflow', id: 'w7', identifier: 'wf-7', notificationGroup: { name: 'Group 7' } },
      null,
      null,
      null,
      null,
    ]);
  });

  it('finds a workflow by its id if the service sends integers as ids', async () => {
    await using subgraph = await startGateway({
      service: () => ({ body: { data: { ...workflow(), _id: 7 } } }),
      federation: true,
    });
    const { body } = await subgraph.send(
      '{ _entities(representations: [{ __typename: "Workflow", id: 7 }]) { ... on Workflow { id } } }',
    );
    expect(body).toEqual({ data: { _entities: [{ id: '7' }] } });
  });

  it.each([
    ['a type without an endpoint', { __typename: 'Subscriber', subscriberId: 's1' }],
    ['an unknown type', { __typename: 'constructor', id: 'f1' }],
    ['a type name that is no string', { __typename: { toString: 1 }, id: 'f1' }],
    ['no key', { __typename: 'Workflow', name: 'n' }],
    ['a key that is an object', { __typename: 'Workflow', id: { _id: 'w1' } }],
    ['a key that leaves the path', { __typename: 'NotificationGroup', id: '..' }],
  ])('a reference with %s fails only itself, without a call', async (_, representation) => {
    const { body, codes } = await entities([representation]);
    expect({ data: body.data, codes }).toEqual({ data: { _entities: [null] }, codes: ['BAD_USER_INPUT'] });
    expect(calls()).toEqual([]);
    expect(body.errors?.[0]?.message).not.toContain(': '); // No names of types and keys without introspection.
    const both = await entities([representation, { __typename: 'NotificationGroup', id: 'g1' }]);
    expect(both.body.data?._entities).toEqual([null, expect.objectContaining({ groupId: 'g1' })]);
  });

  it('counts representations of all its fields as fields of the document, before any call', async () => {
    const twice = `query ($a: [_Any!]!, $b: [_Any!]!) {
      a: _entities(representations: $a) { __typename }
      ...B
    }
    fragment B on Query { b: _entities(representations: $b) { __typename } }`;
    const half = references('NotificationGroup', 'g', 248);
    expect((await gateway.send(twice, { a: half, b: half })).status).toBe(200);
    gateway.service.forget();
    const { status, codes } = await gateway.send(twice, { a: half, b: [...half, half[0]] });
    expect({ status, codes }).toEqual({ status: 400, codes: ['DOCUMENT_LIMIT_EXCEEDED'] });
    expect(calls()).toEqual([]);
  });
});

describe('the REST calls of _entities', () => {
  const LOADED = [{ __typename: 'Workflow', identifier: 'wf-1' }, ...references('NotificationGroup', 'g', 3)];

  it('are explained like those of other fields, without a call', async () => {
    const { body } = await sendExplain(
      gateway,
      { query: ENTITIES, variables: { representations: LOADED } },
      { authorization: 'ApiKey explained' },
    );
    const lines = body.extensions?.explain?.calls.map(
      ({ route, fields, min, max }) => `${route} ${min}..${max} ${fields}`,
    );
    expect(lines?.slice(0, 2)).toEqual([
      '/v1/workflows/{workflowIdOrIdentifier} 1..1 Query._entities',
      '/v1/notification-groups 1..1 Query._entities,Workflow.notificationGroup',
    ]);
    expect(body.data).toEqual({ _entities: null });
    expect(calls()).toEqual([]);
  });

  it('are reported by field', async () => {
    const { body } = await gateway.send(
      ENTITIES,
      { representations: LOADED },
      { authorization: 'ApiKey reported', extensions: { upstream: true } },
    );
    expect(body.extensions?.upstream).toMatchObject({
      calls: 2,
      fields: { 'Query._entities': 2, 'Workflow.notificationGroup': 1 },
    });
  });
});

describe('the scopes of _entities', () => {
  const GROUP = { __typename: 'NotificationGroup', id: 'g1' };
  const LITERAL = '{ __typename: "NotificationGroup", id: "g1" }';

  /** Sends an operation with a token that lacks a scope. */
  async function sendWithout(denied: Scope, query: string, variables?: Record<string, unknown>) {
    const authorization = await signer.bearer({ scope: SCOPES.filter((scope) => scope !== denied).join(' ') });
    return gateway.send(query, variables, { authorization });
  }

  it.each<[string, string, Record<string, unknown>?]>([
    ['a variable', ENTITIES.replace(/\.\.\. on Not.*/, ''), { representations: [GROUP] }],
    [
      'a variable that is no list',
      'query ($r: [_Any!]!) { _entities(representations: $r) { __typename } }',
      { r: GROUP },
    ],
    [
      'one of several',
      'query ($r: [_Any!]!) { _entities(representations: $r) { __typename } }',
      { r: [{ __typename: 'Workflow', id: 'w1' }, GROUP] },
    ],
    ['a literal', `{ _entities(representations: [${LITERAL}]) { __typename } }`],
    ['a literal that is no list', `{ _entities(representations: ${LITERAL}) { __typename } }`],
    ['an item', 'query ($r: _Any!) { _entities(representations: [$r]) { __typename } }', { r: GROUP }],
    [
      'a type name',
      'query ($t: _Any!) { _entities(representations: [{ __typename: $t, id: "g1" }]) { __typename } }',
      { t: 'NotificationGroup' },
    ],
    ['a default', `query ($r: [_Any!]! = [${LITERAL}]) { _entities(representations: $r) { __typename } }`],
    [
      'a default of a special name',
      `query ($constructor: [_Any!]! = [${LITERAL}]) { _entities(representations: $constructor) { __typename } }`,
    ],
    ['an alias', 'query ($r: [_Any!]!) { workflow: _entities(representations: $r) { __typename } }', { r: [GROUP] }],
    [
      'a fragment',
      'query ($r: [_Any!]!) { ...F } fragment F on Query { ... { _entities(representations: $r) { __typename } } }',
      { r: [GROUP] },
    ],
  ])('are those of the types in %s, and are checked before any call', async (_, query, variables) => {
    const refused = await sendWithout('groups:read', query, variables);
    expect({ status: refused.status, codes: refused.codes }).toEqual({ status: 403, codes: ['FORBIDDEN'] });
    expect(calls()).toEqual([]);
    expect((await sendWithout('feeds:read', query, variables)).status).not.toBe(403);
  });
});

describe('_service', () => {
  const SERVICE = '{ _service { sdl } }';
  const router = (secret: string) => ({ headers: { 'router-authorization': secret } });

  it('without introspection, returns the schema only to a router with the secret', async () => {
    for (const request of [{}, router(''), router(`${ROUTER_SECRET}x`), router(ROUTER_SECRET.slice(1))]) {
      const { body, codes } = await gateway.send(SERVICE, {}, request);
      expect({ data: body.data, codes }).toEqual({ data: null, codes: ['FORBIDDEN'] });
    }
    expect(await gateway.data(SERVICE, {}, router(ROUTER_SECRET))).toEqual({ _service: { sdl: SUBGRAPH } });
    const [curl = ''] = blocks(DOCS, 'sh');
    const response = await runCurl(curl.replace('$ROUTER_SECRET', ROUTER_SECRET), gateway.url.replace('/graphql', ''));
    expect(await response.json()).toEqual({ data: { _service: { sdl: SUBGRAPH } } }); // It has no credential.
    const introspection = await gateway.send('{ __type(name: "Query") { name } }', {}, router(ROUTER_SECRET));
    expect(introspection.codes).toEqual(['GRAPHQL_VALIDATION_FAILED']);
  });

  it('accepts the secret in a file', async () => {
    await using folder = await createTemporaryFolder();
    const file = folder.path('secret');
    const start = () =>
      startGateway({ upstream: gateway.service.url, federation: { routerSecret: { file } }, introspection: false });
    await expect(start()).rejects.toThrow(`the file ${file} doesn't exist`);
    await writeFile(file, `${ROUTER_SECRET}\n`);
    await using own = await start();
    expect((await own.send(SERVICE)).codes).toEqual(['FORBIDDEN']);
    expect(await own.data(SERVICE, {}, router(ROUTER_SECRET))).toEqual({ _service: { sdl: SUBGRAPH } });
  });

  it('with introspection, returns the schema to everyone; without the setting, it does not exist', async () => {
    await using open = await startGateway({ upstream: gateway.service.url, federation: true });
    expect(await open.data(SERVICE)).toEqual({ _service: { sdl: SUBGRAPH } });
    const invalid = await open.send(ENTITIES, {
      representations: [{ __typename: 'Feed' }, { __typename: 'Workflow' }],
    });
    expect(invalid.body.errors?.map(({ message }) => message)).toEqual([
      'A representation must have the __typename of a resolvable entity: NotificationGroup or Workflow.',
      'A representation of Workflow must have a key as a string: id or identifier.',
    ]);
    await using plain = await startGateway({ upstream: gateway.service.url });
    expect((await plain.send(SERVICE)).codes).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect((await plain.send(ENTITIES, { representations: [] })).status).toBe(400);
  });
});
