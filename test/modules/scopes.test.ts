import { ObjectFieldBuilder } from '@pothos/core';
import { getNamedType, isCompositeType, isObjectType } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { declareCalls } from '../../src/graphql/declared-calls.ts';
import { scopesOf } from '../../src/graphql/scopes.ts';
import { defineModule, type GatewayModule, type Toolkit } from '../../src/modules/index.ts';
import { ModuleError } from '../../src/modules/module.ts';
import { createSchema, printSdl } from '../../src/modules/schema.ts';
import events from '../../src/modules/shipped/events.ts';
import inbox from '../../src/modules/shipped/inbox.ts';
import messages from '../../src/modules/shipped/messages.ts';
import subscriberProfiles from '../../src/modules/shipped/subscribers.ts';
import topics from '../../src/modules/shipped/topics.ts';
import workflowPages from '../../src/modules/shipped/workflows.ts';
import type { GraphTypes } from '../../src/modules/toolkit/builder.ts';
import { subscribers } from '../../src/modules/types/subscriber.ts';
import { workflows } from '../../src/modules/types/workflow.ts';
import type { Scope } from '../../src/settings/scopes.ts';
import { type GatewayWithService, startGateway } from '../support/gateway.ts';
import { group, workflow } from '../support/records.ts';
import type { Script } from '../support/service.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';
import { layouts } from './example.ts';

// A token needs the scopes of all that it can get, wherever they are declared.

const signer = createSigner();

/** Module with a scope on every kind of type, and on fields that others reach through interfaces. Its root fields require `groups:read` only. */
const vault = defineModule('vault', ({ builder, requireScopes }) => {
  const open = requireScopes('groups:read');
  const Level = builder.enumType('Level', {
    description: 'A level.',
    extensions: requireScopes('levels:read'),
    values: { LOW: { description: 'Low.' } } as const,
  });
  const Code = builder.scalarType('Code' as 'JSON', {
    extensions: requireScopes('codes:read'),
    serialize: String,
  });
  const Named = builder.interfaceRef<{ name: string }>('Named').implement({
    description: 'Something with a name.',
    fields: (t) => ({
      name: t.exposeString('name', { description: 'The name.' }),
      pin: t.int({ description: 'A number.', resolve: () => 1 }),
    }),
  });
  const isTypeOf = (wanted: string) => (value: unknown) => Reflect.get(Object(value), 'name') === wanted;
  const Plain = builder.objectRef<{ name: string }>('Plain').implement({
    interfaces: [Named],
    isTypeOf: isTypeOf('plain'),
    fields: (t) => ({ size: t.int({ description: 'A size.', resolve: () => 1 }) }),
  });
  builder.objectRef<{ name: string }>('Pinned').implement({
    interfaces: [Named],
    isTypeOf: isTypeOf('pinned'),
    fields: (t) => ({
      pin: t.int({ extensions: requireScopes('pins:read'), description: 'A number.', resolve: () => 1 }),
    }),
  });
  const Shelf = builder.interfaceRef<{ name: string }>('Shelf').implement({
    description: 'A shelf.',
    fields: (t) => ({ row: t.int({ description: 'A row.', resolve: () => 1 }) }),
  });
  const Safe = builder.objectRef<{ name: string }>('Safe').implement({
    interfaces: [Shelf],
    extensions: requireScopes('safes:read'),
    isTypeOf: isTypeOf('safe'),
    fields: () => ({}),
  });
  const Drawer = builder.objectRef<{ name: string }>('Drawer').implement({
    interfaces: [Shelf],
    isTypeOf: isTypeOf('drawer'),
    fields: () => ({}),
  });
  const Locked = builder.interfaceRef<{ name: string }>('Locked').implement({
    extensions: requireScopes('locks:read'),
    fields: (t) => ({
      key: t.int({ extensions: requireScopes('keys:read'), resolve: () => 1 }),
    }),
  });
  const Door = builder.objectRef<{ name: string }>('Door').implement({
    interfaces: [Locked],
    isTypeOf: isTypeOf('door'),
    fields: (t) => ({ width: t.int({ description: 'The width.', resolve: () => 1 }) }),
  });
  const Either = builder.unionType('Either', {
    extensions: requireScopes('unions:read'),
    types: [Plain],
  });
  const Mixed = builder.unionType('Mixed', { description: 'One of them.', types: [Drawer, Safe] });
  const named = (name: string) => () => ({ name });
  builder.queryFields((t) => ({
    level: t.field({ type: Level, extensions: open, description: 'It.', resolve: () => 'LOW' as const }),
    levels: t.field({ type: [Level], extensions: open, resolve: () => ['LOW' as const] }),
    code: t.field({ type: Code, extensions: open, resolve: () => 'c' }),
    plain: t.field({ type: Plain, extensions: open, resolve: named('plain') }),
    pinned: t.field({ type: Named, extensions: open, resolve: named('pinned') }),
    shelf: t.field({ type: Shelf, extensions: open, resolve: named('safe') }),
    door: t.field({ type: Door, extensions: open, resolve: named('door') }),
    either: t.field({ type: Either, extensions: open, resolve: named('plain') }),
    mixed: t.field({ type: Mixed, extensions: open, resolve: named('safe') }),
  }));
  builder.objectField(Plain, 'level', (t) => t.field({ type: Level, resolve: () => 'LOW' as const }));
});

