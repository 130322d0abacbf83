// Implements the service as differently from the sandbox as the contract allows.

import { feed, group, subscriber, workflow } from './records.ts';
import { type ScriptedService, type ServiceRequest, type ServiceResponse, startService } from './service.ts';

/** Path prefix of the service. */
export const PREFIX = '/notify/api';

/**
 * Starts a minimal service with a path prefix, bodies without an envelope, the group embedded in the workflow, idempotent status updates and
 * different ids. It ignores keys.
 */
export async function startPlainService(): Promise<ScriptedService> {
  const groups = new Map([['grp-1', group({ _id: 'grp-1', name: 'First' })]]);
  const feeds = new Map([['feed-1', feed({ _id: 'feed-1', name: 'Used', identifier: 'used' })]]);
  const subscribers = new Map<string, ReturnType<typeof subscriber>>();
  const flow = workflow({
    _id: 'wf-1',
    name: 'Plain workflow',
    triggers: [{ identifier: 'plain-workflow', variables: [{ name: 'city' }] }],
    _notificationGroupId: 'grp-1',
    data: { owner: 'team' },
  });
  const transactions = new Set(['tx-1']);
  let created = 0;

  const notFound: ServiceResponse = { status: 404, body: { statusCode: 404, message: 'Unknown.' } };
  const found = (body: unknown): ServiceResponse => (body === undefined ? notFound : { body });

  function respond({ method, path, body }: ServiceRequest): ServiceResponse {
    const { pathname, searchParams } = new URL(path, 'http://localhost');
    const [, noun = '', ...ids] = pathname.slice(PREFIX.length + 1).split('/');
    const id = decodeURIComponent(ids[0] ?? '');
    const fields = body === '' ? {} : JSON.parse(body);
    switch (`${method} ${noun}`) {
      case 'GET workflows':
        return found(
          id === 'wf-1' || id === 'plain-workflow' ? { ...flow, notificationGroup: groups.get('grp-1') } : undefined,
        );
      case 'PUT workflows':
        flow.active = fields.active;
        return found(id === 'wf-1' ? flow : undefined);
      case 'POST subscribers': {
        const record = { ...(subscribers.get(fields.subscriberId) ?? subscriber()), ...fields };
        const kept = Object.entries(record).filter(([, value]) => value !== null);
        subscribers.set(fields.subscriberId, subscriber(Object.fromEntries(kept)));
        return { status: 201, body: subscribers.get(fields.subscriberId) };
      }
      case 'GET notification-groups':
        return found(id === '' ? [...groups.values()] : groups.get(id));
      case 'POST notification-groups':
        created += 1;
        groups.set(`grp-new-${created}`, group({ _id: `grp-new-${created}`, name: fields.name }));
        return { status: 201, body: groups.get(`grp-new-${created}`) };
      case 'PATCH notification-groups':
        return found(groups.has(id) ? groups.set(id, { ...group({ _id: id }), name: fields.name }).get(id) : undefined);
      case 'DELETE notification-groups':
        return found(groups.delete(id) ? { acknowledged: true, status: 'deleted' } : undefined);
      case 'POST feeds':
        if ([...feeds.values()].some(({ name }) => name === fields.name)) {
          return { status: 409, body: { statusCode: 409, message: 'The name is taken.' } };
        }
        created += 1;
        feeds.set(
          `feed-new-${created}`,
          feed({ _id: `feed-new-${created}`, name: fields.name, identifier: `id-${created}` }),
        );
        return { status: 201, body: feeds.get(`feed-new-${created}`) };
      case 'DELETE feeds':
        return feeds.delete(id) ? { body: [...feeds.values()] } : notFound;
      case 'DELETE messages':
        return transactions.has(decodeURIComponent(ids[1] ?? '')) ? { status: 204 } : notFound;
      case 'GET notifications': {
        const days = Number(searchParams.get('days') ?? 5);
        const entries = Array.from({ length: days }, (_, i) => ({
          _id: new Date(Date.now() - i * 86_400_000).toISOString().slice(0, 10),
          count: i + 1,
          templates: ['wf-1'],
          channels: ['email', 'in_app'],
        }));
        return { body: entries };
      }
      default:
        return notFound;
    }
  }
  const service = await startService((request) => {
    const headers = { date: new Date().toUTCString(), 'keep-alive': 'timeout=5' };
    return { ...respond(request), headers };
  });
  return { ...service, url: service.url + PREFIX };
}
