import { GraphQLError, isInputObjectType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { createToolFiles } from '../../src/mcp/tool-files.ts';
import { defineModule, ModuleError } from '../../src/modules/index.ts';
import { createSchema, printSdl } from '../../src/modules/schema.ts';
import events from '../../src/modules/shipped/events.ts';
import inbox from '../../src/modules/shipped/inbox.ts';
import messages from '../../src/modules/shipped/messages.ts';
import topics from '../../src/modules/shipped/topics.ts';
import { connectAgent, MCP } from '../support/agent.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import type { Script } from '../support/service.ts';
import { shippedSchema } from '../support/shipped-documents.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';
import { bulkOf } from './example.ts';

// What fields of modules take: no input, scalars with their types, and optional values.

interface KeyBody {
  _id: string;
  /** Cents as a text, such as `1250`. */
  price?: string;
  limits?: Record<string, unknown> | null;
  expiresAt?: string | null;
}

/** Values that can be left out, or null. */
interface PatchBody {
  price?: string | null | undefined;
  limits?: Record<string, unknown> | null | undefined;
  notes?: unknown;
  expiresAt?: string | null | undefined;
  names?: readonly string[] | null | undefined;
}

const keys = defineModule('keys', (toolkit) => {
  const { ADDS_ONLY, builder, declareCalls, endpoint, mutation, requireScopes, scalar } = toolkit;
  const rotate = endpoint('PUT /v1/keys').returns<KeyBody>();
  const create = endpoint('POST /v1/keys', { idempotent: true }).returns<KeyBody>();
  const patch = endpoint('PATCH /v1/keys').takes<{ body: PatchBody }>().returns<KeyBody>();

  const Cents = scalar('Cents', {
    parseValue: (value) => {
      if (typeof value !== 'string' || !/^\d+\.\d\d$/.test(value)) {
        throw new GraphQLError('Cents must have two decimals.');
      }
      return { cents: Number(value.replace('.', '')) };
    },
    serialize: (sent: string) => (Number(sent) / 100).toFixed(2),
  });

  const Key = builder.objectRef<KeyBody>('Key').implement({
    extensions: requireScopes('keys:read'),
    fields: (t) => ({
      price: t.expose('price', { type: Cents, nullable: true }),
      limits: t.expose('limits', { type: 'JSONObject', nullable: true }),
      expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true }),
    }),
  });
  builder.queryField('half', (t) =>
    t.field({
      type: Cents,
      extensions: { ...requireScopes('keys:read'), ...declareCalls('1') },
      args: { price: t.arg({ type: Cents, required: true }) },
      resolve: (_root, { price }) => String(price.cents / 2),
    }),
  );

  const success = {
    description: 'It is done.',
    fields: (t: Parameters<Parameters<typeof builder.objectType>[1]['fields'] & object>[0]) => ({
      done: t.boolean({ description: 'Always true.', resolve: () => true }),
    }),
  };
  const rotation = mutation('rotateKey', {
    description: 'Replaces the key.',
    scope: 'keys:write',
    endpoint: rotate,
    resolve: async (_input, send) => send({}),
    success,
  });
  const creation = mutation('createKey', {
    description: 'Creates a key.',
    scope: 'keys:write',
    endpoint: create,
    extensions: ADDS_ONLY,
    resolve: async (_input, send) => send({}),
    success,
  });
  mutation('patchKey', {
    description: 'Changes the key.',
    scope: 'keys:write',
    endpoint: patch,
    input: {
      description: 'The changes.',
      fields: (t) => ({
        price: t.field({ type: Cents }),
        limits: t.field({ type: 'JSONObject' }),
        notes: t.field({ type: 'JSON' }),
        expiresAt: t.field({ type: 'DateTime' }),
        names: t.stringList({ description: 'The names.' }),
      }),
    },
    resolve: async ({ price, ...rest }, send) => ({
      key: await send({ body: { price: price && String(price.cents), ...rest } }),
    }),
    success: {
      description: 'It is changed.',
      fields: (t) => ({ key: t.expose('key', { type: Key }) }),
    },
  });
  return { creation, rotation };
});

