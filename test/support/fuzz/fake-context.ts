import { UpstreamError } from '../../../src/upstream/errors.ts';
import { feed, group, subscriber, workflow } from '../records.ts';
import { createRandom } from './choices.ts';
import { type CorruptionOptions, corrupt } from './corruption.ts';

const condition = { field: 'total', value: '100', operator: 'LARGER', on: 'payload' };

const step = (number: number) => ({
  _id: `s${number}`,
  uuid: 'u',
  name: `Step ${number}`,
  _templateId: 't1',
  active: true,
  shouldStopOnFail: false,
  template: { _id: 't1', type: 'email', active: true, subject: 'Hi', content: [{ type: 'text', content: 'Hi' }] },
  filters: [{ _id: 'f1', isNegated: false, type: 'BOOLEAN', value: 'AND', children: [condition, condition] }],
  _parentId: null,
  metadata: { amount: 1, unit: 'hours', timed: { weekDays: ['monday'], monthDays: [1, 2] } },
  replyCallback: { active: true },
});

const trigger = {
  _id: 't1',
  type: 'event',
  identifier: 'order-shipped',
  variables: [{ _id: 'v1', name: 'orderId', type: 'String' }],
  reservedVariables: [{ type: 'tenant' }],
  subscriberVariables: [{ name: 'email' }],
};

const fullWorkflow = (id: string) => ({
  ...workflow({ _id: id, name: `Workflow ${id}`, tags: ['a', 'b'] }),
  description: 'Sent.',
  steps: [step(1), step(2)],
  triggers: [trigger],
  notificationGroup: id.length % 2 === 0 ? group() : undefined,
  data: { nested: { list: [1, 'two', null] } },
  workflowIntegrationStatus: { hasActiveIntegrations: true },
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  __v: 3,
});

const fullSubscriber = (fields: unknown) => ({
  ...subscriber(),
  firstName: 'Ada',
  channels: [{ providerId: 'slack', credentials: { webhookUrl: 'https://example.com' } }],
  data: { fields },
});

const stats = [
  { _id: '2026-01-02', count: 3, templates: ['w1', 'w2', 'w1'], channels: ['email', 'fax'] },
  { _id: '2026-01-01', count: 5, templates: [], channels: ['in_app', 'sms'] },
  { _id: 'total', count: 8, templates: ['w3'], channels: [] },
];

const CODES: ['NOT_FOUND', 'CONFLICT', 'BAD_USER_INPUT', 'UPSTREAM_TIMEOUT'] = [
  'NOT_FOUND',
  'CONFLICT',
  'BAD_USER_INPUT',
  'UPSTREAM_TIMEOUT',
];

/** Creates a context with an in-memory upstream service, whose records are partly wrong, late or failing. */
export function createFakeContext(options: CorruptionOptions): unknown {
  const calls = new Map<string, number>();

  /** Responds to a call. Repeated calls have different outcomes. */
  function respond(name: string, args: readonly unknown[], value: unknown): unknown {
    const call = `${name}(${JSON.stringify(args)})`;
    const count = (calls.get(call) ?? 0) + 1;
    calls.set(call, count);
    const label = `${call}#${count}`;
    const random = createRandom(options.seed, `${label} outcome`);
    const settle = () => {
      if (random.oneIn(8)) {
        throw new UpstreamError({
          code: random.of(CODES),
          message: `No ${name}.`,
          endpoint: { method: name.startsWith('get') || name.startsWith('list') ? 'GET' : 'POST', route: '/v1' },
          issues: [{ path: ['name'], message: 'Too long.' }],
        });
      }
      return corrupt(value, label, options);
    };
    return options.isAsync && !random.oneIn(3) ? options.time.later(label, settle) : settle();
  }

  const toWriteResult = (record: unknown) => ({ body: record, replayed: false });
  const loadGroup = (id: string) => respond('getNotificationGroup', [id], group({ _id: id }));
  return {
    requestId: 'request',
    identity: { audience: 'server', callerId: 'caller' },
    idempotencyKey: 'key',
    logger: { warn: () => undefined },
    now: () => new Date('2026-01-03T00:00:00Z'),
    upstream: {
      updateWorkflowStatus: (id: string, active: boolean) =>
        respond('updateWorkflowStatus', [id, active], toWriteResult(fullWorkflow(id))),
      createSubscriber: (fields: unknown, key: unknown) =>
        respond('createSubscriber', [fields, key], toWriteResult(fullSubscriber(fields))),
      getNotificationGroup: loadGroup,
      listNotificationGroups: () => respond('listNotificationGroups', [], [group(), group({ _id: 'g2' })]),
      createNotificationGroup: (name: string) =>
        respond('createNotificationGroup', [name], toWriteResult(group({ name }))),
      updateNotificationGroup: (id: string, name: string) =>
        respond('updateNotificationGroup', [id, name], toWriteResult(group({ _id: id, name }))),
      deleteNotificationGroup: (id: string) =>
        respond('deleteNotificationGroup', [id], toWriteResult({ acknowledged: true, status: 'deleted' })),
      createFeed: (name: string) => respond('createFeed', [name], toWriteResult(feed({ name }))),
      deleteFeed: (id: string) => respond('deleteFeed', [id], toWriteResult([feed(), feed({ _id: 'f2' })])),
      deleteMessagesByTransaction: (id: string) =>
        respond('deleteMessagesByTransaction', [id], toWriteResult(undefined)),
      getNotificationStats: (days: unknown) => respond('getNotificationStats', [days], stats),
    },
    loaders: {
      workflow: {
        load: (key: string) => respond('getWorkflow', [key], fullWorkflow(String(key))),
        clear: () => undefined,
        clearAll: () => undefined,
      },
      notificationGroup: {
        load: loadGroup,
        list: () => respond('listNotificationGroups', [], [group(), group({ _id: 'g2' })]),
        clear: () => undefined,
        prime: (_id: string, body: unknown) => body,
        primeDeleted: () => undefined,
      },
    },
  };
}
