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

/** Maximum workflows to load in one list; each can take a call. */
const MAX_WORKFLOWS = 50;

const PreferenceSettings = builder.objectRef<WorkflowBody['preferenceSettings']>('PreferenceSettings').implement({
  description: 'The channels over which the workflow sends by default. Subscribers can override them.',
  fields: (t) => ({
    email: t.exposeBoolean('email', { nullable: true, description: 'Whether emails are sent by default.' }),
    sms: t.exposeBoolean('sms', { nullable: true, description: 'Whether text messages are sent by default.' }),
    inApp: t.exposeBoolean('in_app', {
      nullable: true,
      description: 'Whether in-app messages are sent by default (`in_app` in REST).',
    }),
    chat: t.exposeBoolean('chat', { nullable: true, description: 'Whether chat messages are sent by default.' }),
    push: t.exposeBoolean('push', { nullable: true, description: 'Whether push notifications are sent by default.' }),
  }),
});

export const Workflow = builder.objectRef<WorkflowBody>('Workflow').implement({
  description: 'A workflow: the steps that run when it is triggered, and the messages they send.',
  extensions: requireScopes('workflows:read'),
  fields: (t) => ({
    id: t.id({ description: "The record's id.", resolve: ({ _id, id }) => requireValue(_id ?? id) }),
    identifier: t.string({
      nullable: true,
      description: 'The identifier of the first trigger, or null if it has none.',
      resolve: ({ triggers }) => triggers?.[0]?.identifier,
    }),
    name: t.exposeString('name', { description: 'The display name.' }),
    description: t.exposeString('description', { nullable: true, description: 'The description, or null if none.' }),
    active: t.exposeBoolean('active', { description: 'Whether it sends notifications when triggered.' }),
    draft: t.exposeBoolean('draft', { description: 'Whether it is a draft.' }),
    critical: t.exposeBoolean('critical', {
      description: 'Whether it is critical, which means that subscribers cannot disable it.',
    }),
    isBlueprint: t.exposeBoolean('isBlueprint', {
      nullable: true,
      description: 'Whether it is a template for other workflows.',
    }),
    tags: t.stringList({ description: 'Labels for searching.', resolve: ({ tags }) => tags ?? [] }),
    preferenceSettings: t.expose('preferenceSettings', {
      type: PreferenceSettings,
      description: 'The default channel preferences.',
    }),
    steps: t.field({
      type: [WorkflowStep],
      description: 'The steps, in the order in which they run.',
      resolve: ({ steps }) => steps ?? [],
    }),
    triggers: t.field({
      type: [WorkflowTrigger],
      description: 'The triggers that start it.',
      resolve: ({ triggers }) => triggers ?? [],
    }),
    notificationGroupId: t.exposeID('_notificationGroupId', { description: 'The id of its notification group.' }),
    notificationGroup: t.field({
      type: NotificationGroup,
      nullable: true,
      extensions: { calls: '0 if the service embeds the group, otherwise 1 for the whole operation' },
      description:
        'Its notification group, or null if the group no longer exists. No call if the service embeds the group, otherwise GET /v1/notification-groups/{id}, or a single GET /v1/notification-groups if the operation requests several groups',
      resolve: ({ notificationGroup, _notificationGroupId: id }, _args, ctx) => {
        const groupId = requireValue(id);
        return notificationGroup ? { _id: groupId, ...notificationGroup } : ctx.loaders.notificationGroup.load(groupId);
      },
    }),
    parentId: t.exposeID('_parentId', {
      nullable: true,
      description: 'The id of the workflow in the parent environment that this one was created from, or null if none.',
    }),
    data: t.expose('data', { type: 'JSONObject', nullable: true, description: 'Custom key/value pairs.' }),
    workflowIntegrationStatus: t.expose('workflowIntegrationStatus', {
      type: 'JSONObject',
      nullable: true,
      description: 'The channels that have an active provider, as sent by the service.',
    }),
    creatorId: t.exposeID('_creatorId', { description: 'The id of the user who created it.' }),
    organizationId: t.exposeID('_organizationId', { description: 'The id of its organization.' }),
    environmentId: t.exposeID('_environmentId', { description: 'The id of its environment.' }),
    deleted: t.exposeBoolean('deleted', { description: 'Whether it is deleted.' }),
    deletedAt: t.expose('deletedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was deleted, or null if it is not.',
    }),
    deletedBy: t.exposeID('deletedBy', {
      nullable: true,
      description: 'The id of the user who deleted it, or null if it is not deleted.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', nullable: true, description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', nullable: true, description: 'When it was last updated.' }),
    revision: t.exposeInt('__v', { nullable: true, description: 'The revision of the record (`__v` in REST).' }),
  }),
});

const UpdateWorkflowStatusInput = builder.inputType('UpdateWorkflowStatusInput', {
  description: 'The workflow and its new status.',
  fields: (t) => ({
    workflowId: t.id({ required: true, description: "The workflow's id, not its trigger identifier." }),
    active: t.boolean({ required: true, description: 'Whether the workflow should be active.' }),
  }),
});

const UpdateWorkflowStatusSuccess = builder
  .objectRef<{ __typename: 'UpdateWorkflowStatusSuccess'; workflow: WorkflowBody; changed: boolean }>(
    'UpdateWorkflowStatusSuccess',
  )
  .implement({
    description: 'The workflow has the requested status.',
    fields: (t) => ({
      workflow: t.expose('workflow', { type: Workflow, description: 'The workflow with its new status.' }),
      changed: t.exposeBoolean('changed', {
        description: 'Whether the status changed; false if the workflow already had it.',
      }),
    }),
  });

const UpdateWorkflowStatusResult = builder.unionType('UpdateWorkflowStatusResult', {
  description: 'The result of `updateWorkflowStatus`.',
  types: [UpdateWorkflowStatusSuccess, NotFoundError, InvalidInputError, ConflictError],
});

builder.queryFields((t) => ({
  workflow: t.field({
    type: Workflow,
    nullable: true,
    description: 'Returns a workflow, or null if it does not exist. GET /v1/workflows/{workflowIdOrIdentifier}',
    args: {
      idOrIdentifier: t.arg.id({ required: true, description: "The workflow's id or its trigger identifier." }),
    },
    resolve: (_root, { idOrIdentifier }, ctx) => ctx.loaders.workflow.load(idOrIdentifier),
  }),
  workflows: t.field({
    type: [Workflow],
    nullable: { list: true, items: true },
    extensions: { calls: '1 per distinct id, 8 at a time' },
    description: `Returns up to ${MAX_WORKFLOWS} workflows in the requested order, with null for each that does not exist. Duplicates take no extra calls. GET /v1/workflows/{workflowIdOrIdentifier} for each`,
    args: {
      idsOrIdentifiers: t.arg.idList({
        required: true,
        description: `Ids or trigger identifiers, at most ${MAX_WORKFLOWS}.`,
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
      'Activates or deactivates a workflow. Succeeds with `changed: false` if it already has that status. PUT /v1/workflows/{workflowId}/status',
    args: {
      input: t.arg({
        type: UpdateWorkflowStatusInput,
        required: true,
        description: 'The workflow and its new status.',
      }),
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

/** Sets the status of a workflow. Services reject (400) the status that it already has, so loads it to detect that case. */
async function setStatus(ctx: GatewayContext, workflowId: string, active: boolean) {
  try {
    const { body } = await ctx.upstream.updateWorkflowStatus(workflowId, active);
    return { workflow: { _id: workflowId, ...body }, changed: true };
  } catch (error) {
    const current = isRejectedInput(error) ? await ctx.loaders.workflow.load(workflowId).catch(() => null) : null;
    if (current?.active !== active) {
      throw error;
    }
    return { workflow: current, changed: false };
  }
}
