import fc from 'fast-check';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isUnionType,
  parse,
  printSchema,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { PreparedDocuments } from '../../src/documents/prepared-documents.ts';
import { createSchema } from '../../src/modules/schema.ts';
import { isScope, SCOPES, type Scope } from '../../src/settings/scopes.ts';
import { connectAgent } from '../support/agent.ts';
import { measureCpu } from '../support/cpu-time.ts';
import { startGateway } from '../support/gateway.ts';
import { dataOf, errorOf, sendToBoth, startGatewayPair, type WireResponse } from '../support/gateway-pair.ts';
import { guards } from '../support/guards.ts';
import { healthyService } from '../support/healthy-service.ts';
import { ofFile } from '../support/lifetime.ts';
import { subscriber } from '../support/records.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('src/auth/tokens/token-verifier.ts', 'toPerson.scopes');
guards('src/documents/operations/required-scopes.ts', 'canInclude');
guards('src/documents/operations/required-scopes.ts', 'collectScopes.walk');
guards('src/http/pipeline/pipeline.ts', 'authorize');
guards('src/http/pipeline/pipeline.ts', 'createPipeline.handle');

const signer = createSigner();

let channels: unknown;
const gateways = ofFile(
  await startGatewayPair(
    (request, raw) =>
      request.path === '/v1/subscribers'
        ? { status: 201, body: { data: { ...subscriber(), channels } } }
        : healthyService(request, raw),
    { clients: clientsOf(signer) },
  ),
);

/** Nouns of scopes that differ from those of paths. */
const NOUNS: Record<string, string> = { 'notification-groups': 'groups', notifications: 'stats' };

/** Returns the scope that an upstream call requires, derived from its method and path. */
function scopeOfCall({ method, path }: { method: string; path: string }): Scope {
  const [, noun = ''] = /^\/v1\/([\w-]+)/.exec(path) ?? [];
  const scope = `${NOUNS[noun] ?? noun}:${method === 'GET' ? 'read' : 'write'}`;
  return isScope(scope) ? scope : expect.unreachable(`There is no scope ${scope} for ${method} ${path}.`);
}

const bearer = (scopes: readonly Scope[]) => signer.bearer({ scope: scopes.join(' ') });
const without = (...denied: Scope[]) => SCOPES.filter((scope) => !denied.includes(scope));

/** Returns the request of a browser client with these scopes. */
const requestOf = async (query: string, scopes: readonly Scope[], variables?: unknown, operationName?: string) => ({
  headers: { authorization: await bearer(scopes) },
  body: { query, variables, operationName },
});

/** Sends an operation to both gateways as a browser client with these scopes. */
const send = async (...request: Parameters<typeof requestOf>): Promise<WireResponse> =>
  sendToBoth(gateways, await requestOf(...request));

/** Returns the scopes that a response reports as missing, and checks the rest of the error response. */
function missingScopes(response: WireResponse): unknown[] {
  const errors: { extensions: Record<string, unknown> }[] = Reflect.get(Object(response.body), 'errors') ?? [];
  if (errors[0]?.extensions.code !== 'FORBIDDEN') {
    expect(errors).toEqual([]);
    return [];
  }
  expect(response).toMatchObject({ status: 403, upstream: [] });
  expect(dataOf(response)).toBeUndefined();
  for (const { extensions } of errors) {
    expect(extensions).toMatchObject({ code: 'FORBIDDEN', retryable: false, requestId: 'r1' });
  }
  return errors.map(({ extensions }) => extensions.scope);
}

// The printed schema does not contain scopes.
const schema = buildSchema(printSchema(createSchema()));

function literalOf(type: GraphQLInputType): string {
  const inner = isNonNullType(type) ? type.ofType : type;
  if (isListType(inner)) {
    return `[${literalOf(inner.ofType)}]`;
  }
  if (isInputObjectType(inner)) {
    const fields = Object.values(inner.getFields()).filter(isRequiredInputField);
    return `{ ${fields.map(({ name, type: of }) => `${name}: ${literalOf(of)}`).join(', ')} }`;
  }
  if (isEnumType(inner)) {
    return inner.getValues()[0]?.name ?? '';
  }
  return inner.name === 'Boolean' ? 'true' : inner.name === 'Int' ? '1' : '"w1"';
}