describe('a token with only groups:read gets nothing of another scope', () => {
  let gateway: GatewayWithService;
  beforeAll(async () => {
    const clients = clientsOf(signer, { scopes: scopesOf(createSchema(undefined, [vault])) }); // Each can be granted.
    gateway = await startGateway({ service: () => ({}), modules: [vault], clients });
    return () => gateway[Symbol.asyncDispose]();
  });

  it.each<[string, string, Scope[]]>([
    ['an open object', '{ plain { name size } }', []],
    ['an enum', '{ level }', ['levels:read']],
    ['a list of an enum', '{ levels }', ['levels:read']],
    ['an enum of a nested field', '{ plain { level } }', ['levels:read']],
    ['a scalar', '{ code }', ['codes:read']],
    ['an open field of an interface', '{ pinned { name } }', []],
    ['a field of an interface whose implementing type has a scope for it', '{ pinned { pin } }', ['pins:read']],
    ['that field in a fragment', '{ plain { ...F } } fragment F on Named { pin }', ['pins:read']],
    ['a record through an interface', '{ shelf { row } }', ['safes:read']],
    ['only its name', '{ shelf { __typename } }', ['safes:read']],
    ['the type of an interface with a scope', '{ door { width } }', ['locks:read']],
    ['a field of that type with a scope in its interface', '{ door { key } }', ['locks:read', 'keys:read']],
    ['a union', '{ either { __typename } }', ['unions:read']],
    ['a record through a union', '{ mixed { __typename ... on Drawer { row } } }', ['safes:read']],
  ])('%s', async (_, query, needed) => {
    const scopes: Scope[] = ['groups:read', ...needed];
    const send = async (granted: readonly Scope[]) =>
      gateway.send(query, {}, { authorization: await signer.bearer({ scope: granted.join(' ') }) });
    for (const missing of scopes) {
      const { status, body } = await send(scopes.filter((scope) => scope !== missing));
      expect({ status, missing: body.errors?.map(({ extensions }) => extensions.scope) }).toEqual({
        status: 403,
        missing: [missing],
      });
    }
    expect((await send(scopes)).codes).toEqual([]);
  });

  it('and the descriptions name what it needs', () => {
    const sdl = printSdl(createSchema(undefined, [vault]));
    expect(sdl).toContain('Token scopes: `groups:read`, `levels:read`.\n  """\n  level: Level!');
    expect(sdl).toContain('Token scope: `levels:read`.\n"""\nenum Level');
    expect(sdl).toContain('Token scope: `pins:read`.\n  """\n  pin: Int!');
  });
});

