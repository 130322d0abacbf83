import type { WorkflowBody } from '../../upstream/resources/workflows.ts';
import { builder } from '../builder.ts';
import type { GatewayContext } from '../context.ts';
import {
  asConflict,
  asInvalidInput,
  asNotFound,
  assertRange,
  ConflictError,
  InvalidInputError,
  isRejectedInput,
  NotFoundError,
  requireValue,
  toMutationResult,
} from '../errors.ts';
import { requireScopes } from '../require-scopes.ts';
import { NotificationGroup } from './notification-group.ts';
import { WorkflowStep } from './workflow-step.ts';
import { WorkflowTrigger } from './workflow-trigger.ts';

/** Workflows in one list at most; each may cost a call. */
const MAX_WORKFLOWS = 50;

const PreferenceSettings = builder.objectRef<WorkflowBody['preferenceSettings']>('PreferenceSettings').implement({
  description: 'Whether the workflow may send on each channel, unless the subscriber says otherwise.',
  fields: (t) => ({
    email: t.exposeBoolean('email', { nullable: true, description: 'E-mail.' }),
    sms: t.exposeBoolean('sms', { nullable: true, description: 'Text messages.' }),
    inApp: t.exposeBoolean('in_app', { nullable: true, description: 'Inside the app. On the wire: in_app.' }),
    chat: t.exposeBoolean('chat', { nullable: true, description: 'Chat services.' }),
    push: t.exposeBoolean('push', { nullable: true, description: 'Push notifications.' }),
  }),
});

