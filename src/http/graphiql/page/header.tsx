import { DOC_EXPLORER_PLUGIN } from '@graphiql/plugin-doc-explorer';
import { HISTORY_PLUGIN } from '@graphiql/plugin-history';
import { type GraphiQLPlugin, pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import type { PageConfig } from './config.ts';
import { type Credential, CredentialField } from './credential.tsx';
import { OperationsMenu } from './tabs.tsx';
import type { PageSchema } from './use-schema.ts';

/** Plugins in the order of their buttons. A plugin of our own has a file, which exports its title, icon and content. */
export const PLUGINS: GraphiQLPlugin[] = [DOC_EXPLORER_PLUGIN, HISTORY_PLUGIN];

/** Plugin that explains the type or field that is clicked in the editor. */
export const REFERENCE_PLUGIN = DOC_EXPLORER_PLUGIN;

/** Labels of buttons, for plugins whose titles are too long. */
const PLUGIN_LABELS: Readonly<Record<string, string>> = { [DOC_EXPLORER_PLUGIN.title]: 'Docs' };

/** State of the page that its parts show. */
export interface PageState {
  config: PageConfig;
  credential: Credential;
  schema: PageSchema;
}

/** Top of the page: its name, the operations, the credential, and buttons for the plugins and the theme. */
export function Header({ config, credential, schema }: PageState) {
  const { setVisiblePlugin } = useGraphiQLActions();
  const { plugins, visiblePlugin } = useGraphiQL(pick('plugins', 'visiblePlugin'));
  return (
    <header className="header">
      <h1>
        <img src={document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href} alt="" width="28" height="28" />
        Notigraph
        {config.isSandbox && <span className="badge">Sandbox</span>}
      </h1>
      <OperationsMenu operations={config.operations} />
      <CredentialField config={config} credential={credential} onCommit={schema.retry} />
      <div className="tools">
        {plugins.map((plugin) => (
          <button
            key={plugin.title}
            type="button"
            className="button"
            aria-expanded={plugin === visiblePlugin}
            onClick={() => setVisiblePlugin(plugin === visiblePlugin ? null : plugin)}
          >
            {PLUGIN_LABELS[plugin.title] ?? plugin.title}
          </button>
        ))}
        <button
          type="button"
          className="button"
          aria-label="Refresh schema"
          title="Refresh schema"
          onClick={schema.refresh}
        >
          Refresh
        </button>
        <ThemeSwitch />
      </div>
    </header>
  );
}

function ThemeSwitch() {
  const { setTheme } = useGraphiQLActions();
  const theme = useGraphiQL((state) => state.theme);
  return (
    <select
      aria-label="Theme"
      value={theme ?? 'system'}
      onChange={({ target: { value } }) => setTheme(value === 'light' || value === 'dark' ? value : null)}
    >
      <option value="system">System</option>
      <option value="light">Light</option>
      <option value="dark">Dark</option>
    </select>
  );
}
