import { formatShortcutForOS, pick, useGraphiQL, useGraphiQLActions, useMonaco } from '@graphiql/react';
import { useCallback, useEffect } from 'react';
import type { CostChannel } from './costs.ts';

/** Shortcut of the button "Explain", as on the keyboard. */
export const EXPLAIN_SHORTCUT = formatShortcutForOS('Shift-Ctrl-Enter');

/** Returns the function that explains the operation, and adds its shortcut to the editors. */
export function useExplain(channel: CostChannel): () => void {
  const { run } = useGraphiQLActions();
  const { queryEditor, variableEditor, headerEditor } = useGraphiQL(
    pick('queryEditor', 'variableEditor', 'headerEditor'),
  );
  const monaco = useMonaco((state) => state.monaco);

  const explain = useCallback(() => {
    channel.isExplaining = true; // GraphiQL calls the fetcher before `run` returns, unless the variables are invalid.
    void run();
    channel.isExplaining = false;
  }, [channel, run]);

  useEffect(() => {
    if (monaco === undefined) {
      return undefined;
    }
    const { KeyMod, KeyCode } = monaco;
    const action = {
      id: 'notigraph-explain',
      label: 'Explain operation',
      contextMenuGroupId: 'graphql',
      keybindings: [KeyMod.CtrlCmd | KeyMod.Shift | KeyCode.Enter],
      run: explain,
    };
    const added = [queryEditor, variableEditor, headerEditor].map((editor) => editor?.addAction(action));
    return () => {
      for (const each of added) {
        each?.dispose();
      }
    };
  }, [monaco, queryEditor, variableEditor, headerEditor, explain]);
  return explain;
}
