import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { getNamedType, isObjectType, parse } from 'graphql';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse as load } from 'yaml';
import { defineModule } from '../../src/modules/index.ts';
import { createSchema } from '../../src/modules/schema.ts';
import subscriberProfiles from '../../src/modules/shipped/subscribers.ts';
import { subscribers } from '../../src/modules/types/subscriber.ts';
import { SCOPES, type Scope } from '../../src/settings/scopes.ts';
import { connectAgent } from '../support/agent.ts';
import { measureCpu } from '../support/cpu-time.ts';
import { read } from '../support/docs.ts';
import { sendExplain } from '../support/explain.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';
import { ofFile } from '../support/lifetime.ts';
import { subscriber, workflow } from '../support/records.ts';
import { clientsOf, createSigner } from '../support/tokens.ts';

guards('src/modules/types/masking.ts', 'masked');
guards('src/upstream/transport/body.ts', 'readSuccess');
guards('src/modules/types/record-fields.ts', 'extraField.resolve');
guards('src/modules/types/record-fields.ts', 'collect');

const schema = createSchema();
const signer = createSigner();
const bearer = (scopes: readonly Scope[]) => signer.bearer({ scope: scopes.join(' ') });
const without = (scope: Scope) => SCOPES.filter((each) => each !== scope);

/** JSON that the service sends. */
let sent: { workflow: string; subscriber: string };

const gateway = ofFile(
  await startGateway({
    service: ({ path }) => ({ body: path.startsWith('/v1/subscribers') ? sent.subscriber : sent.workflow }),
    clients: clientsOf(signer),
    modules: [subscriberProfiles],
    federation: true,
  }),
);
const sandboxed = ofFile(await startGateway({ service: 'sandbox' }));
beforeEach(() => script({}));

/** Decides what the service sends beside the members that the contract requires. */
function script(ofWorkflow: object, ofSubscriber: object = {}): void {
  sent = {
    workflow: JSON.stringify({ data: { ...workflow(), ...ofWorkflow } }),
    subscriber: JSON.stringify({ data: { ...subscriber(), ...ofSubscriber } }),
  };
}

/** Reads a selection of a workflow with one step. */
async function readStep(step: object, selection: string): Promise<unknown> {
  script({ steps: [step] });
  const { workflow: read } = await gateway.data<{ workflow: { steps: unknown[] } }>(
    `{ workflow(idOrIdentifier: "w1") { steps { ${selection} } } }`,
  );
  return read.steps[0];
}

/** Reads the extra of a subscriber. */
async function readExtra(record: object, authorization: string): Promise<unknown> {
  script({}, record);
  const { subscriber: read } = await gateway.data<{ subscriber: { extra: unknown } }>(
    '{ subscriber(subscriberId: "u1") { extra } }',
    {},
    { authorization },
  );
  return read.extra;
}

const CONTRACT: { components: { schemas: Record<string, { properties: object }> } } = load(
  read('schema/upstream.openapi.yaml'),
);

const SERVER = 'ApiKey of-a-server';

const fieldsOf = (type: unknown) => (isObjectType(type) ? Object.values(type.getFields()) : []);

/** Returns a selection of all fields of a type and of its parts, except `extra` and fields that make calls. */
function selectAll(type: unknown): string {
  const selections = fieldsOf(type)
    .filter(({ name, extensions }) => name !== 'extra' && !('calls' in extensions))
    .map((field) => {
      const part = getNamedType(field.type);
      return isObjectType(part) ? `${field.name} ${selectAll(part)}` : field.name;
    });
  return `{ __typename ${selections.join(' ')} }`;
}

/** Writes the response of a query to a cache of Apollo Client. Returns what the cache has for it. */
async function viaApollo(text: string, cache: InMemoryCache): Promise<unknown> {
  const link = new HttpLink({ uri: gateway.url, headers: { authorization: SERVER } });
  const query = parse(text);
  await new ApolloClient({ cache, link }).query({ query });
  return cache.readQuery({ query });
}

