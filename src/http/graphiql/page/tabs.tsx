import { DropdownMenu, pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect, useRef } from 'react';
import type { PageOperation } from './config.ts';
import { ChevronIcon, CloseIcon, PlusIcon } from './icons.tsx';

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
              <button
                type="button"
                className="close"
                aria-label={`Close ${toTitle(title)}`}
                onClick={() => close(index)}
              >
                <CloseIcon />
              </button>
            )}
          </li>
        ))}
      </ul>
      <button type="button" className="add" aria-label="New tab" title="New tab" onClick={add}>
        <PlusIcon />
      </button>
    </nav>
  );
}

/** Menu of all shipped operations. */
export function OperationsMenu({ operations }: { operations: readonly PageOperation[] }) {
  const { open } = useTabs();
  return (
    <DropdownMenu modal={false}>
      <DropdownMenu.Button className="button">
        Operations <ChevronIcon />
      </DropdownMenu.Button>
      <DropdownMenu.Content className="operations" align="start">
        {operations.map((operation) => (
          <DropdownMenu.Item key={operation.name} textValue={toTitle(operation.name)} onSelect={() => open(operation)}>
            <strong>{toTitle(operation.name)}</strong>
            <span>{operation.description}</span>
          </DropdownMenu.Item>
        ))}
      </DropdownMenu.Content>
    </DropdownMenu>
  );
}

/** Opens, changes and closes tabs. GraphiQL loses edits of the last moments in a tab that is left, so they are saved first. */
function useTabs() {
  const { addTab, changeTab, closeTab, updateActiveTabValues } = useGraphiQLActions();
  const { tabs, activeTabIndex, queryEditor, variableEditor, headerEditor } = useGraphiQL(
    pick('tabs', 'activeTabIndex', 'queryEditor', 'variableEditor', 'headerEditor'),
  );

  function save(): void {
    if (queryEditor && variableEditor && headerEditor) {
      updateActiveTabValues({
        query: queryEditor.getValue(),
        variables: variableEditor.getValue(),
        headers: headerEditor.getValue(),
      });
    }
  }

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
      save();
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
      save();
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
