import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import type { PageOperation } from './config.ts';

/** Opens, changes and closes tabs. GraphiQL loses edits of the last moments in a tab that is left, so they are saved first. */
export function useTabs() {
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