describe('the modules that are shipped, and one of a user', () => {
  const modules: readonly GatewayModule[] = [
    events,
    inbox,
    messages,
    subscriberProfiles,
    topics,
    workflowPages,
    layouts,
  ];

  it('have no root field that a token without its scopes can use', async () => {
    const schema = createSchema(undefined, modules);
    const clients = clientsOf(signer, { scopes: scopesOf(schema) });
    await using gateway = await startGateway({ service: () => ({}), modules, clients });
    const authorization = await signer.bearer({ scope: '' });
    for (const root of [schema.getQueryType(), schema.getMutationType()].filter(isObjectType)) {
      const fields = Object.values(root.getFields());
      expect(fields.length).toBeGreaterThan(8);
      for (const { name, args, type } of fields) {
        const variables = args.filter(({ type: of }) => String(of).endsWith('!'));
        const head = variables.map((arg) => `$${arg.name}: ${arg.type}`).join(', ');
        const sent = variables.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
        const selection = isCompositeType(getNamedType(type)) ? '{ __typename }' : '';
        const text = `${root.name.toLowerCase()}${head && `(${head})`} { ${name}${sent && `(${sent})`} ${selection} }`;
        expect([name, (await gateway.send(text, {}, { authorization })).status]).toEqual([name, 403]);
      }
    }
    expect(gateway.service.requests).toEqual([]);
  });

  it('have no record that _entities returns without its scope', async () => {
    const clients = clientsOf(signer, { scopes: ['groups:read', 'topics:read', 'layouts:read', 'subscribers:read'] });
    const script: Script = () => ({ body: { data: group() } });
    await using gateway = await startGateway({ service: script, modules, clients, federation: true });
    const authorization = await signer.bearer({ scope: 'groups:read' });
    for (const representation of [
      '__typename: "Topic", key: "a"',
      '__typename: "Layout", id: "a"',
      '__typename: "Subscriber", subscriberId: "a"',
    ]) {
      const query = `{ _entities(representations: [{ ${representation} }]) { __typename } }`;
      expect((await gateway.send(query, {}, { authorization })).codes).toEqual(['FORBIDDEN']);
    }
    expect(gateway.service.requests).toEqual([]);
    const permitted = '{ _entities(representations: [{ __typename: "NotificationGroup", id: "g1" }]) { __typename } }';
    expect((await gateway.send(permitted, {}, { authorization })).body.data).toEqual({
      _entities: [{ __typename: 'NotificationGroup' }],
    });
  });
});