const start = (options = {}) =>
  startGateway({
    service: ({ body }) => ({ body: { data: { _id: 'k', ...(body && JSON.parse(body)) } } }),
    modules: [keys],
    ...options,
  });

describe('a mutation without input', () => {
  it('has no argument, or an optional one if keys are accepted', () => {
    const sdl = printSdl(createSchema(undefined, [keys]));
    expect(sdl).toMatch(/^ {2}rotateKey: RotateKeyResult$/m);
    expect(sdl).not.toContain('RotateKeyInput');
    expect(sdl).toMatch(/^ {4}input: CreateKeyInput\n {2}\): CreateKeyResult$/m);
    expect(sdl).toMatch(
      /^input CreateKeyInput {\n(?: {2}""".*?""" *\n| {2}"""\n.*\n {2}"""\n) {2}idempotencyKey: String\n}$/ms,
    );
  });

  it('sends its write without a body, and with the key of the input or the header', async () => {
    await using gateway = await start();
    expect(await gateway.run('mutation { rotateKey { ... on RotateKeySuccess { done } } }')).toEqual({
      rotateKey: { done: true },
    });
    const create = (args: string, headers = {}) =>
      gateway.run(`mutation { createKey${args} { ... on CreateKeySuccess { replayed } } }`, 'a', headers);
    for (const args of ['', '(input: null)', '(input: {})', '(input: { idempotencyKey: "k" })']) {
      expect(await create(args)).toEqual({ createKey: { replayed: false } });
    }
    await create('', { 'idempotency-key': 'k' });
    expect(gateway.service.calls()).toEqual(['PUT /v1/keys', ...Array.from({ length: 5 }, () => 'POST /v1/keys')]);
    expect(gateway.service.requests.map(({ body }) => body).join('')).toBe('');
    const sent = gateway.service.requests.map(({ headers }) => headers['idempotency-key']);
    expect(sent.slice(0, 4)).toEqual([undefined, undefined, undefined, undefined]);
    expect(sent[4]).toMatch(/^[0-9a-f]{64}$/);
    expect(sent[5]).toBe(sent[4]);
  });

  it('is explained, and a tool without arguments for AI agents', async () => {
    await using gateway = await start();
    const { body } = await gateway.send('mutation { rotateKey { __typename } }', {}, { extensions: { explain: true } });
    expect(body.extensions?.explain).toMatchObject({ calls: [{ method: 'PUT', route: '/v1/keys', min: 1, max: 1 }] });
    const schema = createSchema(undefined, [keys]);
    const limits = { maxDepth: 5, maxRootFields: 5, maxFields: 10, introspection: true };
    const toolOf = (text: string) =>
      createToolFiles(
        { manifest: { Run: text }, mutations: ['Run'], maxResultBytes: 1 },
        { schema, limits },
      ).tools()[0];
    expect(toolOf('mutation Run { rotateKey { __typename } }')).toMatchObject({
      inputSchema: { type: 'object', properties: {}, required: [], additionalProperties: false },
      annotations: { destructiveHint: true },
    });
    expect(toolOf('mutation Run($input: CreateKeyInput) { createKey(input: $input) { __typename } }')).toMatchObject({
      inputSchema: { properties: { input: { type: ['object', 'null'] } }, required: [] },
      annotations: { destructiveHint: false },
    });
  });

  it('can’t be applied to a list, unless it has keys', () => {
    const bulk = (name: 'rotation' | 'creation') =>
      createSchema(undefined, [
        defineModule('bulk', ({ bulkMutation, use }) => bulkMutation('all', use(keys)[name], bulkOf('keys', 2))),
      ]);
    expect(() => bulk('rotation')).toThrow(
      'the module bulk fails: TypeError: all applies a mutation to each item of a list, so that mutation needs an input',
    );
    expect(printSdl(bulk('creation'))).toContain('keys: [CreateKeyInput!]!');
  });
});

it('the service rejects values of a mutation without input with a path that its arguments have', async () => {
  const script: Script = () => ({
    status: 400,
    body: { message: [{ property: 'x', constraints: { a: 'x is bad' } }] },
  });
  await using gateway = await startGateway({ service: script, modules: [keys] });
  const select = '{ ... on InvalidInputError { issues { path message } } }';
  const issues = (path: string[]) => ({ issues: [{ path, message: expect.any(String) }] });
  expect(await gateway.run(`mutation { rotateKey ${select} }`)).toEqual({ rotateKey: issues([]) });
  expect(await gateway.run(`mutation { createKey ${select} }`)).toEqual({ createKey: issues(['input']) });
});

