// Serves the workloads with GraphQL Yoga and DataLoader.

import { createServer } from 'node:http';
import DataLoader from 'dataloader';
import { createSchema, createYoga } from 'graphql-yoga';
import { request } from 'undici';
import type { Envelope, NotificationGroup, Service, StatisticsEntry, Workflow } from '../../upstream/records.ts';
import { type Context, resolvers, typeDefs } from '../schema.ts';

const UPSTREAM = process.env.UPSTREAM ?? '';

/** Creates the client of the service for one request, with a loader for each kind of record that is looked up by id. */
function createService(authorization: string): Service {
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
  const workflows = new DataLoader((ids: readonly string[]) =>
    Promise.all(
      ids.map(async (id) => (await call<Envelope<Workflow>>(`/v1/workflows/${encodeURIComponent(id)}`)).data),
    ),
  );
  // The service has no request for several groups, only for one or all.
  const notificationGroups = new DataLoader(async (ids: readonly string[]) => {
    const groups = new Map((await listNotificationGroups()).map((group) => [group._id, group]));
    return ids.map((id) => groups.get(id) ?? new Error(`Unknown notification group ${id}.`));
  });
  return {
    getWorkflow: (id) => workflows.load(id),
    getNotificationGroup: (id) => notificationGroups.load(id),
    listNotificationGroups,
    getStatistics: (days) => call<StatisticsEntry[]>(`/v1/notifications/graph/stats?days=${days}`),
    createNotificationGroup: async (name) =>
      (await call<Envelope<NotificationGroup>>('/v1/notification-groups', { name })).data,
    createSubscriber: async (subscriber) =>
      (await call<Envelope<{ subscriberId: string }>>('/v1/subscribers', subscriber)).data,
  };
}

const yoga = createYoga<object, Context>({
  schema: createSchema<Context>({ typeDefs, resolvers }),
  context: ({ request }) => ({ service: createService(request.headers.get('authorization') ?? '') }),
});

createServer(yoga).listen(Number(process.env.PORT), '127.0.0.1');
