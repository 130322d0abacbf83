// Editors of the operation, its variables and headers.

import {
  HeaderEditor,
  pick,
  QueryEditor,
  useGraphiQL,
  useGraphiQLActions,
  useMonaco,
  VariableEditor,
} from '@graphiql/react';
import { Kind, parse, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import { type KeyboardEvent as ReactKeyboardEvent, useEffect, useState } from 'react';
import type { UpstreamReport } from '../../../src/graphiql/page-config.ts';
import type { RunChannel } from './fetcher.ts';
import type { PageState } from './header.tsx';
import { countCalls } from './plan.tsx';
import { Toolbar } from './toolbar.tsx';

const DECLARES_VARIABLES = /^\s*(?:query|mutation)\b[^{(]*\(\s*\$/m;

/** Editors below the operation. Until the visitor chooses one, the variables are shown if the operation has some. */
const TOOLS = { variables: 'Variables', headers: 'Headers' };

/** @param share part of the width that they take */
export function Editors({
  channel,
  share,
  ...state
}: Pick<PageState, 'config' | 'credential'> & { channel: RunChannel; share: number }) {
  const { run, prettifyEditors, mergeQuery, copyQuery } = useGraphiQLActions();
  const query = useGraphiQL(({ tabs, activeTabIndex }) => tabs[activeTabIndex]?.query ?? '');
  const [choice, setChoice] = useState<string>();
  const tool = choice ?? (DECLARES_VARIABLES.test(query) ? 'variables' : '');
  useEditorOptions();

  function explain(): void {
    channel.isExplaining = true; // GraphiQL calls the fetcher before `run` returns, unless the variables are invalid.
    void run();
    channel.isExplaining = false;
  }

  useEffect(() => {
    /** Runs or explains the operation, wherever the focus is. A press that is held doesn't repeat it. */
    function onEnter(event: KeyboardEvent): void {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        event.stopPropagation();
        if (!event.repeat) {
          void (event.shiftKey ? explain : run)();
        }
      }
    }
    document.addEventListener('keydown', onEnter, true);
    return () => document.removeEventListener('keydown', onEnter, true);
  });

  /** Handles keys with Shift and Ctrl, for which the editor has commands only with the Windows key. */
  function onKey(event: ReactKeyboardEvent): void {
    const actions = { p: prettifyEditors, m: mergeQuery, c: copyQuery };
    const [, action] = Object.entries(actions).find(([key]) => key === event.key.toLowerCase()) ?? [];
    if (action !== undefined && event.shiftKey && event.ctrlKey) {
      event.preventDefault();
      event.stopPropagation();
      void action();
    }
  }

  return (
    <section className="editors" aria-label="Request" style={{ flexGrow: share }} onKeyDownCapture={onKey}>
      <Toolbar {...state} explain={explain} />
      <div className="query">
        <QueryEditor />
      </div>
      <div className="tool-buttons">
        {Object.entries(TOOLS).map(([name, label]) => (
          <button
            key={name}
            type="button"
            aria-expanded={tool === name}
            aria-controls={`tool-${name}`}
            onClick={() => setChoice(tool === name ? '' : name)}
          >
            {label}
          </button>
        ))}
      </div>
      <div id="tool-variables" className="tool" hidden={tool !== 'variables'}>
        <VariableEditor />
      </div>
      <div id="tool-headers" className="tool" hidden={tool !== 'headers'}>
        <HeaderEditor />
      </div>
    </section>
  );
}

const LABELS = {
  queryEditor: 'Operation',
  variableEditor: 'Variables',
  headerEditor: 'Headers',
  responseEditor: 'Response',
} as const;

/** Gives each editor a name of its own, and lines that are never cut off. */
function useEditorOptions(): void {
  const editors = useGraphiQL(pick('queryEditor', 'variableEditor', 'headerEditor', 'responseEditor'));
  useEffect(() => {
    for (const name of ['queryEditor', 'variableEditor', 'headerEditor', 'responseEditor'] as const) {
      editors[name]?.updateOptions({ fontSize: 14, wordWrap: 'on', ariaLabel: LABELS[name] });
    }
  }, [editors]);
}

/** Shows the calls of each field at the end of its line, until the next operation or another tab. */
export function useFieldCounts(report: UpstreamReport | undefined): void {
  const { queryEditor, schema } = useGraphiQL(pick('queryEditor', 'schema'));
  const monaco = useMonaco((state) => state.monaco);
  useEffect(() => {
    const model = queryEditor?.getModel();
    if (!queryEditor || !model || !schema || !monaco || !report) {
      return undefined;
    }
    const decorations = queryEditor.createDecorationsCollection();
    const cursorStops = monaco.editor.InjectedTextCursorStops.None; // At the end of a line, the cursor is before both texts.
    const types = new TypeInfo(schema);
    const visitor = visitWithTypeInfo(types, {
      [Kind.FIELD]({ name: { value: name, loc } }) {
        const count = report.fields[`${types.getParentType()?.name}.${name}`];
        if (loc !== undefined && count !== undefined) {
          const { line } = loc.startToken;
          const column = model.getLineMaxColumn(line);
          const after = {
            content: countCalls(count).replace(' ', '\u00a0'),
            inlineClassName: 'field-count',
            inlineClassNameAffectsLetterSpacing: true, // The editor then measures it.
            cursorStops,
          };
          const before = { content: '\u00a0\u00a0', cursorStops };
          const range = new monaco.Range(line, column, line, column);
          decorations.append([{ range, options: { before, after, showIfCollapsed: true } }]);
        }
      },
    });
    try {
      visit(parse(model.getValue()), visitor);
    } catch {} // The document was changed after it was sent.
    return () => decorations.clear();
  }, [queryEditor, schema, monaco, report]);
}
