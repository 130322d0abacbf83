// Defines the messages that a person wants to receive: at all, and of each workflow.

import { requireScopes } from '../../graphql/scopes.ts';
import { listOf, requireId } from '../../graphql/values.ts';
import type { ChannelName, PreferenceBody, PreferencesBody } from '../../upstream/endpoints.ts';
import type { Toolkit } from '../module.ts';
import { CHANNELS } from './message.ts';
import { type Fields, optional } from './record-fields.ts';
import { workflows } from './workflow.ts';

type Of = { subscriberId: string };

/** Whether a preference is that of the workflow with this id or identifier. */
export const isOfWorkflow = ({ template }: PreferenceBody, idOrIdentifier: string): boolean =>
  template?._id === idOrIdentifier || listOf(template?.triggers).some((each) => each.identifier === idOrIdentifier);

/** Returns the channels whose value is another one. The service shows only those that the workflow has, and in some versions all. */
export const channelsOtherThan = ({ preference }: PreferencesBody, enabled: boolean): ChannelName[] =>
  CHANNELS.filter((channel) => preference?.channels?.[channel] === !enabled);

/** Defines the types of preferences, as a part of the module that has the toolkit. */
export function definePreferences({ builder, use }: Toolkit) {
  const { PreferenceSettings } = use(workflows);
  const readable = { extensions: requireScopes('inbox:read') };

  const preferenceFields = <Body extends PreferencesBody>(t: Fields<Body>) => ({
    enabled: t.boolean({
      ...optional('Whether any messages may be sent. Versions since November 2024 always send true: see `channels`.'),
      resolve: ({ preference }) => preference?.enabled,
    }),
    channels: t.field({
      type: PreferenceSettings,
      ...optional('By channel.'),
      resolve: (of) => of.preference?.channels,
    }),
  });

  const ChannelPreferences = builder.objectRef<PreferencesBody & Of>('ChannelPreferences').implement({
    description: 'The messages that a person wants to receive at all.',
    ...readable,
    fields: (t) => ({
      id: t.id({
        description: 'An id for caches of clients.',
        resolve: ({ subscriberId }) => `preferences:${subscriberId}`,
      }),
      ...preferenceFields(t),
    }),
  });

  const WorkflowPreference = builder.objectRef<PreferenceBody & Of>('WorkflowPreference').implement({
    description: 'The messages of a workflow that a person wants to receive.',
    ...readable,
    fields: (t) => ({
      id: t.id({
        description: 'An id for caches of clients.',
        resolve: ({ template, subscriberId }) => `preference:${requireId(template?._id)}:${subscriberId}`,
      }),
      workflowId: t.id({
        ...optional("The workflow's id, which differs per environment."),
        resolve: ({ template }) => template?._id,
      }),
      identifier: t.id({
        ...optional("The workflow's identifier, which is the same in each environment."),
        resolve: ({ template }) => listOf(template?.triggers)[0]?.identifier,
      }),
      name: t.string({ ...optional('The name that people see.'), resolve: ({ template }) => template?.name }),
      tags: t.stringList({
        description: 'The tags of the workflow.',
        resolve: ({ template }) => listOf(template?.tags),
      }),
      critical: t.boolean({
        description: 'Whether its messages are always sent.',
        resolve: ({ template }) => template?.critical ?? false,
      }),
      ...preferenceFields(t),
    }),
  });

  return { ChannelPreferences, WorkflowPreference };
}
