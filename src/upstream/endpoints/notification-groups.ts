import type { UpstreamClient } from '../client.ts';
import type { components } from '../openapi.gen.ts';

/** Notification group as the service returns it. */
export type NotificationGroupBody = components['schemas']['NotificationGroup'];
/** Result of a deletion as the service returns it. */
export type DeletionBody = components['schemas']['DeletionAcknowledgement'];

/** Returns a group by id; null if it doesn't exist. */
export const getNotificationGroup = (client: UpstreamClient, id: string) =>
  client.read<NotificationGroupBody>({ route: '/v1/notification-groups/{id}', params: { id }, expect: 'record' });

/** Returns all groups. The service has no pagination. */
export const listNotificationGroups = (client: UpstreamClient) =>
  client.read<NotificationGroupBody[]>({ route: '/v1/notification-groups', expect: 'list' });

/** Creates a group. */
export const createNotificationGroup = (client: UpstreamClient, name: string, idempotencyKey?: string) =>
  client.write<NotificationGroupBody>({
    method: 'POST',
    route: '/v1/notification-groups',
    body: { name },
    idempotencyKey,
    expect: 'record',
  });

/** Renames a group. */
export const updateNotificationGroup = (client: UpstreamClient, id: string, name: string, idempotencyKey?: string) =>
  client.write<NotificationGroupBody>({
    method: 'PATCH',
    route: '/v1/notification-groups/{id}',
    params: { id },
    body: { name },
    idempotencyKey,
    expect: 'record',
  });

/** Deletes a group. */
export const deleteNotificationGroup = (client: UpstreamClient, id: string) =>
  client.write<DeletionBody>({
    method: 'DELETE',
    route: '/v1/notification-groups/{id}',
    params: { id },
    expect: 'record',
  });