function call({ name, args }: GraphQLField<unknown, unknown>): string {
  const required = args.filter(isRequiredArgument);
  return required.length === 0 ? name : `${name}(${required.map((arg) => `${arg.name}: ${literalOf(arg.type)}`)})`;
}

/** Yields an operation for every field of the schema that selects only that field. */
function* operationsOfSchema(): Generator<[coordinate: string, operation: string]> {
  const seen = new Set<string>();
  const queue: [type: GraphQLObjectType, wrap: (selection: string) => string][] = [];
  const enqueue = (type: unknown, wrap: (selection: string) => string) => {
    if (isUnionType(type) || isInterfaceType(type)) {
      for (const member of schema.getPossibleTypes(type)) {
        enqueue(member, (selection) => wrap(`... on ${member.name} { ${selection} }`));
      }
    } else if (isObjectType(type) && !seen.has(type.name)) {
      seen.add(type.name);
      queue.push([type, wrap]);
    }
  };
  enqueue(schema.getQueryType(), (selection) => `{ ${selection} }`);
  enqueue(schema.getMutationType(), (selection) => `mutation { ${selection} }`);
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const [type, wrap] = next;
    for (const field of Object.values(type.getFields())) {
      const named = getNamedType(field.type);
      yield [
        `${type.name}.${field.name}`,
        wrap(isCompositeType(named) ? `${call(field)} { __typename }` : call(field)),
      ];
      enqueue(named, (selection) => wrap(`${call(field)} { ${selection} }`));
    }
  }
}

const OPERATIONS = [...operationsOfSchema()];

const ROOT_FIELDS = OPERATIONS.filter(([coordinate]) => /^(?:Query|Mutation)\./.test(coordinate));

/** Scope of each record type; new types declare their scope in the schema. */
const RECORDS: Record<string, Scope> = {
  ...Object.fromEntries(
    Object.values(createSchema().getTypeMap()).flatMap(({ name, extensions: { scope } }) =>
      isScope(scope) ? [[name, scope]] : [],
    ),
  ),
  Workflow: 'workflows:read',
  NotificationGroup: 'groups:read',
  Subscriber: 'subscribers:read',
  Feed: 'feeds:read',
  StatsEntry: 'stats:read',
};

it.each(ROOT_FIELDS)(
  'the root field %s requires only the scope of its upstream call',
  async (coordinate, operation) => {
    const free = await sendToBoth(gateways, { body: { query: operation } });
    const [scope, ...others] = new Set(free.upstream.map(scopeOfCall));
    if (scope === undefined || others.length > 0) {
      throw new Error(`${coordinate} makes calls of ${others.length + 1} scopes.`);
    }
    const isMutation = coordinate.startsWith('Mutation.');
    for (const scopes of [[], without(scope)]) {
      const refused = await send(operation, scopes);
      expect(missingScopes(refused)).toEqual([scope]);
      expect(errorOf(refused).message).toContain(scope);
      expect(errorOf(refused).extensions).toEqual({
        code: 'FORBIDDEN',
        scope,
        retryable: false,
        requestId: 'r1',
        ...(isMutation && { outcome: 'NOT_APPLIED' }),
      });
    }
    const served = await send(operation, [scope]);
    expect(missingScopes(served)).toEqual([]);
    expect(served.status).toBe(200);
    expect(new Set(served.upstream.map(scopeOfCall))).toEqual(new Set([scope]));
  },
);

