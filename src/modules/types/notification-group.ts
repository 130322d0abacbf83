// Adds notification groups, and their queries and mutations.

import {
  createNotificationGroup,
  deleteNotificationGroup,
  getNotificationGroup,
  listNotificationGroups,
  type NotificationGroupBody,
  updateNotificationGroup,
} from '../../upstream/endpoints.ts';
import { defineModule } from '../module.ts';
import { nameField, ownerFields } from './record-fields.ts';

export const notificationGroups = defineModule('notificationGroups', (toolkit) => {
  const { ADDS_ONLY, builder, declareCalls, entity, loader, mutation, requireScopes } = toolkit;

  const notificationGroup = loader<NotificationGroupBody>({
    name: 'notificationGroup',
    get: getNotificationGroup,
    many: { endpoint: listNotificationGroups, keyOf: ({ _id }) => _id },
    identify: (group, id) => ({ _id: id, ...group }),
  });

  const NotificationGroup = builder.objectRef<NotificationGroupBody>('NotificationGroup').implement({
    description: 'A group of workflows, such as "Billing". Every workflow belongs to one.',
    extensions: {
      ...requireScopes('groups:read'),
      ...entity({ id: (id, { loaders }) => loaders.load(notificationGroup, id) }),
      ...declareCalls('1'),
    },
    fields: (t) => ({
      id: t.exposeID('_id', { nullable: true, description: "The group's id, or null if the service sent none." }),
      name: t.exposeString('name', { description: 'The name that people see.' }),
      parentId: t.exposeID('_parentId', {
        nullable: true,
        description:
          "The id of the group that this one was copied from, in another environment, or else of the organization's first group. Null on that one.",
      }),
      ...ownerFields(t, 'group'),
    }),
  });

  const DeletionStatus = builder.enumType('DeletionStatus', {
    description: 'The status of a deletion.',
    values: { DELETED: { value: 'deleted', description: 'The record was deleted.' } } as const,
  });

  builder.queryFields((t) => ({
    notificationGroup: t.field({
      type: NotificationGroup,
      nullable: true,
      extensions: declareCalls('1 for the whole operation'),
      description:
        'Returns the group with this id, or null if it does not exist.\n\nREST: `GET /v1/notification-groups/{id}`, or a single `GET /v1/notification-groups` if the operation requests several groups.',
      args: { id: t.arg.id({ required: true, description: "The group's id." }) },
      resolve: (_root, { id }, ctx) => ctx.loaders.load(notificationGroup, id),
    }),
    notificationGroups: t.field({
      type: [NotificationGroup],
      nullable: { list: true, items: true },
      extensions: declareCalls('1'),
      description:
        'Returns all groups, without pagination. If the service sends an invalid group, that group is null and has an entry in `errors`.\n\nREST: `GET /v1/notification-groups`.',
      resolve: (_root, _args, ctx) => ctx.loaders.list(notificationGroup),
    }),
  }));

  mutation('createNotificationGroup', {
    description: 'Creates a group.',
    scope: 'groups:write',
    endpoint: createNotificationGroup,
    extensions: ADDS_ONLY,
    input: {
      description: 'The group to create.',
      fields: (t) => ({ name: nameField(t, 'The name that people see.') }),
    },
    resolve: async ({ name }, send) => ({ notificationGroup: await send({ body: { name } }) }),
    success: {
      description: 'The group was created.',
      fields: (t) => ({
        notificationGroup: t.expose('notificationGroup', { type: NotificationGroup, description: 'The new group.' }),
      }),
    },
  });

  mutation('updateNotificationGroup', {
    description: 'Renames a group.',
    scope: 'groups:write',
    endpoint: updateNotificationGroup,
    input: {
      description: 'The group to rename.',
      fields: (t) => ({
        id: t.id({ required: true, description: "The group's id." }),
        name: nameField(t, 'The new name.'),
      }),
    },
    failures: { notFound: { resource: 'NotificationGroup', id: ({ id }) => id } },
    resolve: async ({ id, name }, send) => ({
      notificationGroup: { _id: id, ...(await send({ id, body: { name } })) },
    }),
    success: {
      description: 'The group was renamed.',
      fields: (t) => ({
        notificationGroup: t.expose('notificationGroup', {
          type: NotificationGroup,
          description: 'The updated group.',
        }),
      }),
    },
  });

  mutation('deleteNotificationGroup', {
    description: 'Deletes a group. Its workflows remain.',
    scope: 'groups:write',
    endpoint: deleteNotificationGroup,
    input: {
      description: 'The group to delete.',
      fields: (t) => ({ id: t.id({ required: true, description: "The group's id." }) }),
    },
    failures: { notFound: { resource: 'NotificationGroup', id: ({ id }) => id }, conflict: true },
    async resolve({ id }, send) {
      const { acknowledged } = (await send({ id })) ?? {};
      return { id, acknowledged: acknowledged !== false, status: 'deleted' as const };
    },
    success: {
      description:
        'The group was deleted. Its workflows keep their `notificationGroupId`, but their `notificationGroup` is null.',
      fields: (t) => ({
        deletedId: t.exposeID('id', { description: 'The id of the deleted group.' }),
        acknowledged: t.exposeBoolean('acknowledged', { description: 'Whether the service confirmed the deletion.' }),
        status: t.expose('status', { type: DeletionStatus, description: 'The status of the deletion.' }),
      }),
    },
  });

  return { DeletionStatus, NotificationGroup, notificationGroup };
});
