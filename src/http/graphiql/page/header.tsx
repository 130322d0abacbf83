import { DropdownMenu, type GraphiQLPlugin, pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect, useRef } from 'react';
import type { PageConfig, PageOperation } from '../page-config.ts';
import { type Credential, CredentialField } from './credential.tsx';
import type { PageSchema } from './fetcher.ts';

/** State of the page that its parts show. */
export interface PageState {
  config: PageConfig;
  credential: Credential;
  schema: PageSchema;
}

/** Top of the page: its name, the operations, the credential, and buttons for the plugins and the theme. */
export function Header({ config, credential, schema }: PageState) {
  const { setVisiblePlugin, setTheme } = useGraphiQLActions();
  const { plugins, visiblePlugin, theme } = useGraphiQL(pick('plugins', 'visiblePlugin', 'theme'));
  const { open } = useTabs();
  return (
    <header className="header">
      <h1>
        <img src={document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href} alt="" width="28" height="28" />
        Notigraph
        {config.isSandbox && <span className="badge">Sandbox</span>}
      </h1>
      <DropdownMenu modal={false}>
        <DropdownMenu.Button className="button">Operations</DropdownMenu.Button>
        <DropdownMenu.Content className="operations" align="start">
          {config.operations.map((operation) => (
            <DropdownMenu.Item
              key={operation.name}
              textValue={toTitle(operation.name)}
              onSelect={() => open(operation)}
            >
              <strong>{toTitle(operation.name)}</strong>
              <span>{operation.description}</span>
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu>
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
        <button type="button" aria-label="Refresh schema" title="Refresh schema" onClick={schema.refresh}>
          Refresh
        </button>
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
    </header>
  );
}

const labelOf = ({ title }: GraphiQLPlugin): string => (title === 'Documentation Explorer' ? 'Docs' : title);

/** Row of tabs. It scrolls if there are more than fit. */
export function TabBar() {
  const { tabs, activeTabIndex, change, close, add } = useTabs();
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.children[activeTabIndex]?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [activeTabIndex]);
  return (
    <nav className="tabs" aria-label="Open operations">
      <ul ref={list}>
        {tabs.map(({ id, title }, index) => (
          <li key={id} className={index === activeTabIndex ? 'active' : undefined}>
            <button type="button" className="tab" aria-current={index === activeTabIndex} onClick={() => change(index)}>
              {toTitle(title)}
            </button>
            {tabs.length > 1 && (
              <button type="button" aria-label={`Close ${toTitle(title)}`} onClick={() => close(index)}>
                ×
              </button>
            )}
          </li>
        ))}
      </ul>
      <button type="button" aria-label="New tab" title="New tab" onClick={add}>
        +
      </button>
    </nav>
  );
}

/** Opens, changes and closes tabs. */
function useTabs() {
  const { addTab, changeTab, closeTab, updateActiveTabValues } = useGraphiQLActions();
  const { tabs, activeTabIndex, queryEditor, variableEditor, headerEditor } = useGraphiQL(
    pick('tabs', 'activeTabIndex', 'queryEditor', 'variableEditor', 'headerEditor'),
  );

  /** Saves the edits of the last moments, which GraphiQL loses if the tab is left. */
  const save = () =>
    updateActiveTabValues({
      query: queryEditor?.getValue() ?? '',
      variables: variableEditor?.getValue() ?? '',
      headers: headerEditor?.getValue() ?? '',
    });

  function change(index: number): void {
    save();
    changeTab(index);
    queryEditor?.setScrollTop(0);
  }

  return {
    tabs,
    activeTabIndex,
    change,
    close(index: number) {
      save();
      closeTab(index);
    },
    add() {
      addTab();
      queryEditor?.focus();
    },
    /** Shows an operation in its tab, or else in a new one. */
    open({ name, query, variables = '' }: PageOperation) {
      const index = tabs.findIndex(({ operationName }) => operationName === name);
      if (index >= 0) {
        change(index);
        return;
      }
      addTab();
      queryEditor?.setValue(query);
      variableEditor?.setValue(variables);
      updateActiveTabValues({ query, variables, operationName: name });
    },
  };
}

/** Returns an operation's name as words: `Update workflow status`. */
function toTitle(name: string): string {
  const words = name.replace(/([a-z\d])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`);
  return name === '<untitled>' ? 'New tab' : words.charAt(0).toUpperCase() + words.slice(1);
}