describe('R17: ids', () => {
  it('R17: every store keeps an inactive step and its active template apart, although both have the same id', async () => {
    script({
      steps: [{ _id: 's1', id: 's1', active: false, template: { _id: 's1', id: 's1', active: true } }],
    });
    const text = `{ workflow(idOrIdentifier: "w1") ${selectAll(schema.getType('Workflow'))} }`;
    // As in Relay's store, whatever the type is.
    const onlyId = new InMemoryCache({ dataIdFromObject: ({ id }) => (typeof id === 'string' ? id : undefined) });
    for (const cache of [new InMemoryCache(), onlyId]) {
      expect(await viaApollo(text, cache)).toMatchObject({
        workflow: { id: 'w1', steps: [{ id: 's1', active: false, template: { active: true, templateId: 's1' } }] },
      });
    }
  });

  it('R17: each value of a field `id` belongs to one record, in the sandbox, whose steps and templates have equal ids', async () => {
    const names = ['comment-mention', 'payment-failed', 'weekly-digest', 'welcome-onboarding'];
    const selections = `workflows(idsOrIdentifiers: ${JSON.stringify(names)}) ${selectAll(schema.getType('Workflow'))}
      notificationGroups ${selectAll(schema.getType('NotificationGroup'))}`;
    const data = await sandboxed.data(`{ ${selections} }`);
    const owners = new Map<unknown, Set<string>>();
    let templates = 0;
    JSON.stringify(data, (_, value) => {
      if (typeof value?.id === 'string') {
        const { __typename: typeName, id } = value;
        owners.set(id, (owners.get(id) ?? new Set()).add(`${typeName} ${value.name ?? ''}`));
      }
      if (value?.__typename === 'WorkflowStep') {
        expect(value.template.templateId).toBe(value.id);
        templates += 1;
      }
      return value;
    });
    expect(templates).toBeGreaterThan(8);
    expect([...owners.values()].filter(({ size }) => size > 1)).toEqual([]);
    expect(new Set([...owners.values()].flatMap((names) => [...names].map((name) => name.split(' ')[0])))).toEqual(
      new Set([
        'NotificationGroup',
        'StepFilter',
        'TemplateVariable',
        'TriggerVariable',
        'Workflow',
        'WorkflowStep',
        'WorkflowTrigger',
      ]),
    );
  });
});

describe('R18: conditions', () => {
  const GROUP = { children: [{ field: 'a', value: '1', operator: 'EQUAL', on: 'payload' }], value: 'OR' };

  const COMPARISON = { field: 'age', value: '18', operator: 'LARGER', on: 'subscriber' };
  const webhookUrl = 'https://example.com/hook';
  const filterOf = (condition: object) => ({ filters: [{ value: 'AND', children: [condition] }] });
  const readCondition = (condition: object) =>
    readStep(filterOf(condition), 'filters { value children { field operator value on extra } }');

  it.each<[string, { on?: string; [member: string]: unknown }]>([
    ['a nested group', GROUP],
    ['a period', { on: 'isOnlineInLast', timeOperator: 'minutes', value: 5 }],
    ['a flag', { on: 'isOnline', value: true }],
    ['a webhook', { on: 'webhook', webhookUrl }],
    ['a previous step', { on: 'previousStep', step: 'u1', stepType: 'read' }],
    ['another kind with an empty field', { on: 'tenant', field: '', operator: 'IS_DEFINED', _id: 'c1' }],
  ])('R18: %s is no comparison: all its members but `on` are in `extra`', async (_, condition) => {
    const { on = null, ...extra } = condition;
    expect(await readCondition(condition)).toEqual(filterOf({ field: null, operator: null, value: null, on, extra }));
  });

  it.each<[string, changes: object, expected: object]>([
    ['of the contract', {}, {}],
    ['of what a webhook returns', { on: 'webhook', webhookUrl }, { on: 'webhook', extra: { webhookUrl } }],
    ['with a number', { value: 18 }, {}],
    ['with a list', { value: ['18', '19'] }, { value: null, extra: { value: ['18', '19'] } }],
  ])('R18: a comparison %s has its own members', async (_, changes, expected) => {
    const read = await readCondition({ ...COMPARISON, ...changes });
    expect(read).toEqual(filterOf({ ...COMPARISON, extra: null, ...expected }));
  });

  it('R18: a comparison with a number that is not exact has no value, and its extra is an error', async () => {
    const children = [{ field: 'age', value: 'X', operator: 'EQUAL', on: 'subscriber' }];
    script({ steps: [{ filters: [{ children }] }] });
    sent.workflow = sent.workflow.replace('"X"', '9007199254740993');
    const { body, codes } = await gateway.send(
      '{ workflow(idOrIdentifier: "w1") { steps { filters { children { field value extra } } } } }',
    );
    expect(body.data).toEqual({
      workflow: { steps: [{ filters: [{ children: [{ field: 'age', value: null, extra: null }] }] }] },
    });
    expect(codes).toEqual(['UPSTREAM_BAD_RESPONSE']);
  });
});

