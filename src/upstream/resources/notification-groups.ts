import type { UpstreamClient } from '../client.ts';
import type { components } from '../openapi.gen.ts';

export type NotificationGroupBody = components['schemas']['NotificationGroup'];
export type DeletionBody = components['schemas']['DeletionAcknowledgement'];

/** null: there is none. */
export const getNotificationGroup = (client: UpstreamClient, id: string) =>
  client.read<NotificationGroupBody>({ route: '/v1/notification-groups/{id}', params: { id }, expect: 'record' });

/** All of them: the service does not page. */
export const listNotificationGroups = (client: UpstreamClient) =>
  client.read<NotificationGroupBody[]>({ route: '/v1/notification-groups', expect: 'list' });

export const createNotificationGroup = (client: UpstreamClient, name: string, idempotencyKey?: string) =>
  client.write<NotificationGroupBody>({
    method: 'POST',
    route: '/v1/notification-groups',
    body: { name },
    idempotencyKey,
    expect: 'record',
  });

export const updateNotificationGroup = (client: UpstreamClient, id: string, name: string, idempotencyKey?: string) =>
  client.write<NotificationGroupBody>({
    method: 'PATCH',
    route: '/v1/notification-groups/{id}',
    params: { id },
    body: { name },
    idempotencyKey,
    expect: 'record',
  });

export const deleteNotificationGroup = (client: UpstreamClient, id: string) =>
  client.write<DeletionBody>({
    method: 'DELETE',
    route: '/v1/notification-groups/{id}',
    params: { id },
    expect: 'record',
  });
