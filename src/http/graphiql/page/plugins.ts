import { DOC_EXPLORER_PLUGIN } from '@graphiql/plugin-doc-explorer';
import { HISTORY_PLUGIN } from '@graphiql/plugin-history';
import type { GraphiQLPlugin } from '@graphiql/react';

/** Plugins in the order of their buttons. A plugin has a file of its own, which exports its title, icon and content. */
export const PLUGINS: GraphiQLPlugin[] = [DOC_EXPLORER_PLUGIN, HISTORY_PLUGIN];

/** Plugin that explains the type or field that is clicked in the editor. */
export const REFERENCE_PLUGIN = DOC_EXPLORER_PLUGIN;

/** Labels of buttons, for plugins whose titles are too long. */
export const PLUGIN_LABELS: Readonly<Record<string, string>> = { [DOC_EXPLORER_PLUGIN.title]: 'Docs' };