describe('a member that the service rejects', () => {
  guards('src/modules/toolkit/mutations.ts', 'renameFirst');
  guards('src/modules/toolkit/mutations.ts', 'withPaths');

  const ISSUES = '... on InvalidInputError { issues { path } }';

  it.each<[field: string, input: string, paths: Record<string, string>]>([
    ['deleteFeed', 'id: "same"', { feedId: 'id' }],
    ['deleteMessage', 'id: "same"', { messageId: 'id' }],
    ['createTopic', 'key: "same", name: "same"', { key: 'key', name: 'name' }],
    ['renameTopic', 'key: "same", name: "same"', { topicKey: 'key', name: 'name' }],
    ['deleteTopic', 'key: "same"', { topicKey: 'key', constructor: 'constructor' }],
    ['addSubscribersToTopic', 'key: "same", subscriberIds: ["same"]', { 'subscribers.0': 'subscriberIds.0' }],
    ['removeSubscribersFromTopic', 'key: "same", subscriberIds: ["same"]', { 'subscribers.0': 'subscriberIds.0' }],
    [
      'markMessages',
      'subscriberId: "same", messageIds: ["same"], as: READ',
      { 'messageId.0': 'messageIds.0', markAs: 'as' },
    ],
    [
      'markAllMessages',
      'subscriberId: "same", as: READ, feeds: ["same"]',
      { 'feedIdentifier.0': 'feeds.0', markAs: 'as' },
    ],
    [
      'completeMessageAction',
      'subscriberId: "same", messageId: "same", button: "same"',
      { type: 'button', messageId: 'messageId' },
    ],
    [
      'updateWorkflowPreference',
      'subscriberId: "65f000000000000000000001", workflowId: "65f000000000000000000001", channel: EMAIL, enabled: true',
      { 'channel.type': 'channel', 'channel.enabled': 'enabled' },
    ],
    [
      'updateGlobalPreferences',
      'subscriberId: "same", channels: [{ channel: EMAIL, enabled: true }]',
      { 'preferences.0.type': 'channels.0.channel', enabled: 'enabled' },
    ],
  ])('of %s has the path of the input field', async (field, input, paths) => {
    const errors = Object.fromEntries(Object.keys(paths).map((member) => [member, ['Bad']]));
    await using gateway = await startGateway({
      service: () => ({ status: 422, body: { errors } }),
      modules: [inbox, messages, topics],
    });
    const issues = Object.values(paths).map((path) => ({ path: ['input', ...path.split('.')] }));
    expect(await gateway.run(`mutation { ${field}(input: { ${input} }) { ${ISSUES} } }`)).toEqual({
      [field]: { issues },
    });
  });

  it('has the path of the subject, if that is its name in the input', async () => {
    const people = defineModule('people', ({ endpoint, mutation }) => {
      mutation('greet', {
        description: 'Greets.',
        scope: 'people:write',
        endpoint: endpoint('POST /v1/people/{userId}/greetings').returns<object>(),
        subject: 'personId',
        inputPath: { userId: 'personId' },
        resolve: async ({ personId }, send) => send({ userId: personId }),
        success: { description: 'It is done.', fields: (t) => ({ done: t.boolean({ resolve: () => true }) }) },
      });
    });
    await using gateway = await startGateway({
      service: () => ({ status: 422, body: { errors: { userId: ['Bad'] } } }),
      modules: [people],
    });
    expect(await gateway.run(`mutation { greet(input: { personId: "a" }) { ${ISSUES} } }`)).toEqual({
      greet: { issues: [{ path: ['input', 'personId'] }] },
    });
  });

  it('is declared with the name of an input field', () => {
    const misnamed = defineModule('misnamed', ({ endpoint, mutation }) => {
      mutation('name', {
        description: 'Names.',
        scope: 'names:write',
        endpoint: endpoint('POST /v1/names').returns<object>(),
        input: { description: 'It.', fields: (t) => ({ text: t.string() }) },
        inputPath: { value: 'test' },
        resolve: async (_input, send) => send({}),
        success: { description: 'It is done.', fields: (t) => ({ done: t.boolean({ resolve: () => true }) }) },
      });
    });
    expect(() => createSchema(undefined, [misnamed])).toThrow(
      new ModuleError(
        'the module misnamed fails: TypeError: the input of the mutation name has no field test, which its inputPath names',
      ),
    );
  });
});

