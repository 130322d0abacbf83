import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import type { PageConfig } from './config.ts';
import type { Credential } from './credential.ts';
import { CredentialField } from './credential-field.tsx';
import { OperationsMenu } from './operations-menu.tsx';
import { PLUGIN_LABELS } from './plugins.ts';
import type { PageSchema } from './use-schema.ts';

/** Options of the header. */
interface HeaderProps {
  config: PageConfig;
  credential: Credential;
  schema: PageSchema;
}

/** Top of the page: its name, the operations, the credential, and buttons for the plugins and the theme. */
export function Header({ config, credential, schema }: HeaderProps) {
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