describe('R19: members without a field', () => {
  it('R19: the rest of a timed digest, variants, and the members of a template can be read', async () => {
    const variants = [{ name: 'B', template: { content: 'b' }, filters: [] }];
    const cta = { type: 'redirect', data: { url: 'https://example.com' } };
    const step = {
      variants,
      metadata: {
        type: 'timed',
        unit: 'months',
        delayPath: 'sendAt',
        timed: { weekDays: [], monthDays: [3], atTime: '09:30', ordinal: 'first', ordinalValue: 'monday' },
      },
      template: {
        ...{ _id: 't1', id: 't1', content: 'Hello', contentType: 'editor', _feedId: null },
        ...{ preheader: 'pre', senderName: 'Juniper', cta, contentBlocks: 'other' },
        variables: [{ name: 'a' }, { name: 'b', defaultValue: '1' }],
      },
    };
    expect(
      await readStep(
        step,
        'extra metadata { type timed { monthDays } extra } template { templateId content extra variables { name extra } }',
      ),
    ).toEqual({
      extra: { variants },
      metadata: {
        type: 'timed',
        timed: { monthDays: [3] },
        extra: { delayPath: 'sendAt', timed: { atTime: '09:30', ordinal: 'first', ordinalValue: 'monday' } },
      },
      template: {
        templateId: 't1',
        content: 'Hello',
        extra: { preheader: 'pre', senderName: 'Juniper', cta, contentBlocks: 'other' },
        variables: [
          { name: 'a', extra: null },
          { name: 'b', extra: { defaultValue: '1' } },
        ],
      },
    });
  });

  it('R19: the sandbox has some', async () => {
    const data = await sandboxed.data(
      `{ digest: workflow(idOrIdentifier: "weekly-digest") { steps { metadata { extra } template { extra } } }
         billing: workflow(idOrIdentifier: "payment-failed") { steps { template { extra } filters { children { field value extra } } } } }`,
    );
    const text = JSON.stringify(data);
    for (const part of ['{"timed":{"atTime":"09:00"}}', '"preheader":', '"senderName":', '"cta":']) {
      expect(text).toContain(part);
    }
    expect(text).toContain('{"field":null,"value":null,"extra":{"value":"AND","children":[{"field":"attempt"');
  });

  it('R19: of a record has the unknown members of its parts without `extra`, but not those of other records', async () => {
    const unknown = { newMember: 1, extra: { a: null }, identifier: 'i', toString: 1 };
    script({
      ...unknown,
      notificationGroup: { _id: 'g1', name: 'g', secretOfGroup: 1 },
      preferenceSettings: { email: true, whatsapp: true },
      triggers: [{ identifier: 'i', newMember: 2 }],
    });
    expect(await gateway.data('{ workflow(idOrIdentifier: "w1") { extra triggers { extra } } }')).toEqual({
      workflow: {
        extra: { ...unknown, preferenceSettings: { whatsapp: true } },
        triggers: [{ extra: { newMember: 2 } }],
      },
    });
  });

  /** Name of each type in the contract, and where its records are in a workflow. */
  const TYPES: Record<string, [schemaName: string, ...path: string[]]> = {
    Workflow: ['Workflow'],
    WorkflowStep: ['Step', 'steps'],
    StepTemplate: ['StepTemplate', 'steps', 'template'],
    StepMetadata: ['StepMetadata', 'steps', 'metadata'],
    StepFilter: ['Filter', 'steps', 'filters'],
    StepFilterCondition: ['FilterChild', 'steps', 'filters', 'children'],
    TemplateVariable: ['TemplateVariable', 'steps', 'template', 'variables'],
    WorkflowTrigger: ['Trigger', 'triggers'],
    TriggerVariable: ['TriggerVariable', 'triggers', 'variables'],
  };

  /** Members that other fields need. */
  const NEEDED: Record<string, object> = { Workflow: workflow(), StepFilterCondition: { field: 'a' } };

  /** Returns a record with every member that the contract names. */
  function recordOf(schemaName: string): object {
    const { properties } = CONTRACT.components.schemas[schemaName] ?? expect.unreachable();
    return Object.fromEntries(Object.keys(properties).map((member) => [member, null]));
  }

  it.each(Object.entries(TYPES))(
    'R19: of %s has no member that the contract names, also if a field is added, and every other member',
    async (type, [schemaName, ...path]) => {
      const isOne = (name: string) => name === 'template' || name === 'metadata';
      const selection = path.reduceRight((inner, name) => `${name} { ${inner} }`, 'extra');
      const read = async (more: object) => {
        const record = { ...recordOf(schemaName), ...NEEDED[type], ...more };
        script(path.reduceRight<object>((inner, name) => ({ [name]: isOne(name) ? inner : [inner] }), record));
        return JSON.stringify(await gateway.data(`{ workflow(idOrIdentifier: "w1") { ${selection} } }`));
      };
      expect(await read({})).toContain('{"extra":null}');
      expect(await read({ newMember: 1 })).toContain('{"extra":{"newMember":1}}');
    },
  );

  it('R19: of a subscriber has no member that the contract names, and every other member', async () => {
    const record = { ...recordOf('Subscriber'), subscriberId: 'u1' };
    expect(await readExtra(record, SERVER)).toBeNull();
    const extra = { timezone: 'UTC', topics: [] };
    expect(await readExtra({ ...record, ...extra }, SERVER)).toEqual(extra);
  });

  it('R19: all types with `extra` are tested', () => {
    const types = Object.values(schema.getTypeMap()).filter((type) =>
      fieldsOf(type).some(({ name }) => name === 'extra'),
    );
    expect(types.map(({ name }) => name).toSorted()).toEqual([...Object.keys(TYPES), 'Subscriber'].toSorted());
  });

  it('R19: a field that a module adds leaves `extra` by itself', async () => {
    const timezones = defineModule('timezones', ({ builder, use }) => {
      builder.objectFields(use(subscribers).Subscriber, (t) => ({
        timezone: t.string({
          nullable: true,
          description: 'The time zone.',
          resolve: (record) => ('timezone' in record ? String(record.timezone) : null),
        }),
      }));
    });
    await using other = await startGateway({
      service: () => ({ body: sent.subscriber }),
      modules: [subscriberProfiles, timezones],
    });
    script({}, { timezone: 'UTC', topics: ['a'] });
    const data = await other.data('{ subscriber(subscriberId: "u1") { timezone extra } }');
    expect(data).toEqual({ subscriber: { timezone: 'UTC', extra: { topics: ['a'] } } });
  });
});