describe('names that the gateway uses itself', () => {
  const declaring = (isIdempotent: boolean, input: string, success: string) =>
    defineModule('names', ({ endpoint, mutation }) => {
      mutation('name', {
        description: 'Names.',
        scope: 'names:write',
        endpoint: endpoint('POST /v1/names', { idempotent: isIdempotent }).returns<object>(),
        input: { description: 'It.', fields: (t) => ({ [input]: t.string() }) },
        resolve: async (_input, send) => send({}),
        success: { description: 'It is done.', fields: (t) => ({ [success]: t.boolean({ resolve: () => true }) }) },
      });
    });

  it.each([
    [true, 'idempotencyKey', 'done', 'the input of the mutation name has a field idempotencyKey'],
    [false, 'idempotencyKey', 'done', 'the input of the mutation name has a field idempotencyKey'],
    [true, 'text', 'replayed', 'the success of the mutation name has a field replayed'],
    [false, 'text', 'replayed', 'the success of the mutation name has a field replayed'],
  ])('are refused at load (%s, %s, %s)', (isIdempotent, input, success, problem) => {
    expect(() => createSchema(undefined, [declaring(isIdempotent, input, success)])).toThrow(
      new ModuleError(`the module names fails: TypeError: ${problem}, which the gateway uses itself; rename it`),
    );
  });
});

describe('the scope of a mutation', () => {
  it('is the declared one, whatever its extensions have', async () => {
    const misdeclared = defineModule('misdeclared', ({ endpoint, mutation, requireScopes }) => {
      mutation('purge', {
        description: 'Purges.',
        scope: 'things:write',
        // @ts-expect-error: scope is the only place for it
        extensions: requireScopes('groups:read'),
        endpoint: endpoint('POST /v1/things/purge').returns<object>(),
        resolve: async (_input, send) => send({}),
        success: {
          description: 'It is done.',
          fields: (t) => ({ done: t.boolean({ description: 'Always true.', resolve: () => true }) }),
        },
      });
    });
    const signer = createSigner();
    const clients = clientsOf(signer, { scopes: ['groups:read', 'things:write'] });
    await using gateway = await startGateway({
      service: () => ({ body: { data: {} } }),
      modules: [misdeclared],
      clients,
    });
    const purge = async (scope: string) =>
      gateway.send('mutation { purge { __typename } }', {}, { authorization: await signer.bearer({ scope }) });
    expect((await purge('groups:read')).codes).toEqual(['FORBIDDEN']);
    expect(gateway.service.requests).toHaveLength(0);
    expect((await purge('things:write')).body.data).toEqual({ purge: { __typename: 'PurgeSuccess' } });
  });
});

describe('optional values and scalars', () => {
  const patch = (input: string) =>
    `mutation { patchKey(input: ${input}) { ... on PatchKeySuccess { key { price limits expiresAt } } } }`;

  it('are sent as they are: null as null, and not at all if they are left out', async () => {
    await using gateway = await start();
    await gateway.run(patch('{}'));
    await gateway.run(patch('{ price: null, limits: null, notes: null, expiresAt: null, names: null }'));
    expect(gateway.service.requests.map(({ body }) => body)).toEqual([
      '{}',
      '{"price":null,"expiresAt":null,"limits":null,"names":null,"notes":null}',
    ]);
    const values =
      '{ price: "12.50", limits: { a: [1] }, notes: [true], expiresAt: "2027-01-01T00:00:00Z", names: ["x"] }';
    expect(await gateway.run(patch(values))).toEqual({
      patchKey: { key: { price: '12.50', limits: { a: [1] }, expiresAt: '2027-01-01T00:00:00Z' } },
    });
    expect(JSON.parse(gateway.service.requests[2]?.body ?? '')).toMatchObject({ price: '1250', notes: [true] });
    expect(await gateway.run('{ half(price: "3.00") }')).toEqual({ half: '1.50' });
    const { body } = await gateway.send('{ half(price: "3") }');
    expect(body.errors?.[0]?.message).toContain('Cents must have two decimals.');
  });
});

