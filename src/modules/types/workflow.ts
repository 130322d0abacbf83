// Adds workflows and their triggers, their queries, and the mutation of their status.

import type { FieldMap } from '@pothos/core';
import type { LoadByKey } from '../../graphql/loaders.ts';
import { listOf, loadBySentId, requireId, requireValue, toId } from '../../graphql/values.ts';
import { getWorkflow, type TriggerBody, updateWorkflowStatus, type WorkflowBody } from '../../upstream/endpoints.ts';
import { isUpstreamError } from '../../upstream/errors.ts';
import { defineModule } from '../module.ts';
import { assertRange } from '../toolkit/arguments.ts';
import { notificationGroups } from './notification-group.ts';
import { extraField, type Fields, idField, jsonField, listField, optional, shows, time } from './record-fields.ts';
import { workflowSteps } from './workflow-step.ts';

/** Maximum workflows to load in one list; each can take a call. */
const MAX_WORKFLOWS = 50;

export const workflows = defineModule('workflows', (toolkit) => {
  const { builder, declareCalls, entity, loader, mutation, requireScopes, use } = toolkit;
  const { NotificationGroup, notificationGroup: groupLoader } = use(notificationGroups);
  const { WorkflowStep } = use(workflowSteps);

  const workflow = loader<WorkflowBody>({ name: 'workflow', get: getWorkflow, identify: withKey });

  /** Creates a function that loads the workflow with exactly this key. The service also finds a workflow by its other keys. */
  const loadBy =
    (keyOf: (workflow: WorkflowBody) => string | undefined): LoadByKey =>
    async (key, { loaders }) => {
      const found = await loaders.load(workflow, key);
      return found !== null && toId(keyOf(found)) === key ? found : null;
    };

  const PreferenceSettings = builder.objectRef<WorkflowBody['preferenceSettings']>('PreferenceSettings').implement({
    description: 'Whether messages may be sent on each channel. Null for a channel without a setting.',
    fields: (t) => ({
      email: t.exposeBoolean('email', optional('Whether emails are sent.')),
      sms: t.exposeBoolean('sms', optional('Whether text messages are sent.')),
      inApp: t.exposeBoolean('in_app', optional('Whether in-app messages are sent.')),
      chat: t.exposeBoolean('chat', optional('Whether chat messages are sent.')),
      push: t.exposeBoolean('push', optional('Whether push notifications are sent.')),
    }),
  });

  /** Fields that a workflow also has in a list: all but its id and steps. */
  const workflowFields = (t: Fields<WorkflowBody>): FieldMap => ({
    identifier: t.string({
      nullable: true,
      extensions: shows('triggers'),
      description:
        'The identifier with which apps trigger the workflow: that of the first trigger. Null if there is none.',
      resolve: identifierOf,
    }),
    name: t.exposeString('name', { description: 'The name that people see.' }),
    description: t.exposeString('description', optional('The purpose of the workflow. Null if it has no description.')),
    active: t.exposeBoolean('active', {
      description: 'Whether the workflow runs when triggered. Change it with `updateWorkflowStatus`.',
    }),
    draft: t.boolean({
      description: 'Whether the workflow is a draft. The service can change it together with `active`.',
      resolve: ({ draft }) => draft ?? false,
    }),
    critical: t.boolean({
      description: "Whether the workflow is critical, so that subscribers can't opt out of it.",
      resolve: ({ critical }) => critical ?? false,
    }),
    isBlueprint: t.exposeBoolean('isBlueprint', optional('Whether the workflow is a template for new workflows.')),
    tags: t.stringList({
      description: 'The labels for grouping and finding workflows.',
      resolve: ({ tags }) => listOf(tags),
    }),
    preferenceSettings: t.expose('preferenceSettings', {
      type: PreferenceSettings,
      description: 'The channels on which the workflow sends unless a subscriber chose otherwise.',
    }),
    triggers: listField(t, 'triggers', WorkflowTrigger, 'The triggers with which apps start the workflow.'),
    notificationGroupId: t.id({
      extensions: shows('_notificationGroupId'),
      description: 'The id of the notification group that the workflow belongs to, even if the group no longer exists.',
      resolve: ({ _notificationGroupId, notificationGroup }) =>
        requireValue(_notificationGroupId ?? notificationGroup?._id),
    }),
    notificationGroup: t.field({
      type: NotificationGroup,
      nullable: true,
      extensions: declareCalls('0 if the service embeds the group, otherwise 1 for the whole operation', {
        loader: groupLoader,
        reason: 'None if the service embeds the group in the workflow.',
      }),
      description:
        'The notification group that the workflow belongs to. Null if the group no longer exists.\n\nREST: no call if the service sent the group with the workflow. Otherwise `GET /v1/notification-groups/{id}`, or a single `GET /v1/notification-groups` if the operation requests several groups.',
      resolve: ({ notificationGroup, _notificationGroupId: id }, _args, { loaders }) =>
        notificationGroup
          ? { ...(id != null && { _id: requireId(id) }), ...notificationGroup }
          : loadBySentId(id, (groupId) => loaders.load(groupLoader, groupId)),
    }),
    parentId: t.exposeID(
      '_parentId',
      optional('The id of the workflow in another environment that this one was copied from. Null if it is no copy.'),
    ),
    data: t.expose('data', { type: 'JSONObject', ...optional('Your own key/value pairs. Null if there are none.') }),
    workflowIntegrationStatus: jsonField(
      t,
      'The channels that have an active provider, as sent by the service. Null if it sent none.',
      (workflow) => workflow.workflowIntegrationStatus,
    ),
    creatorId: t.exposeID('_creatorId', { description: 'The id of the user who created the workflow.' }),
    organizationId: t.exposeID('_organizationId', {
      description: 'The id of the organization that owns the workflow.',
    }),
    environmentId: t.exposeID('_environmentId', {
      description: 'The id of the environment that the workflow belongs to.',
    }),
    deleted: t.boolean({
      description: 'Whether the workflow is deleted.',
      resolve: ({ deleted }) => deleted ?? false,
    }),
    deletedAt: t.expose('deletedAt', time('The time when the workflow was deleted. Null if it is not deleted.')),
    deletedBy: t.exposeID(
      'deletedBy',
      optional('The id of the user who deleted the workflow. Null if it is not deleted.'),
    ),
    createdAt: t.expose('createdAt', time('The time when the workflow was created.')),
    updatedAt: t.expose('updatedAt', time('The time when the workflow was last changed.')),
    revision: t.exposeInt('__v', optional('The revision number that the service assigned.')),
    extra: extraField(t, 'workflows'),
  });

  const Workflow = builder.objectRef<WorkflowBody>('Workflow').implement({
    description: 'A workflow: the steps that run when an app triggers it, and the messages that they send.',
    extensions: {
      ...requireScopes('workflows:read'),
      ...entity({ id: loadBy(idOf), identifier: loadBy(identifierOf) }),
      ...declareCalls('1'),
    },
    fields: (t) => ({
      id: t.id({
        extensions: shows('_id', 'id'),
        description: "The workflow's id.",
        resolve: (workflow) => requireValue(idOf(workflow)),
      }),
      ...workflowFields(t),
      steps: listField(t, 'steps', WorkflowStep, 'The steps, in the order in which they run.'),
    }),
  });

  builder.queryFields((t) => ({
    workflow: t.field({
      type: Workflow,
      nullable: true,
      extensions: declareCalls('1'),
      description:
        'Returns a workflow, or null if it does not exist.\n\nREST: `GET /v1/workflows/{workflowIdOrIdentifier}`.',
      args: {
        idOrIdentifier: t.arg.id({ required: true, description: "The workflow's id or its trigger identifier." }),
      },
      resolve: (_root, { idOrIdentifier }, ctx) => ctx.loaders.load(workflow, idOrIdentifier),
    }),
    workflows: t.field({
      type: [Workflow],
      nullable: { list: true, items: true },
      extensions: declareCalls('1 per distinct id, 8 at a time'),
      description: `Returns up to ${MAX_WORKFLOWS} workflows in the requested order, with null for each that does not exist. Duplicates make no extra calls.\n\nREST: \`GET /v1/workflows/{workflowIdOrIdentifier}\` per distinct id.`,
      args: {
        idsOrIdentifiers: t.arg.idList({
          required: true,
          description: `The workflows' ids or trigger identifiers, at most ${MAX_WORKFLOWS}.`,
        }),
      },
      resolve: (_root, { idsOrIdentifiers }, ctx) => {
        assertRange('the number of workflows', idsOrIdentifiers.length, 0, MAX_WORKFLOWS);
        return idsOrIdentifiers.map((key) => ctx.loaders.load(workflow, key));
      },
    }),
  }));

  const TriggerVariable = builder
    .objectRef<NonNullable<TriggerBody['variables']>[number]>('TriggerVariable')
    .implement({
      description: 'A variable that the content of a workflow uses.',
      fields: (t) => ({
        id: idField(t, 'variable'),
        name: t.exposeString('name', { description: 'The name, as used in the content.' }),
        type: t.exposeString('type', optional('The type of the value, such as `String`.')),
        extra: extraField(t, 'workflows'),
      }),
    });

  const WorkflowTrigger = builder.objectRef<TriggerBody>('WorkflowTrigger').implement({
    description: 'A trigger with which an app starts a workflow.',
    fields: (t) => ({
      id: idField(t, 'trigger'),
      type: t.exposeString('type', optional('The kind of trigger, such as `event`.')),
      identifier: t.exposeString('identifier', {
        description: 'The identifier with which apps trigger the workflow. The query `workflow` accepts it too.',
      }),
      variables: listField(t, 'variables', TriggerVariable, 'The variables that a trigger sends.'),
      reservedVariables: listField(
        t,
        'reservedVariables',
        'JSON',
        'The variables that the service sets itself, as sent by the service.',
      ),
      subscriberVariables: listField(
        t,
        'subscriberVariables',
        TriggerVariable,
        'The variables that are read from the subscriber.',
      ),
      extra: extraField(t, 'workflows'),
    }),
  });

  mutation('updateWorkflowStatus', {
    description:
      'Activates or deactivates a workflow. If it already has that status, the result is a success with `changed: false`.',
    scope: 'workflows:write',
    endpoint: updateWorkflowStatus,
    extensions: declareCalls('1, or 2 if the service rejects it because nothing changes', {
      loader: workflow,
      reason: 'One if the service rejects the status, to find out whether the workflow already has it.',
    }),
    input: {
      description: 'The workflow and its new status.',
      fields: (t) => ({
        workflowId: t.id({
          required: true,
          description: "The workflow's id. The service doesn't accept the trigger identifier here.",
        }),
        active: t.boolean({ required: true, description: 'Whether the workflow is to be active.' }),
      }),
    },
    failures: { notFound: { resource: 'Workflow', id: ({ workflowId }) => workflowId }, conflict: true },
    // Services reject (400) the status that a workflow already has, so it is loaded to detect that case.
    async resolve({ workflowId, active }, send, { loaders }) {
      try {
        const updated = await send({ workflowId, body: { active } });
        return { workflow: { _id: workflowId, ...updated }, changed: true };
      } catch (error) {
        const isRejected = isUpstreamError(error) && error.code === 'BAD_USER_INPUT' && error.sent;
        const current = isRejected ? await loaders.load(workflow, workflowId).catch(() => null) : null;
        if (current?.active !== active) {
          throw error;
        }
        return { workflow: current, changed: false };
      }
    },
    success: {
      description: 'The workflow has the requested status.',
      fields: (t) => ({
        workflow: t.expose('workflow', { type: Workflow, description: 'The workflow with its new status.' }),
        changed: t.exposeBoolean('changed', {
          description: 'Whether the status changed. False if the workflow already had it.',
        }),
      }),
    },
  });

  return { PreferenceSettings, Workflow, workflow, workflowFields };
});

export const idOf = ({ _id, id }: WorkflowBody): string | undefined => _id ?? id;

const identifierOf = ({ triggers }: WorkflowBody): string | undefined => triggers?.[0]?.identifier;

/** Adds the key as id to a workflow without one, unless the key is a trigger identifier. The contract allows `_id` to be absent. */
function withKey(workflow: WorkflowBody, key: string): WorkflowBody {
  const isIdentifier = () =>
    Array.isArray(workflow.triggers) && workflow.triggers.some((trigger) => trigger?.identifier === key);
  return idOf(workflow) !== undefined || isIdentifier() ? workflow : { ...workflow, _id: key };
}
