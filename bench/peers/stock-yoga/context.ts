import DataLoader from 'dataloader';
import { request } from 'undici';
import type { Envelope, NewSubscriber, NotificationGroup, StatisticsEntry, Subscriber, Workflow } from '../upstream.ts';

/** GraphQL context. */
export type Context = ReturnType<typeof createContext>;

const UPSTREAM = process.env.UPSTREAM ?? '';

/** Creates the context of one request. */
export function createContext(authorization: string) {
  async function call<T>(path: string, body?: object): Promise<T> {
    const response = await request(UPSTREAM + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (response.statusCode > 299) {
      await response.body.dump();
      throw new Error(`The service responded with ${response.statusCode}.`);
    }
    return (await response.body.json()) as T; // As declared in the service's contract.
  }

  const listNotificationGroups = async () =>
    (await call<Envelope<NotificationGroup[]>>('/v1/notification-groups')).data;

  return {
    workflows: new DataLoader((ids: readonly string[]) =>
      Promise.all(
        ids.map(async (id) => (await call<Envelope<Workflow>>(`/v1/workflows/${encodeURIComponent(id)}`)).data),
      ),
    ),
    // The service has no request for several groups, only for one or all.
    notificationGroups: new DataLoader(async (ids: readonly string[]) => {
      const groups = new Map((await listNotificationGroups()).map((group) => [group._id, group]));
      return ids.map((id) => groups.get(id) ?? new Error(`Unknown notification group ${id}.`));
    }),
    listNotificationGroups,
    getStatistics: (days: number) => call<StatisticsEntry[]>(`/v1/notifications/graph/stats?days=${days}`),
    createNotificationGroup: async (name: string) =>
      (await call<Envelope<NotificationGroup>>('/v1/notification-groups', { name })).data,
    createSubscriber: async (subscriber: NewSubscriber) =>
      (await call<Envelope<Subscriber>>('/v1/subscribers', subscriber)).data,
  };
}