describe('R19: `extra` of browsers', () => {
  const RECORD = { variants: [], steps: [{ template: { preheader: 'p' } }] };
  const FRAGMENT = 'fragment F on StepTemplate { ...G } fragment G on StepTemplate { extra }';
  const ENTITIES = '{ _entities(representations: [{ __typename: "Workflow", id: "w1" }])';

  it.each([
    ['directly', '{ workflow(idOrIdentifier: "w1") { extra } }'],
    ['with another name, deeper', '{ workflow(idOrIdentifier: "w1") { steps { template { other: extra } } } }'],
    ['in fragments', `{ workflow(idOrIdentifier: "w1") { steps { template { ... { ...F } } } } } ${FRAGMENT}`],
    [
      'in a mutation',
      'mutation { updateWorkflowStatus(input: { workflowId: "w1", active: true }) { ... on UpdateWorkflowStatusSuccess { workflow { extra } } } }',
    ],
    ['of an entity', `${ENTITIES} { ... on Workflow { extra } } }`],
    [
      'unless a variable excludes it',
      'query ($a: Boolean = true) { workflow(idOrIdentifier: "w1") { name extra @include(if: $a) } }',
    ],
  ])('R19: need the scope workflows:extra %s', async (_, query) => {
    script(RECORD);
    gateway.service.forget();
    const refused = await gateway.send(query, {}, { authorization: await bearer(without('workflows:extra')) });
    expect([refused.status, refused.codes]).toEqual([403, ['FORBIDDEN']]);
    expect(refused.body.errors?.[0]?.extensions).toMatchObject({ scope: 'workflows:extra' });
    expect(gateway.service.requests).toEqual([]);

    const explained = await sendExplain(
      gateway,
      { query },
      { authorization: await bearer(without('workflows:extra')) },
    );
    expect([explained.status, gateway.service.requests.length]).toEqual([403, 0]);

    const scopes: Scope[] = ['workflows:read', 'workflows:write', 'workflows:extra'];
    const served = await gateway.send(query, {}, { authorization: await bearer(scopes) });
    expect([served.status, served.codes]).toEqual([200, []]);
    expect(JSON.stringify(served.body.data)).toMatch(/"(?:extra|other)":\{"(?:variants|preheader)":/);
  });

  it('R19: need no scope for it if a variable excludes it, and servers need none', async () => {
    script(RECORD);
    const query = 'query ($a: Boolean!) { workflow(idOrIdentifier: "w1") { name extra @include(if: $a) } }';
    const authorization = await bearer(['workflows:read']);
    expect(await gateway.data(query, { a: false }, { authorization })).toEqual({ workflow: { name: 'Workflow' } });
    expect(await gateway.data(query, { a: true })).toMatchObject({ workflow: { extra: { variants: [] } } });
    const { body } = await sendExplain(gateway, { query, variables: { a: true } }, { authorization: SERVER });
    expect(body.extensions?.explain).toMatchObject({ scopes: ['workflows:read', 'workflows:extra'] });
  });

  it('R19: need another scope for subscribers', async () => {
    const query = '{ subscriber(subscriberId: "u1") { extra } }';
    const refused = await gateway.send(query, {}, { authorization: await bearer(without('subscribers:extra')) });
    expect(refused.body.errors?.[0]?.extensions).toMatchObject({ code: 'FORBIDDEN', scope: 'subscribers:extra' });
  });

  it('R19: tools for AI agents need it too, and return it', async () => {
    script(RECORD);
    await using other = await startGateway({
      service: () => ({ body: sent.workflow }),
      clients: clientsOf(signer),
      mcp: { manifest: { Extra: 'query Extra { workflow(idOrIdentifier: "w1") { extra } }' } },
    });
    await using reader = await connectAgent(other, await bearer(without('workflows:extra')));
    await using all = await connectAgent(other, await bearer(SCOPES));
    expect([await reader.names(), await all.names()]).toEqual([[], ['Extra']]);
    expect((await all.call('Extra')).structured).toMatchObject({ data: { workflow: { extra: { variants: [] } } } });
  });

  it('R19: see no credentials of subscribers, also with the scope', async () => {
    const SECRET = 'canary-of-a-member-4711';
    const record = {
      timezone: 'Europe/Berlin',
      topics: ['news', { title: 'Offers' }],
      nothing: null,
      accessToken: SECRET,
      webhookUrls: [SECRET],
      devices: { [SECRET]: [SECRET, { a: SECRET }] },
      settings: [{ deep: { apiKey: SECRET, color: 'red' } }],
      providers: [{ providerId: 'fcm', anything: SECRET, nested: { [SECRET]: SECRET } }],
    };
    const extra = await readExtra(record, await bearer(SCOPES));
    expect(extra).toEqual({
      timezone: 'Europe/Berlin',
      topics: ['news', { title: 'Offers' }],
      nothing: null,
      accessToken: '[masked]',
      webhookUrls: ['[masked]'],
      devices: { '[masked]': ['[masked]', { a: '[masked]' }] },
      settings: [{ deep: { apiKey: '[masked]', color: 'red' } }],
      providers: [{ providerId: 'fcm', anything: '[masked]', nested: { '[masked]': '[masked]' } }],
    });
    expect(await readExtra(record, SERVER)).toEqual(record);
    expect(await readExtra({}, await bearer(SCOPES))).toBeNull();
    expect(JSON.stringify(gateway.log)).not.toContain(SECRET);
  });
});

describe('R19: limits of `extra`', () => {
  const deep = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)}`;

  it.each([
    ['too deep', deep(32)],
    ['much too deep', deep(100_000)],
    ['not exact', '9007199254740993'],
    ['not a number of JavaScript', '1e400'],
    ['a key __proto__', '{"__proto__":{"polluted":true}}'],
    ['too large', `[${Array(100_001).fill(1).join(',')}]`],
  ])('R19: a member that is %s fails only the field', async (_, json) => {
    script({ newMember: 'X' }, { newMember: 'X' });
    sent = {
      workflow: sent.workflow.replace('"X"', () => json),
      subscriber: sent.subscriber.replace('"X"', () => json),
    };
    const { body, codes } = await gateway.send('{ workflow(idOrIdentifier: "w1") { name extra } }');
    expect([body.data, codes]).toEqual([{ workflow: { name: 'Workflow', extra: null } }, ['UPSTREAM_BAD_RESPONSE']]);
    const masked = await gateway.send(
      '{ subscriber(subscriberId: "u1") { subscriberId extra } }',
      {},
      { authorization: await bearer(SCOPES) },
    );
    expect([masked.body.data, masked.codes]).toEqual([
      { subscriber: { subscriberId: 'user-1', extra: null } },
      ['UPSTREAM_BAD_RESPONSE'],
    ]);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('R19: a member __proto__ of the record fails only the field', async () => {
    script({ newMember: 1 });
    sent.workflow = sent.workflow.replace('"newMember":1', '"__proto__":{"polluted":true}');
    const { body, codes } = await gateway.send('{ workflow(idOrIdentifier: "w1") { name extra } }');
    expect([body.data, codes]).toEqual([{ workflow: { name: 'Workflow', extra: null } }, ['UPSTREAM_BAD_RESPONSE']]);
  });

  it('R19: a step, condition or template that is no object fails as without `extra`', async () => {
    for (const odd of ['"text"', '7', '["a"]', 'true']) {
      script({ steps: ['X'] });
      sent.workflow = sent.workflow.replace('"X"', () => odd);
      const { body, codes } = await gateway.send('{ workflow(idOrIdentifier: "w1") { steps { name extra } } }');
      expect([codes, JSON.stringify(body.data)]).not.toContain('INTERNAL_SERVER_ERROR');
      expect(JSON.stringify(body)).not.toContain('"extra":{');
    }
  });

  it('R19: is found and checked once per record, however many references and names select it', async () => {
    const members = Object.fromEntries(Array.from({ length: 90_000 }, (_, i) => [`m${i}`, 1]));
    script({ large: members });
    sent.workflow = sent.workflow.replace('"m89999":1', '"m89999":9007199254740993');
    for (const authorization of [SERVER, await bearer(SCOPES)]) {
      const references = (count: number) =>
        gateway.send(
          'query ($r: [_Any!]!) { _entities(representations: $r) { ... on Workflow { extra } } }',
          { r: Array(count).fill({ __typename: 'Workflow', id: 'w1' }) },
          { authorization },
        );
      const cost = async (count: number) => (await measureCpu(() => references(count))).cpuMs;
      await cost(1);
      const [one, many] = [await cost(1), await cost(90)];
      expect(many).toBeLessThan(4 * one + 50);
    }
  });
});

it('R19: `extra` of an entity has no members of the gateway', async () => {
  script({ newMember: 1 });
  const { body } = await gateway.send(
    '{ _entities(representations: [{ __typename: "Workflow", id: "w1" }]) { ... on Workflow { extra } } }',
  );
  expect(body.data).toEqual({ _entities: [{ extra: { newMember: 1 } }] });
});