it('every field requires the scopes of its upstream calls and of the record that it returns, in mutations too', async () => {
  const withSeveralScopes: string[] = [];
  for (const [coordinate, query] of OPERATIONS) {
    const free = await gateways.askListener({ body: { query } });
    expect([coordinate, errorOf(free).message]).toEqual([coordinate, '(there is no error)']);
    const [typeName = '', fieldName = ''] = coordinate.split('.');
    const type = schema.getType(typeName);
    const field = isObjectType(type) ? type.getFields()[fieldName] : undefined;
    const record = field && RECORDS[getNamedType(field.type).name];
    const scopes = new Set([...free.upstream.map(scopeOfCall), ...(record === undefined ? [] : [record])]);
    for (const scope of scopes) {
      expect([coordinate, missingScopes(await gateways.askListener(await requestOf(query, without(scope))))]).toEqual([
        coordinate,
        [scope],
      ]);
    }
    if (scopes.size > 1) {
      withSeveralScopes.push(coordinate);
    }
  }
  expect(withSeveralScopes).toContain('Workflow.notificationGroup');
  expect(withSeveralScopes).toContain('StatsEntry.workflows');
  expect(withSeveralScopes).toContain('CreateFeedSuccess.feed');
});

const GROUP = 'notificationGroups { name }';

describe('a required scope is detected', () => {
  it.each<[string, string, Scope[]]>([
    ['behind an alias', `{ workflow: ${GROUP} }`, ['groups:read']],
    ['in a nested fragment', `{ ...A } fragment A on Query { ...B } fragment B on Query { ${GROUP} }`, ['groups:read']],
    [
      'in an inline fragment without a type inside a record',
      '{ workflow(idOrIdentifier: "w1") { ... { notificationGroup { name } } } }',
      ['groups:read'],
    ],
    [
      'in a fragment on a member of a union',
      'mutation { createFeed(input: { name: "a" }) { ...S } } fragment S on CreateFeedSuccess { feed { name } }',
      ['feeds:read'],
    ],
    [
      'in a record in an inline fragment on a member of a union',
      'mutation { updateWorkflowStatus(input: { workflowId: "w1", active: true }) { ... on UpdateWorkflowStatusSuccess { workflow { notificationGroup { name } } } } }',
      ['groups:read'],
    ],
    [
      'if only the first of two fields with the same name is skipped',
      `{ notificationGroups @skip(if: true) { name } ${GROUP} }`,
      ['groups:read'],
    ],
  ])('%s', async (_, query, denied) => {
    expect(missingScopes(await send(query, without(...denied)))).toEqual(denied);
    expect(missingScopes(await send(query, SCOPES))).toEqual([]);
  });

  it('together with others, each reported once', async () => {
    const query = `{ a: ${GROUP} b: ${GROUP} notificationStats { workflows { notificationGroup { id } } } }`;
    expect(missingScopes(await send(query, []))).toEqual(['groups:read', 'stats:read', 'workflows:read']);
  });

  it('only in the selected operation', async () => {
    const query = `query A { ${GROUP} } query B { workflow(idOrIdentifier: "w1") { id } } query C { ...F } fragment F on Query { ${GROUP} }`;
    expect(missingScopes(await send(query, ['workflows:read'], {}, 'B'))).toEqual([]);
    expect(missingScopes(await send(query, ['workflows:read'], {}, 'A'))).toEqual(['groups:read']);
    expect(missingScopes(await send(query, ['workflows:read'], {}, 'C'))).toEqual(['groups:read']);
  });

  it.each([undefined, '', 'B', 'constructor', '__proto__', 'query'])(
    'or the operation is rejected, if the operation name is %j',
    async (operationName) => {
      for (const query of [`query A { ${GROUP} }`, `{ ${GROUP} }`]) {
        const { status, upstream } = await send(query, [], {}, operationName);
        expect([status, upstream]).toEqual([operationName ? 400 : 403, []]); // An empty name is none.
      }
    },
  );
});