describe('a module is refused at start', () => {
  /** Scope of another form, as JavaScript could have it. */
  const odd = { extensions: { scope: Object('secrets') as Scope } };
  const rooted = ({ requireScopes }: Toolkit) => ({
    nullable: true as const,
    extensions: requireScopes('things:read'),
  });

  it.each<[string, (toolkit: Toolkit) => void, RegExp]>([
    [
      'with an entity whose scope stands on its root field only',
      (toolkit) => {
        const Thing = toolkit.builder.objectRef<object>('Thing').implement({
          extensions: toolkit.entity({ id: () => Promise.resolve({}) }),
          fields: (t) => ({ id: t.id({ description: 'Its id.', resolve: () => 'a' }) }),
        });
        toolkit.builder.queryField('thing', (t) => t.field({ type: Thing, ...rooted(toolkit), resolve: () => ({}) }));
      },
      /^the type Thing is an entity, .* requires no scope of its own; in the module a, declare one for it, /,
    ],
    [
      'with a field of an unknown scope',
      ({ builder }) => builder.queryField('secret', (t) => t.int({ ...odd, resolve: () => 1 })),
      /^the module a fails: Query\.secret requires the scope "secrets"/,
    ],
    [
      'with a type of an unknown scope, which is the only one of a root field',
      ({ builder }) => {
        const scope = Object('a_b:read') as Scope;
        const Thing = builder.objectRef<object>('Thing').implement({
          extensions: { scope },
          fields: (t) => ({ id: t.id({ description: 'Its id.', resolve: () => 'a' }) }),
        });
        builder.queryField('thing', (t) => t.field({ type: Thing, nullable: true, resolve: () => ({}) }));
      },
      /^the module a fails: Thing requires the scope "a_b:read", which must be a scope such as groups:read, of lowercase letters and hyphens, for read, write or extra$/,
    ],
    [
      'with an enum of an unknown scope',
      ({ builder }) => void builder.enumType('Level', { ...odd, values: ['LOW'] as const }),
      /^the module a fails: Level requires the scope "secrets", which must be a scope such as groups:read/,
    ],
    [
      'with a scalar of an unknown scope',
      ({ builder }) => void builder.scalarType('Code' as 'JSON', { ...odd, serialize: String }),
      /^the module a fails: Code requires the scope "secrets"/,
    ],
    [
      'with an interface of an unknown scope',
      ({ builder }) =>
        void builder.interfaceRef<object>('Named').implement({
          ...odd,
          fields: (t) => ({ name: t.string({ resolve: () => '' }) }),
        }),
      /^the module a fails: Named requires the scope "secrets"/,
    ],
    [
      'with a field of an interface of an unknown scope',
      ({ builder }) =>
        void builder.interfaceRef<object>('Named').implement({
          fields: (t) => ({ name: t.string({ ...odd, resolve: () => '' }) }),
        }),
      /^the module a fails: Named\.name requires the scope "secrets"/,
    ],
    [
      'with a field of a union of an unknown scope',
      (toolkit) => {
        const Thing = toolkit.builder.objectRef<object>('Thing').implement({
          fields: (t) => ({ id: t.id({ resolve: () => 'a' }) }),
        });
        const Either = toolkit.builder.unionType('Either', { ...odd, types: [Thing], resolveType: () => 'Thing' });
        toolkit.builder.queryField('either', (t) => t.field({ type: Either, ...rooted(toolkit), resolve: () => ({}) }));
      },
      /^the module a fails: Either requires the scope "secrets"/,
    ],
    [
      'with a scope that is undefined',
      ({ builder }) => void builder.enumType('Level', { extensions: { scope: undefined }, values: ['LOW'] as const }),
      /^the module a fails: Level requires the scope undefined/,
    ],
    [
      'with a scope of an argument, which no check would see',
      (toolkit) =>
        toolkit.builder.queryField('thing', (t) =>
          t.int({
            ...rooted(toolkit),
            args: { id: t.arg.id({ extensions: toolkit.requireScopes('secrets:read') }) },
            resolve: () => 1,
          }),
        ),
      /^the module a fails: Query\.thing has a scope at id, where none is checked/,
    ],
    [
      'with a scope of an input',
      ({ builder, requireScopes }) =>
        void builder.inputType('Filter', {
          extensions: requireScopes('secrets:read'),
          fields: (t) => ({ name: t.string() }),
        }),
      /^the module a fails: Filter has a scope at Filter, where none is checked/,
    ],
    [
      'with a scope of an enum’s value',
      ({ builder, requireScopes }) =>
        void builder.enumType('Level', { values: { LOW: { extensions: requireScopes('secrets:read') } } as const }),
      /^the module a fails: Level has a scope at LOW, where none is checked/,
    ],
    [
      'with a field that makes calls on a built-in type, without a scope of its own',
      ({ builder, use }) =>
        builder.objectField(use(workflows).Workflow, 'cost', (t) =>
          t.int({ nullable: true, extensions: declareCalls('1'), resolve: () => 1 }),
        ),
      /^the field Workflow\.cost makes calls, but .*; in the module a, declare one for it or its type, /,
    ],
    [
      'with such a field that the reference of the type adds',
      ({ builder, use }) => {
        const t = new ObjectFieldBuilder<GraphTypes, object>(builder);
        use(workflows).Workflow.addFields(() => ({
          cost: t.int({ nullable: true, extensions: declareCalls('1'), resolve: () => 1 }),
        }));
      },
      /^the field Workflow\.cost makes calls, but .*; in the module a, declare one for it or its type, /,
    ],
    [
      'with such a field of an interface',
      ({ builder }) =>
        builder.interfaceField('MutationError' as never, 'cost', (t) =>
          t.int({ nullable: true, extensions: declareCalls('1'), resolve: () => 1 }),
        ),
      /^the field \w+Error\.cost makes calls, but .*; in the module a, /,
    ],
  ])('%s', (_, define, message) => {
    const build = () => createSchema(undefined, [defineModule('a', define)]);
    expect(build).toThrow(ModuleError);
    expect(build).toThrow(message);
  });
});

