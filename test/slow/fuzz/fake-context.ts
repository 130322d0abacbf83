// Creates contexts with an in-memory upstream service, whose records are partly wrong, late or failing.

import { type LoaderEndpoints, readOf } from '../../../src/graphql/loaders.ts';
import type { CallArgs, DeclaredEndpoint } from '../../../src/upstream/endpoint.ts';
import { UpstreamError } from '../../../src/upstream/errors.ts';
import { createRandom } from '../../support/choices.ts';
import { healthyResponse } from '../../support/healthy-service.ts';
import { group, subscriber, workflow } from '../../support/records.ts';
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
  ...(id.length % 2 === 0 && { notificationGroup: group() }),
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

export function createFakeContext(options: CorruptionOptions): unknown {
  const calls = new Map<string, number>();

  /** Responds to a call. Repeated calls have different outcomes. */
  async function respond(endpoint: DeclaredEndpoint, args: CallArgs): Promise<unknown> {
    const call = `${endpoint.method} ${endpoint.route}(${JSON.stringify(args)})`;
    const count = (calls.get(call) ?? 0) + 1;
    calls.set(call, count);
    const label = `${call}#${count}`;
    const random = createRandom(options.seed, `${label} outcome`);
    const settle = () => {
      if (random.oneIn(8)) {
        throw new UpstreamError({
          code: random.of(CODES),
          message: `No ${endpoint.route}.`,
          endpoint,
          issues: [{ path: ['name'], message: 'Too long.' }],
        });
      }
      return corrupt(responseTo(endpoint, args), label, options);
    };
    return options.isAsync && !random.oneIn(3) ? options.time.later(label, settle) : settle();
  }

  return {
    requestId: 'request',
    identity: { audience: 'server', callerId: 'caller' },
    idempotencyKey: 'key',
    logger: { warn: () => undefined },
    now: () => new Date('2026-01-03T00:00:00Z'),
    upstream: {
      read: (endpoint: DeclaredEndpoint, args: CallArgs) => respond(endpoint, args),
      write: (endpoint: DeclaredEndpoint, args: CallArgs) => respond(endpoint, args),
    },
    usage: {},
    loaders: {
      load: (loader: LoaderEndpoints, key: string) =>
        respond(readOf(loader), { [readOf(loader).params[0] ?? '']: key }),
      list: ({ many }: LoaderEndpoints) => many && respond(many.endpoint, {}),
      reset: () => undefined,
    },
  };
}

/** Returns what the service responds to a call. */
function responseTo({ method, route }: DeclaredEndpoint, args: CallArgs): unknown {
  if (route.endsWith('/stats')) {
    return stats;
  }
  const path = route.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(args[name])));
  const id = String(args.workflowIdOrIdentifier ?? args.workflowId);
  const fields = typeof args.body === 'object' ? args.body : {};
  const records = {
    workflow: fullWorkflow(id),
    subscriber: fullSubscriber(fields),
    group: fields,
    groupIds: ['g1', 'g2'],
  };
  const { body } = healthyResponse({ method, path }, records);
  const record = Object(body).data;
  return method === 'GET' ? record : { body: record, replayed: false };
}
