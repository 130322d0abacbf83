// Defines the messages that a person wants to receive: at all, and of each workflow.

import type { components } from '../../upstream/openapi.gen.ts';
import type { Toolkit } from '../module.ts';
import { type Fields, optional } from '../record-fields.ts';
import { requireScopes } from '../scopes.ts';
import { workflows } from './workflow.ts';

type Schemas = components['schemas'];
export type PreferencesBody = Schemas['GlobalPreference'];
export type PreferenceBody = Schemas['WorkflowPreference'];

/** Defines the types of preferences, as a part of the module that has the toolkit. */
export function definePreferences({ builder, use }: Toolkit) {
  const { PreferenceSettings } = use(workflows);
  const readable = { extensions: requireScopes('inbox:read') };

  const preferenceFields = <Body extends PreferencesBody>(t: Fields<Body>) => ({
    enabled: t.boolean({
      ...optional('Whether any messages may be sent. Versions of the service since 2025 always send true.'),
      resolve: ({ preference }) => preference?.enabled,
    }),
    channels: t.field({
      type: PreferenceSettings,
      ...optional('By channel.'),
      resolve: (of) => of.preference?.channels,
    }),
  });

  const ChannelPreferences = builder.objectRef<PreferencesBody>('ChannelPreferences').implement({
    description: 'The messages that a person wants to receive at all.',
    ...readable,
    fields: preferenceFields,
  });

  const WorkflowPreference = builder.objectRef<PreferenceBody>('WorkflowPreference').implement({
    description: 'The messages of a workflow that a person wants to receive.',
    ...readable,
    fields: (t) => ({
      workflowId: t.id({ ...optional("The workflow's id."), resolve: ({ template }) => template?._id }),
      name: t.string({ ...optional('The name that people see.'), resolve: ({ template }) => template?.name }),
      critical: t.boolean({
        description: 'Whether its messages are always sent.',
        resolve: ({ template }) => template?.critical ?? false,
      }),
      ...preferenceFields(t),
    }),
  });

  return { ChannelPreferences, WorkflowPreference };
}
