// Tabs of operations.

import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect, useRef } from 'react';
import type { PageOperation } from '../../../src/graphiql/page-config.ts';

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

export function useTabs() {
  const { addTab, changeTab, closeTab, updateActiveTabValues, setOperationFacts, stop } = useGraphiQLActions();
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

  function addEmpty(): void {
    stop(); // Otherwise GraphiQL would show the response in the new tab.
    // It saves the tab under the current name, which for a moment after a change is that of another tab.
    const { operationName } = tabs[activeTabIndex] ?? {};
    setOperationFacts(operationName ? { operationName } : {});
    addTab();
    setOperationFacts({});
  }

  function change(index: number): void {
    save();
    changeTab(index);
    queryEditor?.setScrollTop(0);
  }

  return {
    tabs,
    activeTabIndex,
    save,
    change,
    close(index: number) {
      save();
      closeTab(index);
    },
    add() {
      addEmpty();
      queryEditor?.focus();
    },
    open({ name, query, variables = '' }: PageOperation) {
      const index = tabs.findIndex(({ operationName }) => operationName === name);
      if (index >= 0) {
        change(index);
        return;
      }
      addEmpty();
      queryEditor?.setValue(query);
      variableEditor?.setValue(variables);
      updateActiveTabValues({ query, variables, operationName: name });
    },
  };
}

/** Returns an operation's name as words: `Update workflow status`. */
export function toTitle(name: string): string {
  const words = name.replace(/([a-z\d])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`);
  return name === '<untitled>' ? 'New tab' : words.charAt(0).toUpperCase() + words.slice(1);
}