/** Inputs with a required text, by mutation, and the path of the text. The running service stores empty names, or fails with 500. */
const NAMED: Readonly<Record<string, [input: (name: string) => object, path: string]>> = {
  createNotificationGroup: [(name) => ({ name }), 'name'],
  updateNotificationGroup: [(name) => ({ id: '2c490ff384e74bd82a99effb', name }), 'name'],
  createFeed: [(name) => ({ name }), 'name'],
  createTopic: [(name) => ({ key: 'k1', name }), 'name'],
  renameTopic: [(name) => ({ key: 'k1', name }), 'name'],
  triggerEvent: [(workflow) => ({ event: { workflow, subscriberIds: ['s1'] } }), 'event.workflow'],
  triggerEvents: [
    (workflow) => ({
      events: [
        { workflow: 'w', topicKeys: ['k1'] },
        { workflow, subscriberIds: ['s1'] },
      ],
    }),
    'events.1.workflow',
  ],
};

describe('a name', () => {
  guards('src/upstream/input-rules.ts', 'findNameProblem');

  const typeNameOf = (name: string) => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}Input`;
  const documentOf = (name: string) =>
    `mutation ${name}($input: ${typeNameOf(name)}!) { ${name}(input: $input) {
      __typename ... on InvalidInputError { message issues { path message } }
    } }`;

  it.each(Object.entries(NAMED))(
    'in %s is refused before any call if it is blank',
    async (mutation, [toInput, path]) => {
      await using gateway = await startGateway({ service: 'sandbox', modules: [events, topics] });
      const field = path.split('.').at(-1);
      const message = `${field} must not be blank.`;
      for (const name of ['', ' ', '\u3000']) {
        const data = await gateway.data<Record<string, unknown>>(documentOf(mutation), { input: toInput(name) });
        const issues = [{ path: ['input', ...path.split('.')], message }];
        expect(data[mutation]).toEqual({ __typename: 'InvalidInputError', message, issues });
      }
      expect(gateway.upstream().filter(({ method }) => method !== 'GET')).toEqual([]);
      const { [mutation]: named } = await gateway.data<Record<string, unknown>>(documentOf(mutation), {
        input: toInput(' n '),
      });
      expect(named).not.toHaveProperty('issues', [expect.objectContaining({ message })]);
      expect(gateway.upstream().at(-1)?.body).toContain('" n "');
    },
  );

  it('has a key beside it, in createTopic, that must not be empty either', async () => {
    await using gateway = await startGateway({ service: 'healthy', modules: [topics] });
    const { createTopic } = await gateway.data<Record<string, unknown>>(documentOf('createTopic'), {
      input: { key: '', name: '' },
    });
    expect(createTopic).toMatchObject({ issues: [{ path: ['input', 'key'] }, { path: ['input', 'name'] }] });
    expect(gateway.service.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('is each required text of the shipped modules', () => {
    const types = Object.values(shippedSchema.getTypeMap()).filter(isInputObjectType);
    const fields = types.flatMap((type) => Object.values(type.getFields()).map((field) => ({ type, field })));
    const required = fields.filter(({ field }) => String(field.type) === 'String!');
    expect(new Set(required.map(({ type, field }) => `${type}.${field.name}`))).toEqual(
      new Set(
        Object.entries(NAMED).map(([name, [, path]]) =>
          path === 'name' ? `${typeNameOf(name)}.name` : 'EventInput.workflow',
        ),
      ),
    );
  });

  it('is refused from AI agents too', async () => {
    await using gateway = await startGateway({
      service: 'healthy',
      mcp: { ...MCP, manifest: { create: documentOf('createFeed') }, mutations: ['createFeed'] },
    });
    await using agent = await connectAgent(gateway, 'ApiKey key-of-a-server');
    expect((await agent.call('createFeed', { input: { name: ' ' } })).text).toContain('name must not be blank.');
    expect(gateway.service.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});