describe('a conditional field', () => {
  const NEVER: Scope[] = [];
  const NEEDED: Scope[] = ['groups:read'];

  it.each<[string, string, unknown, Scope[]]>([
    ['@skip(if: true)', '', {}, NEVER],
    ['@include(if: false)', '', {}, NEVER],
    ['@skip(if: false) @include(if: true)', '', {}, NEEDED],
    ['@skip(if: true) @include(if: true)', '', {}, NEVER],
    ['@skip(if: false) @include(if: false)', '', {}, NEVER],
    ['@include(if: $v)', '($v: Boolean!)', { v: true }, NEEDED],
    ['@include(if: $v)', '($v: Boolean!)', { v: false }, NEVER],
    ['@include(if: $v)', '($v: Boolean = true)', {}, NEEDED],
    ['@include(if: $v)', '($v: Boolean = false)', {}, NEVER],
    ['@include(if: $v)', '($v: Boolean = false)', { v: true }, NEEDED],
    ['@include(if: $v)', '($v: Boolean = true)', { v: false }, NEVER],
    ['@include(if: $v)', '($v: Boolean! = true)', {}, NEEDED],
    ['@include(if: $constructor)', '($constructor: Boolean = true)', {}, NEEDED],
    ['@skip(if: $__proto__)', '($__proto__: Boolean = false)', undefined, NEEDED],
  ])('with %s %s %j requires its scope only if it is included', async (conditions, definition, variables, needed) => {
    const query = `query Q${definition} { __typename notificationGroups ${conditions} { name } }`;
    expect(missingScopes(await send(query, [], variables))).toEqual(needed);
  });

  it.each([null, 'true', 'false', 1, 0, [], [true], {}, [false]])(
    'makes no call without the scope if the variable is %j',
    async (value) => {
      for (const condition of ['@skip', '@include']) {
        for (const definition of ['$v: Boolean!', '$v: Boolean = true', '$v: Boolean = false']) {
          const query = `query Q(${definition}) { __typename notificationGroups ${condition}(if: $v) { name } }`;
          expect((await send(query, [], { v: value })).upstream).toEqual([]);
        }
      }
    },
  );

  it('in conditional fragments requires its scope only if all conditions include it', async () => {
    const query =
      'query Q($a: Boolean!, $b: Boolean!) { __typename ...F @include(if: $a) } fragment F on Query { ... @skip(if: $b) { notificationGroups { name } } }';
    expect(missingScopes(await send(query, [], { a: true, b: false }))).toEqual(NEEDED);
    expect(missingScopes(await send(query, [], { a: true, b: true }))).toEqual(NEVER);
    expect(missingScopes(await send(query, [], { a: false, b: false }))).toEqual(NEVER);
  });

  it('in randomly generated operations causes no call without the scope', async () => {
    const condition = fc.oneof(
      { weight: 3, arbitrary: fc.constant('') },
      {
        weight: 4,
        arbitrary: fc
          .tuple(fc.constantFrom('skip', 'include'), fc.constantFrom('true', 'false', '$a', '$b', '$c'))
          .map(([name, value]) => `@${name}(if: ${value})`),
      },
    );
    const { selection } = fc.letrec<{ selection: string; list: string }>((tie) => ({
      selection: fc.oneof(
        { maxDepth: 3, depthSize: 'small' },
        condition.map((of) => `notificationGroups ${of} { name }`),
        condition.map(
          (of) => `workflow(idOrIdentifier: "w1") ${of} { id ... ${of} { notificationGroup ${of} { name } } }`,
        ),
        fc.tuple(fc.constantFrom('F', 'G'), condition).map(([name, of]) => `...${name} ${of}`),
        fc.tuple(condition, tie('list')).map(([of, inner]) => `... ${of} { ${inner} }`),
        fc.tuple(condition, tie('list')).map(([of, inner]) => `... on Query ${of} { ${inner} }`),
      ),
      list: fc.array(tie('selection'), { minLength: 1, maxLength: 3 }).map((all) => all.join(' ')),
    }));
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(selection, selection, condition, condition, condition),
        fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.boolean()),
        fc.subarray<Scope>(['groups:read', 'workflows:read']),
        async ([body, inF, ofF, ofG, inG], variables, scopes) => {
          const query = `query Q($a: Boolean = true, $b: Boolean = false, $c: Boolean = true) {
  __typename ${body} ...F ${ofF} ...G ${ofG}
  x: __typename @include(if: $a) y: __typename @include(if: $b) z: __typename @include(if: $c)
}
fragment F on Query { __typename ${inF.replaceAll('...F', '...G')} }
fragment G on Query { __typename notificationGroups ${inG} { id } }`;
          const response = await gateways.askListener(await requestOf(query, scopes, variables));
          expect(response.upstream.map(scopeOfCall).filter((scope) => !scopes.includes(scope))).toEqual([]);
          expect([200, 400, 403]).toContain(response.status);
        },
      ),
      { numRuns: 200, seed: 7 },
    );
  }, 60_000);
});

