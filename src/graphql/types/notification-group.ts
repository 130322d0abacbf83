import {
  createNotificationGroup,
  type DeletionBody,
  deleteNotificationGroup,
  type NotificationGroupBody,
  updateNotificationGroup,
} from '../../upstream/endpoints/notification-groups.ts';
import { ADDS_ONLY, declareCalls, Entity, requireScopes } from '../declarations.ts';
import { defineModule } from '../module.ts';
import {
  asConflict,
  asInvalidInput,
  asNotFound,
  deriveIdempotencyKey,
  IDEMPOTENCY_KEY,
  mutationErrors,
  REPLAYED,
  toMutationResult,
} from '../mutations.ts';

/** Notification groups. */
export const notificationGroups = defineModule('notificationGroups', ({ builder, use }) => {
  const { ConflictError, InvalidInputError, NotFoundError } = use(mutationErrors);

  const NotificationGroup = builder.objectRef<NotificationGroupBody>('NotificationGroup').implement({
    description: 'A group of workflows, such as "Billing". Every workflow belongs to one.',
    extensions: {
      ...requireScopes('groups:read'),
      entity: new Entity({ id: (id, { loaders }) => loaders.notificationGroup.load(id) }),
    },
    fields: (t) => ({
      id: t.exposeID('_id', { nullable: true, description: "The group's id, or null if the service sent none." }),
      name: t.exposeString('name', { description: 'The name that people see.' }),
      parentId: t.exposeID('_parentId', {
        nullable: true,
        description: 'The id of the group in another environment that this one was copied from. Null if it is no copy.',
      }),
      organizationId: t.exposeID('_organizationId', { description: 'The id of the organization that owns the group.' }),
      environmentId: t.exposeID('_environmentId', {
        description: 'The id of the environment that the group belongs to.',
      }),
    }),
  });

  const DeletionStatus = builder.enumType('DeletionStatus', {
    description: 'The status of a deletion.',
    values: { DELETED: { value: 'deleted', description: 'The record was deleted.' } } as const,
  });

  const CreateNotificationGroupInput = builder.inputType('CreateNotificationGroupInput', {
    description: 'The group to create.',
    fields: (t) => ({
      name: t.string({ required: true, description: 'The name that people see.' }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  });

  const UpdateNotificationGroupInput = builder.inputType('UpdateNotificationGroupInput', {
    description: 'The group to rename.',
    fields: (t) => ({
      id: t.id({ required: true, description: "The group's id." }),
      name: t.string({ required: true, description: 'The new name.' }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  });

  const DeleteNotificationGroupInput = builder.inputType('DeleteNotificationGroupInput', {
    description: 'The group to delete.',
    fields: (t) => ({ id: t.id({ required: true, description: "The group's id." }) }),
  });

  const CreateNotificationGroupSuccess = builder
    .objectRef<GroupSuccess<'CreateNotificationGroupSuccess'>>('CreateNotificationGroupSuccess')
    .implement({
      description: 'The group was created.',
      fields: (t) => ({
        notificationGroup: t.expose('notificationGroup', { type: NotificationGroup, description: 'The new group.' }),
        replayed: t.exposeBoolean('replayed', { description: REPLAYED }),
      }),
    });

  const UpdateNotificationGroupSuccess = builder
    .objectRef<GroupSuccess<'UpdateNotificationGroupSuccess'>>('UpdateNotificationGroupSuccess')
    .implement({
      description: 'The group was renamed.',
      fields: (t) => ({
        notificationGroup: t.expose('notificationGroup', {
          type: NotificationGroup,
          description: 'The updated group.',
        }),
        replayed: t.exposeBoolean('replayed', { description: REPLAYED }),
      }),
    });

  const DeleteNotificationGroupSuccess = builder
    .objectRef<{ __typename: 'DeleteNotificationGroupSuccess'; id: string } & DeletionBody>(
      'DeleteNotificationGroupSuccess',
    )
    .implement({
      description:
        'The group was deleted. Its workflows keep their `notificationGroupId`, but their `notificationGroup` is null.',
      fields: (t) => ({
        deletedId: t.exposeID('id', { description: 'The id of the deleted group.' }),
        acknowledged: t.exposeBoolean('acknowledged', { description: 'Whether the service confirmed the deletion.' }),
        status: t.expose('status', { type: DeletionStatus, description: 'The status of the deletion.' }),
      }),
    });

  const CreateNotificationGroupResult = builder.unionType('CreateNotificationGroupResult', {
    description: 'The result of `createNotificationGroup`.',
    types: [CreateNotificationGroupSuccess, InvalidInputError, ConflictError],
  });

  const UpdateNotificationGroupResult = builder.unionType('UpdateNotificationGroupResult', {
    description: 'The result of `updateNotificationGroup`.',
    types: [UpdateNotificationGroupSuccess, NotFoundError, InvalidInputError, ConflictError],
  });

  const DeleteNotificationGroupResult = builder.unionType('DeleteNotificationGroupResult', {
    description: 'The result of `deleteNotificationGroup`.',
    types: [DeleteNotificationGroupSuccess, NotFoundError, InvalidInputError, ConflictError],
  });

  builder.queryFields((t) => ({
    notificationGroup: t.field({
      type: NotificationGroup,
      nullable: true,
      extensions: declareCalls('1 for the whole operation'),
      description:
        'Returns the group with this id, or null if it does not exist.\n\nREST: `GET /v1/notification-groups/{id}`, or a single `GET /v1/notification-groups` if the operation requests several groups.',
      args: { id: t.arg.id({ required: true, description: "The group's id." }) },
      resolve: (_root, { id }, ctx) => ctx.loaders.notificationGroup.load(id),
    }),
    notificationGroups: t.field({
      type: [NotificationGroup],
      nullable: true,
      description: 'Returns all groups, without pagination.\n\nREST: `GET /v1/notification-groups`.',
      resolve: (_root, _args, ctx) => ctx.loaders.notificationGroup.list(),
    }),
  }));

  builder.mutationFields((t) => ({
    createNotificationGroup: t.field({
      type: CreateNotificationGroupResult,
      nullable: true,
      extensions: { ...requireScopes('groups:write'), ...ADDS_ONLY },
      description: 'Creates a group.\n\nREST: `POST /v1/notification-groups`.',
      args: {
        input: t.arg({ type: CreateNotificationGroupInput, required: true, description: 'The group to create.' }),
      },
      resolve(_root, { input }, ctx, info) {
        ctx.loaders.notificationGroup.clear();
        return toMutationResult(
          createNotificationGroup(ctx.upstream, input.name, deriveIdempotencyKey(ctx, info, input.idempotencyKey)),
          ({ body, replayed }) => ({
            __typename: 'CreateNotificationGroupSuccess' as const,
            notificationGroup: body,
            replayed,
          }),
          asInvalidInput(),
          asConflict,
        );
      },
    }),
    updateNotificationGroup: t.field({
      type: UpdateNotificationGroupResult,
      nullable: true,
      extensions: requireScopes('groups:write'),
      description: 'Renames a group.\n\nREST: `PATCH /v1/notification-groups/{id}`.',
      args: {
        input: t.arg({ type: UpdateNotificationGroupInput, required: true, description: 'The group to rename.' }),
      },
      resolve(_root, { input: { id, name, idempotencyKey } }, ctx, info) {
        ctx.loaders.notificationGroup.clear(id);
        return toMutationResult(
          updateNotificationGroup(ctx.upstream, id, name, deriveIdempotencyKey(ctx, info, idempotencyKey)),
          ({ body, replayed }) => ({
            __typename: 'UpdateNotificationGroupSuccess' as const,
            notificationGroup: ctx.loaders.notificationGroup.prime(id, body),
            replayed,
          }),
          asNotFound('NotificationGroup', id),
          asInvalidInput(),
          asConflict,
        );
      },
    }),
    deleteNotificationGroup: t.field({
      type: DeleteNotificationGroupResult,
      nullable: true,
      extensions: requireScopes('groups:write'),
      description: 'Deletes a group. Its workflows remain.\n\nREST: `DELETE /v1/notification-groups/{id}`.',
      args: {
        input: t.arg({ type: DeleteNotificationGroupInput, required: true, description: 'The group to delete.' }),
      },
      resolve(_root, { input: { id } }, ctx) {
        ctx.loaders.notificationGroup.clear(id);
        return toMutationResult(
          deleteNotificationGroup(ctx.upstream, id),
          ({ body: { acknowledged, status } }) => {
            ctx.loaders.notificationGroup.primeDeleted(id);
            return { __typename: 'DeleteNotificationGroupSuccess' as const, id, acknowledged, status };
          },
          asNotFound('NotificationGroup', id),
          asInvalidInput(),
          asConflict,
        );
      },
    }),
  }));

  return { NotificationGroup };
});

/** Result of a mutation that returns the changed group. */
interface GroupSuccess<Name extends string> {
  __typename: Name;
  notificationGroup: NotificationGroupBody;
  replayed: boolean;
}