describe('a field that a module adds to a built-in type', () => {
  const clients = clientsOf(signer, { scopes: ['workflows:read', 'costs:read', 'subscribers:read'] });
  const costs = defineModule('costs', ({ builder, endpoint, requireScopes, use }) => {
    const getCost = endpoint('GET /v1/costs').returns<{ cost: number }>();
    const { Workflow } = use(workflows);
    use(subscribers);
    const Cost = builder.objectRef<{ cost: number }>('Cost').implement({
      extensions: requireScopes('costs:read'),
      fields: (t) => ({ cost: t.exposeInt('cost', { description: 'It.' }) }),
    });
    builder.objectFields(Workflow, (t) => ({
      label: t.string({ description: 'Its name in brackets.', resolve: ({ name }) => `[${name}]` }),
      cost: t.field({
        type: Cost,
        nullable: true,
        extensions: declareCalls('1 per workflow'),
        resolve: (_workflow, _args, ctx) => ctx.upstream.read(getCost, {}),
      }),
      secretCost: t.int({
        nullable: true,
        resolve: async (_workflow, _args, ctx) => (await ctx.upstream.read(getCost, {}))?.cost,
      }),
    }));
  });
  const start = () =>
    startGateway({
      service: ({ path }) => ({ body: { data: path.startsWith('/v1/costs') ? { cost: 7 } : workflow({ name: 'W' }) } }),
      modules: [costs],
      clients,
    });
  const read = (field: string) => `{ workflow(idOrIdentifier: "w1") { ${field} } }`;

  it('needs no scope of its own if it makes no calls', async () => {
    await using gateway = await start();
    const authorization = await signer.bearer({ scope: 'workflows:read' });
    expect((await gateway.send(read('label'), {}, { authorization })).body.data).toEqual({
      workflow: { label: '[W]' },
    });
  });

  it('can have that of its type', async () => {
    await using gateway = await start();
    const denied = await signer.bearer({ scope: 'workflows:read' });
    const { status } = await gateway.send(read('cost { cost }'), {}, { authorization: denied });
    expect([status, gateway.service.requests.length]).toEqual([403, 0]);
    const authorization = await signer.bearer({ scope: 'workflows:read costs:read' });
    expect((await gateway.send(read('cost { cost }'), {}, { authorization })).body.data).toEqual({
      workflow: { cost: { cost: 7 } },
    });
  });

  it('makes no call that it neither declares nor has a scope for', async () => {
    await using gateway = await start();
    for (const authorization of [await signer.bearer({ scope: 'workflows:read' }), 'ApiKey a']) {
      const { codes, body } = await gateway.send(read('secretCost name'), {}, { authorization });
      expect([codes, body.data]).toEqual([['INTERNAL_SERVER_ERROR'], { workflow: { secretCost: null, name: 'W' } }]);
    }
    expect(gateway.service.calls().filter((call) => call.includes('costs'))).toEqual([]);
    expect(JSON.stringify(gateway.log)).toContain('Workflow.secretCost makes calls, but requires no scope of its own');
  });

  it('makes no such call through an interface either', async () => {
    const reasons = defineModule('reasons', ({ builder, endpoint }) => {
      const getReason = endpoint('GET /v1/reasons').returns<{ text: string }>();
      builder.interfaceField('MutationError' as never, 'reasonText', (t) =>
        t.string({
          nullable: true,
          resolve: async (_error, _args, ctx) => (await ctx.upstream.read(getReason, {}))?.text,
        }),
      );
    });
    await using gateway = await startGateway({
      service: ({ method }) => ({ status: method === 'POST' ? 409 : 200 }),
      modules: [reasons],
    });
    const text = 'mutation { createFeed(input: { name: "n" }) { ... on MutationError { code reasonText } } }';
    const { codes, body } = await gateway.send(text, {}, { authorization: 'ApiKey a' });
    expect([codes, body.data]).toEqual([
      ['INTERNAL_SERVER_ERROR'],
      { createFeed: { code: 'CONFLICT', reasonText: null } },
    ]);
    expect(gateway.service.calls()).toEqual(['POST /v1/feeds']);
  });
});
