import { getNamedType, isObjectType } from 'graphql';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { createSchema } from '../../src/modules/schema.ts';
import { read } from '../support/docs.ts';
import { startGateway } from '../support/gateway.ts';
import { guards } from '../support/guards.ts';

guards('src/graphql/values.ts', 'listOf');

const schema = createSchema();

/** Returns a selection of all fields of a type and of its parts, except those with arguments. */
function allFieldsOf(typeName: string): string {
  const type = schema.getType(typeName);
  const fields = isObjectType(type) ? Object.values(type.getFields()).filter(({ args }) => args.length === 0) : [];
  const selections = fields.map(({ name, type }) => {
    const part = getNamedType(type);
    return isObjectType(part) ? `${name} ${allFieldsOf(part.name)}` : name;
  });
  return `{ ${selections.join(' ')} }`;
}

/** Names of fields that differ from those of records by more than an underscore. */
const NAMES: Readonly<Record<string, string>> = { __v: 'revision', in_app: 'inApp' };

/** Returns a record or a result with the names of the schema, without members that are null or an empty list. */
function normalize(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(normalize);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const members = Object.entries(value).filter(([, member]) => member !== null && String(member) !== '');
  return Object.fromEntries(
    members.map(([name, member]) => {
      const isBlocks = name === 'content' && Array.isArray(member);
      const isTemplateId = 'content' in value && /^_?id$/.test(name);
      const special = isBlocks ? 'contentBlocks' : isTemplateId ? 'templateId' : NAMES[name];
      return [special ?? name.replace(/^_/, ''), normalize(member)];
    }),
  );
}

/** The parts of an OpenAPI schema that the contract uses. */
interface Shape {
  $ref?: string;
  type?: string | string[];
  format?: string;
  oneOf?: Shape[];
  items?: Shape;
  properties?: Record<string, Shape>;
}

const SHAPES: Readonly<Record<string, Shape>> = parse(read('schema/upstream.openapi.yaml')).components.schemas;

let count = 0;

/** Returns a value with every field of the contract, each with a distinct number, text or time. */
function sampleOf({ $ref, oneOf, type, format, items = {}, properties }: Shape): unknown {
  const target = $ref === undefined ? oneOf?.[0] : SHAPES[$ref.replace(/.*\//, '')];
  if (target !== undefined) {
    return sampleOf(target);
  }
  count += 1;
  switch ([type].flat()[0]) {
    case 'string':
      return format === 'date-time' ? new Date(count * 1_000).toISOString() : `text ${count}`;
    case 'number':
      return count;
    case 'boolean':
      return count % 2 === 0;
    case 'array':
      return [sampleOf(items)];
    default:
      return properties === undefined ? { member: count } : recordOf(properties);
  }
}

/** Returns a record, whose `id` is the same as its `_id`. */
function recordOf(properties: Readonly<Record<string, Shape>>): Record<string, unknown> {
  const isTime = (name: string) => name.endsWith('At'); // Not all of them have a format.
  const record = Object.fromEntries(
    Object.entries(properties).map(([name, shape]) => [
      name,
      sampleOf(isTime(name) ? { ...shape, format: 'date-time' } : shape),
    ]),
  );
  return { ...record, ...('_id' in record && 'id' in record && { id: record._id }) };
}

const sample = (name: string): Record<string, unknown> => recordOf(SHAPES[name]?.properties ?? {});

it('every field of a workflow is reachable', async () => {
  const { steps, triggers, notificationGroup, ...others } = sample('Workflow');
  const blocks = { template: { content: [{ type: 'text' }], _feedId: null, _layoutId: null }, _parentId: null };
  const { _id: _notificationGroupId } = Object(notificationGroup);
  const record = { ...others, notificationGroup, _notificationGroupId, triggers, steps: [steps, blocks].flat() };
  await using gateway = await startGateway({ service: () => ({ body: { data: record } }) });
  const { workflow } = await gateway.data(`{ workflow(idOrIdentifier: "w1") ${allFieldsOf('Workflow')} }`);
  const { identifier } = Object(triggers)[0];
  expect(normalize(workflow)).toEqual(normalize({ ...record, identifier }));
  expect(gateway.service.requests).toHaveLength(1);
});

it('every field of a subscriber is reachable', async () => {
  const record = sample('Subscriber');
  await using gateway = await startGateway({ service: () => ({ status: 201, body: { data: record } }) });
  const { channels, data } = record;
  const input = { subscriberId: 'u1', channels, data, avatar: 'http://example.com/a.png' };
  const { createSubscriber } = await gateway.data<{ createSubscriber: { subscriber: unknown } }>(
    `mutation ($input: CreateSubscriberInput!) {
      createSubscriber(input: $input) { ... on CreateSubscriberSuccess { subscriber ${allFieldsOf('Subscriber')} } } }`,
    { input },
  );
  expect(normalize(createSubscriber.subscriber)).toEqual(normalize(record));
  expect(JSON.parse(gateway.service.requests[0]?.body ?? '')).toEqual(input);
});

it('every field of groups, feeds, deletions and statistics is reachable', async () => {
  const { _id, id, ...withoutId } = sample('NotificationGroup');
  const groups = [sample('NotificationGroup'), withoutId];
  const feed = sample('Feed');
  await using gateway = await startGateway({
    service: ({ method, path }) => {
      if (path.startsWith('/v1/notifications')) {
        return {
          body: [
            { _id: '2026-01-02', count: 3, templates: ['w1'], channels: ['in_app', 'email', 'sms', 'chat', 'push'] },
          ],
        };
      }
      if (path.startsWith('/v1/feeds')) {
        return { status: 201, body: { data: feed } };
      }
      return method === 'DELETE'
        ? { body: { data: { acknowledged: true, status: 'deleted' } } }
        : { body: { data: groups } };
    },
  });
  const { notificationGroups, notificationStats } = await gateway.data(
    `{ notificationGroups ${allFieldsOf('NotificationGroup')} notificationStats ${allFieldsOf('StatsEntry')} }`,
  );
  expect(normalize(notificationGroups)).toEqual(normalize(groups));
  expect(notificationStats).toEqual([
    {
      key: '2026-01-02',
      date: '2026-01-02',
      count: 3,
      channels: ['IN_APP', 'EMAIL', 'SMS', 'CHAT', 'PUSH'],
      workflowIds: ['w1'],
    },
  ]);
  const writes = await gateway.data(`mutation {
    createFeed(input: { name: "f" }) { ... on CreateFeedSuccess { replayed feed ${allFieldsOf('Feed')} } }
    deleteNotificationGroup(input: { id: "g1" }) { ... on DeleteNotificationGroupSuccess { deletedId acknowledged status } } }`);
  expect(writes).toEqual({
    createFeed: { replayed: false, feed: normalize(feed) },
    deleteNotificationGroup: { deletedId: 'g1', acknowledged: true, status: 'DELETED' },
  });
});