export const Workflow = builder.objectRef<WorkflowBody>('Workflow').implement({
  description: 'A notification template: what is sent, over which channels, in which steps, when it is triggered.',
  extensions: requireScopes('workflows:read'),
  fields: (t) => ({
    id: t.id({ description: "The service's id.", resolve: ({ _id, id }) => requireValue(_id ?? id) }),
    identifier: t.string({
      nullable: true,
      description: 'The identifier of the first trigger; null: it has none.',
      resolve: ({ triggers }) => triggers?.[0]?.identifier,
    }),
    name: t.exposeString('name', { description: 'The name shown to people.' }),
    description: t.exposeString('description', { nullable: true, description: 'What it is for; null: not described.' }),
    active: t.exposeBoolean('active', { description: 'Whether triggering it sends anything.' }),
    draft: t.exposeBoolean('draft', { description: 'Whether it is still being written.' }),
    critical: t.exposeBoolean('critical', { description: 'Whether subscribers cannot switch it off.' }),
    isBlueprint: t.exposeBoolean('isBlueprint', {
      nullable: true,
      description: 'Whether it is a template for other workflows.',
    }),
    tags: t.stringList({ description: 'Labels, for finding it.', resolve: ({ tags }) => tags ?? [] }),
    preferenceSettings: t.expose('preferenceSettings', {
      type: PreferenceSettings,
      description: 'The channels it may use.',
    }),
    steps: t.field({
      type: [WorkflowStep],
      description: 'What happens, in this order.',
      resolve: ({ steps }) => steps ?? [],
    }),
    triggers: t.field({
      type: [WorkflowTrigger],
      description: 'What starts it.',
      resolve: ({ triggers }) => triggers ?? [],
    }),
    notificationGroupId: t.exposeID('_notificationGroupId', { description: 'The id of the group it belongs to.' }),
    notificationGroup: t.field({
      type: NotificationGroup,
      nullable: true,
      extensions: { calls: '0 if the service embeds the group, otherwise 1 for the whole operation' },
      description:
        'The group it belongs to: batched, or as the service embedded it; null when the group no longer exists. One id in the operation: GET /v1/notification-groups/{id}. Two or more: ONE GET /v1/notification-groups.',
      resolve: ({ notificationGroup, _notificationGroupId: id }, _args, ctx) => {
        const groupId = requireValue(id);
        return notificationGroup ? { _id: groupId, ...notificationGroup } : ctx.loaders.notificationGroup.load(groupId);
      },
    }),
    parentId: t.exposeID('_parentId', {
      nullable: true,
      description: 'The workflow in the parent environment that this one was made from; null: none.',
    }),
    data: t.expose('data', { type: 'JSONObject', nullable: true, description: "The caller's own key/value pairs." }),
    workflowIntegrationStatus: t.expose('workflowIntegrationStatus', {
      type: 'JSONObject',
      nullable: true,
      description: 'Which of its channels have an active provider, as the service reports it.',
    }),
    creatorId: t.exposeID('_creatorId', { description: 'The user who created it.' }),
    organizationId: t.exposeID('_organizationId', { description: 'The organization it belongs to.' }),
    environmentId: t.exposeID('_environmentId', { description: 'The environment it belongs to.' }),
    deleted: t.exposeBoolean('deleted', { description: 'Whether it is deleted.' }),
    deletedAt: t.expose('deletedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was deleted; null: it is not.',
    }),
    deletedBy: t.exposeID('deletedBy', { nullable: true, description: 'Who deleted it; null: nobody has.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', nullable: true, description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', nullable: true, description: 'When it was changed last.' }),
    revision: t.exposeInt('__v', { nullable: true, description: "The record's revision. On the wire: __v." }),
  }),
});

const UpdateWorkflowStatusInput = builder.inputType('UpdateWorkflowStatusInput', {
  description: 'The workflow and the state it shall have.',
  fields: (t) => ({
    workflowId: t.id({ required: true, description: "The workflow's id, not its trigger identifier." }),
    active: t.boolean({ required: true, description: 'Whether triggering it shall send anything.' }),
  }),
});

const UpdateWorkflowStatusSuccess = builder
  .objectRef<{ __typename: 'UpdateWorkflowStatusSuccess'; workflow: WorkflowBody; changed: boolean }>(
    'UpdateWorkflowStatusSuccess',
  )
  .implement({
    description: 'The workflow is in the asked state.',
    fields: (t) => ({
      workflow: t.expose('workflow', { type: Workflow, description: 'The workflow as it is now.' }),
      changed: t.exposeBoolean('changed', { description: 'false: it already was in that state.' }),
    }),
  });

const UpdateWorkflowStatusResult = builder.unionType('UpdateWorkflowStatusResult', {
  description: 'What became of updateWorkflowStatus.',
  types: [UpdateWorkflowStatusSuccess, NotFoundError, InvalidInputError, ConflictError],
});

builder.queryFields((t) => ({
  workflow: t.field({
    type: Workflow,
    nullable: true,
    description: 'One workflow; null: the service has no such workflow. GET /v1/workflows/{workflowIdOrIdentifier}',
    args: {
      idOrIdentifier: t.arg.id({ required: true, description: "The workflow's id or its trigger identifier." }),
    },
    resolve: (_root, { idOrIdentifier }, ctx) => ctx.loaders.workflow.load(idOrIdentifier),
  }),
  workflows: t.field({
    type: [Workflow],
    nullable: { list: true, items: true },
    extensions: { calls: '1 per distinct id, 8 at a time' },
    description: `Up to ${MAX_WORKFLOWS} workflows, in the order asked for; null stands for one that is not found; a duplicate costs no further call. GET /v1/workflows/{workflowIdOrIdentifier} for each`,
    args: {
      idsOrIdentifiers: t.arg.idList({
        required: true,
        description: `Ids or trigger identifiers, ${MAX_WORKFLOWS} at most.`,
      }),
    },
    resolve: (_root, { idsOrIdentifiers }, ctx) => {
      assertRange('the number of workflows', idsOrIdentifiers.length, 0, MAX_WORKFLOWS);
      return idsOrIdentifiers.map((key) => ctx.loaders.workflow.load(key));
    },
  }),
}));

builder.mutationFields((t) => ({
  updateWorkflowStatus: t.field({
    type: UpdateWorkflowStatusResult,
    nullable: true,
    extensions: {
      ...requireScopes('workflows:write'),
      calls: '1, or 2 if the service rejects it because nothing changes',
    },
    description:
      'Switches a workflow on or off. Already in the asked state: success with changed: false. PUT /v1/workflows/{workflowId}/status',
    args: {
      input: t.arg({ type: UpdateWorkflowStatusInput, required: true, description: 'The workflow and its new state.' }),
    },
    resolve: (_root, { input }, ctx) =>
      toMutationResult(
        async () => {
          ctx.loaders.workflow.clearAll();
          const updated = await setStatus(ctx, input.workflowId, input.active);
          return { __typename: 'UpdateWorkflowStatusSuccess' as const, ...updated };
        },
        asNotFound('Workflow', input.workflowId),
        asInvalidInput(),
        asConflict,
      ),
  }),
}));

/** Services refuse (400) to set the state that the workflow already has; a look at the workflow tells that refusal from others. */
async function setStatus(ctx: GatewayContext, workflowId: string, active: boolean) {
  try {
    const { body } = await ctx.upstream.updateWorkflowStatus(workflowId, active);
    return { workflow: { _id: workflowId, ...body }, changed: true };
  } catch (error) {
    const present = isRejectedInput(error) ? await ctx.loaders.workflow.load(workflowId).catch(() => null) : null;
    if (present?.active !== active) {
      throw error;
    }
    return { workflow: present, changed: false };
  }
}
