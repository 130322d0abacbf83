// The top of the page.

import {
  formatShortcutForOS,
  type GraphiQLPlugin,
  KEY_MAP,
  KeyboardShortcutIcon,
  pick,
  ReloadIcon,
  SettingsIcon,
  useGraphiQL,
  useGraphiQLActions,
} from '@graphiql/react';
import { useLayoutEffect, useRef, useState } from 'react';
import type { PageConfig, PageOperation } from '../../../src/graphiql/page-config.ts';
import { mayWrite } from '../../client/src/typed-document.ts';
import { Choices, IconButton, moveFocus, Popup, THEME_ICONS } from './controls.tsx';
import { type Credential, CredentialField } from './credential.tsx';
import type { PageSchema } from './fetcher.ts';
import { toTitle, useTabs } from './tabs.tsx';

export interface PageState {
  config: PageConfig;
  credential: Credential;
  schema: PageSchema;
}

/** Top of the page: its name, the operations, the credential, and buttons for the plugins and the theme. */
export function Header({ config, credential, schema }: PageState) {
  const { setVisiblePlugin } = useGraphiQLActions();
  const { plugins, visiblePlugin, queryId } = useGraphiQL(pick('plugins', 'visiblePlugin', 'queryId'));
  const { secret, read } = credential;
  const [isCollapsed, setCollapsed] = useState(secret !== '');
  useLayoutEffect(() => {
    if (queryId > 0 && read() !== undefined) {
      setCollapsed(true); // Before the response is scrolled into view.
    }
  }, [queryId, read]);
  return (
    <header
      className={`header ${isCollapsed && secret !== '' ? 'collapsed' : ''}`}
      onSubmit={() => setCollapsed(secret !== '')}
    >
      <h1>
        <img src={document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href} alt="" width="28" height="28" />
        Notigraph
        {config.isSandbox && <span className="badge">Sandbox</span>}
      </h1>
      <Operations operations={config.operations} />
      {secret !== '' && ( // Only phones show it.
        <IconButton
          name="Key and tools"
          icon={SettingsIcon}
          className="toggle"
          aria-expanded={!isCollapsed}
          onClick={() => setCollapsed(!isCollapsed)}
        />
      )}
      <CredentialField config={config} credential={credential} onCommit={() => schema.schema ?? schema.refresh()} />
      <div className="tools">
        {plugins.map((plugin) => (
          <button
            key={plugin.title}
            type="button"
            aria-expanded={plugin === visiblePlugin}
            onClick={() => setVisiblePlugin(plugin === visiblePlugin ? null : plugin)}
          >
            {labelOf(plugin)}
          </button>
        ))}
        <IconButton name="Refresh schema" icon={ReloadIcon} onClick={schema.refresh} />
        <Popup name="Keyboard shortcuts" icon={KeyboardShortcutIcon} className="shortcuts">
          <h2>Keyboard shortcuts</h2>
          <dl>
            {Object.entries(SHORTCUTS).map(([action, keys]) => (
              <div key={action}>
                <dt>{action}</dt>
                <dd>
                  <kbd>{keys}</kbd>
                </dd>
              </div>
            ))}
          </dl>
        </Popup>
        <ThemeSwitch />
      </div>
    </header>
  );
}

const labelOf = ({ title }: GraphiQLPlugin): string => (title === 'Documentation Explorer' ? 'Docs' : title);

/** Shortcuts of the page, and those of the editor that people need most. */
const SHORTCUTS = {
  'Run the operation': formatShortcutForOS(KEY_MAP.runQuery.key),
  'Explain it': formatShortcutForOS('Shift-Ctrl-Enter'),
  Prettify: KEY_MAP.prettify.key,
  'Merge fragments': KEY_MAP.mergeFragments.key,
  'Copy the operation': KEY_MAP.copyQuery.key,
  'Complete the word': 'Ctrl-Space',
  'Search in the editor': formatShortcutForOS(KEY_MAP.searchInEditor.key),
  'Search in the open docs': formatShortcutForOS(KEY_MAP.searchInDocs.key),
  'All commands of the editor': 'F1',
};

function Operations({ operations }: Pick<PageConfig, 'operations'>) {
  const { open } = useTabs();
  const [filter, setFilter] = useState('');
  const panel = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const matches = operations.filter(({ name, description }) =>
    `${toTitle(name)} ${description}`.toLowerCase().includes(filter.trim().toLowerCase()),
  );

  function choose(operation: PageOperation): void {
    panel.current?.hidePopover();
    open(operation);
  }

  return (
    <Popup
      name="Operations"
      className="operations"
      ref={panel}
      onKeyDown={(event) => moveFocus(event, () => matches[0] && choose(matches[0]))}
      onToggle={() => {
        setFilter('');
        input.current?.focus(); // While the panel is closed, this has no effect.
      }}
    >
      <input
        ref={input}
        type="search"
        aria-label="Filter operations"
        placeholder="Filter"
        value={filter}
        onChange={({ target }) => setFilter(target.value)}
      />
      <Choices
        groups={{
          Queries: matches.filter(({ query }) => !mayWrite(query)),
          Mutations: matches.filter(({ query }) => mayWrite(query)),
        }}
        choose={choose}
        labelOf={({ name, description }) => (
          <>
            <strong>{toTitle(name)}</strong>
            <span>{description}</span>
          </>
        )}
      />
      {matches.length === 0 && <p>No operation matches.</p>}
    </Popup>
  );
}

/** Selection of the theme that looks like a button with the theme's icon. */
function ThemeSwitch() {
  const { setTheme } = useGraphiQLActions();
  const theme = useGraphiQL((state) => state.theme);
  const Icon = THEME_ICONS[theme ?? 'system'];
  return (
    <div className="theme icon" title="Theme">
      <Icon />
      <select
        aria-label="Theme"
        value={theme ?? 'system'}
        onChange={({ target: { value } }) => setTheme(value === 'light' || value === 'dark' ? value : null)}
      >
        <option value="system">System</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </div>
  );
}