it('a document with exponentially nested fragments is analyzed in linear time', async () => {
  const levels = 30;
  const fragments = Array.from(
    { length: levels },
    (_, i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} ... @include(if: $v) { ...F${i + 1} } }`,
  );
  const text = `query Q($v: Boolean!) { ...F0 } ${fragments.join('\n')} fragment F${levels} on Query { ${GROUP} }`;
  const { result: findMissing, cpuMs } = await measureCpu(
    () => new PreparedDocuments(createSchema()).of(parse(text)).operation('Q')?.findMissingScopes,
  );
  expect(findMissing?.(new Set(), { v: false })).toEqual(['groups:read']);
  expect(cpuMs).toBeLessThan(5_000); // In exponential time, it would take weeks.
});

it('a mutation with one forbidden field executes none of its fields', async () => {
  const query =
    'mutation { createFeed(input: { name: "a" }) { __typename } createNotificationGroup(input: { name: "b" }) { __typename } }';
  const response = await send(query, ['feeds:write']);
  expect(missingScopes(response)).toEqual(['groups:write']);
  expect(errorOf(response).extensions.outcome).toBe('NOT_APPLIED');
  expect((await send(query, ['feeds:write', 'groups:write'])).upstream).toHaveLength(2);
});

describe('the scopes of a token', () => {
  const QUERY = `{ ${GROUP} }`;
  const missingWith = async (claims: Record<string, unknown>) =>
    missingScopes(
      await sendToBoth(gateways, { headers: { authorization: await signer.bearer(claims) }, body: { query: QUERY } }),
    );

  it.each<[string, unknown, boolean]>([
    ['a string', 'groups:read', true],
    ['several scopes in a string', 'stats:read groups:read other', true],
    ['a list', ['groups:read'], true],
    ['another case', 'Groups:Read', false],
    ['a prefix of the scope', 'groups', false],
    ['the write scope', 'groups:write', false],
    ['a wildcard', '* groups:* all', false],
    ['separated by commas', 'groups:read,stats:read', false],
    ['separated by a tab', 'stats:read\tgroups:read', false],
    ['an empty string', '', false],
    ['an empty list', [], false],
    ['missing', undefined, false],
    ['names of properties of Object.prototype', 'constructor __proto__ toString', false],
  ])('are read from its claim: %s', async (_, scope, isPermitted) => {
    expect(await missingWith({ scope, scopes: 'groups:read', scp: 'groups:read' })).toEqual(
      isPermitted ? [] : ['groups:read'],
    );
  });
});

it('a browser client can query the schema without any scope', async () => {
  const response = await send('{ __schema { queryType { name } } __type(name: "Workflow") { name } __typename }', []);
  expect(response).toMatchObject({ status: 200, upstream: [] });
  expect(dataOf(response)).toMatchObject({ __typename: 'Query' });
});

describe('channel settings', () => {
  const SECRET = 'canary-of-a-channel-4711';
  const QUERY =
    'mutation { createSubscriber(input: { subscriberId: "u" }) { ... on CreateSubscriberSuccess { subscriber { channels } } } }';

  async function channelsFor(authorization: string, sent: unknown) {
    channels = sent;
    const response = await sendToBoth(gateways, { headers: { authorization }, body: { query: QUERY } });
    return { response, channels: Reflect.get(Object(dataOf(response)), 'createSubscriber')?.subscriber.channels };
  }

  const FULL = [
    {
      providerId: 'fcm',
      integrationIdentifier: 'push-1',
      _integrationId: 'i1',
      credentials: { deviceTokens: [SECRET, SECRET], webhookUrl: `https://hooks.example.com/${SECRET}` },
      token: SECRET,
      nested: [{ deep: [{ deeper: SECRET }], empty: '', none: null }],
      number: 4711,
      flag: true,
    },
    { credentials: SECRET },
    {},
  ];

  it('are masked for browser clients and unchanged for server clients', async () => {
    const { channels: masked } = await channelsFor(await bearer(SCOPES), FULL);
    expect(masked).toEqual([
      {
        providerId: 'fcm',
        integrationIdentifier: 'push-1',
        _integrationId: 'i1',
        credentials: { deviceTokens: ['[masked]', '[masked]'], webhookUrl: '[masked]' },
        token: '[masked]',
        nested: [{ deep: [{ deeper: '[masked]' }], empty: '', none: null }],
        number: '[masked]',
        flag: '[masked]',
      },
      { credentials: '[masked]' },
      {},
    ]);
    expect((await channelsFor('ApiKey of-a-server', FULL)).channels).toEqual(FULL);
  });

  it.each<[string, unknown]>([
    ['a list in an unmasked field', [{ providerId: [SECRET] }]],
    [
      'an object with a credential as a property name',
      [{ credentials: { deviceTokens: { [SECRET]: true } }, [SECRET]: 1 }],
    ],
    ['strings', [SECRET, SECRET]],
    ['an object', { credentials: SECRET, length: 1, 0: { token: SECRET } }],
    ['lists', [[SECRET], [[{ a: SECRET }]]]],
    ['null in the list', [null, { token: SECRET }]],
  ])('reveal no credential to browser clients if the service sends %s', async (_, sent) => {
    const { response } = await channelsFor(await bearer(SCOPES), sent);
    expect(JSON.stringify(response.body)).not.toContain(SECRET);
    expect(JSON.stringify(response.body)).not.toContain('INTERNAL_SERVER_ERROR');
  });

  it.each([undefined, null, []])('are empty if the service sends %j', async (sent) => {
    expect((await channelsFor(await bearer(SCOPES), sent)).channels).toEqual([]);
    expect((await channelsFor('ApiKey of-a-server', sent)).channels).toEqual([]);
  });

  it('are never logged', () => {
    expect(gateways.listener.log.length).toBeGreaterThan(10);
    expect(JSON.stringify([gateways.listener.log, gateways.fetch.log])).not.toContain(SECRET);
  });
});

describe('a scope that a token has, but clients.browser.scopes does not permit', () => {
  const clients = clientsOf(signer, { scopes: ['feeds:read'] });
  const sentenceOf = (scope: string) =>
    `This operation requires the scope ${scope}. The token has it, but clients.browser.scopes doesn't permit it.`;

  it('is named as such, beside those that the token lacks', async () => {
    await using gateway = await startGateway({ service: 'healthy', clients, federation: true });
    const authorization = await signer.bearer({ scope: 'groups:read feeds:read groups:write' });
    const messagesOf = async (document: string) => {
      const { status, body } = await gateway.send(document, {}, { authorization });
      expect(status).toBe(403);
      return body.errors?.map(({ message }) => message);
    };
    expect(await messagesOf('{ notificationGroups { name } notificationStats(days: 1) { count } }')).toEqual([
      sentenceOf('groups:read'),
      'The token lacks the scope stats:read, which this operation requires.',
    ]);
    expect(await messagesOf('mutation { createNotificationGroup(input: { name: "a" }) { __typename } }')).toContain(
      sentenceOf('groups:write'),
    );
    expect(
      await messagesOf('{ _entities(representations: [{ __typename: "NotificationGroup", id: "a" }]) { __typename } }'),
    ).toEqual([sentenceOf('groups:read')]);
    expect(gateway.service.requests).toEqual([]);
  });

  it('is named as such to AI agents', async () => {
    await using gateway = await startGateway({
      service: 'healthy',
      clients,
      mcp: { manifest: { a: 'query Groups { notificationGroups { name } }' } },
    });
    await using agent = await connectAgent(gateway, await signer.bearer({ scope: 'groups:read' }));
    const { isError, text } = await agent.call('Groups', {});
    expect([isError, text]).toEqual([true, expect.stringContaining(sentenceOf('groups:read'))]);
  });
});
