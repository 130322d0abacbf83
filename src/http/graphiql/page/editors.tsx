import {
  formatShortcutForOS,
  HeaderEditor,
  KEY_MAP,
  pick,
  QueryEditor,
  useGraphiQL,
  useGraphiQLActions,
  useMonaco,
  VariableEditor,
} from '@graphiql/react';
import { Kind, parse, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import { type KeyboardEvent, useEffect, useState } from 'react';
import type { UpstreamReport } from '../page-config.ts';
import type { CostChannel } from './fetcher.ts';
import { countCalls } from './plan.tsx';

const DECLARES_VARIABLES = /^\s*(?:query|mutation)\b[^{(]*\(\s*\$/m;

/** Editors below the operation. Until the visitor chooses one, the variables are shown if the operation has some. */
const TOOLS = { variables: 'Variables', headers: 'Headers' };

/** Operation with its variables and headers. */
export function Editors({ channel, share }: { channel: CostChannel; share: number }) {
  const { run } = useGraphiQLActions();
  const query = useGraphiQL(({ tabs, activeTabIndex }) => tabs[activeTabIndex]?.query ?? '');
  const [choice, setChoice] = useState<string>();
  const tool = choice ?? (DECLARES_VARIABLES.test(query) ? 'variables' : '');
  useLabels();

  function explain(): void {
    channel.isExplaining = true; // GraphiQL calls the fetcher before `run` returns, unless the variables are invalid.
    void run();
    channel.isExplaining = false;
  }

  function onKey(event: KeyboardEvent): void {
    if (event.key === 'Enter' && event.shiftKey && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      event.stopPropagation(); // The editor has a command for it.
      explain();
    }
  }

  return (
    <section className="editors" aria-label="Request" style={{ flexGrow: share }} onKeyDownCapture={onKey}>
      <Toolbar explain={explain} />
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

/** Names of the editors for screen readers. */
const LABELS = {
  queryEditor: 'Operation',
  variableEditor: 'Variables',
  headerEditor: 'Headers',
  responseEditor: 'Response',
} as const;

/** Gives each editor a name of its own. */
function useLabels(): void {
  const editors = useGraphiQL(pick('queryEditor', 'variableEditor', 'headerEditor', 'responseEditor'));
  useEffect(() => {
    for (const name of ['queryEditor', 'variableEditor', 'headerEditor', 'responseEditor'] as const) {
      editors[name]?.updateOptions({ fontSize: 14, ariaLabel: LABELS[name] });
    }
  }, [editors]);
}

/** Buttons above the operation. */
function Toolbar({ explain }: { explain: () => void }) {
  const { run, stop, prettifyEditors, copyQuery, mergeQuery, setOperationName } = useGraphiQLActions();
  const { isFetching, operations = [], operationName } = useGraphiQL(pick('isFetching', 'operations', 'operationName'));
  return (
    <div className="toolbar" role="toolbar" aria-label="Operation">
      <button
        type="button"
        className="run"
        title={`${isFetching ? 'Stop' : 'Run'} (${formatShortcutForOS(KEY_MAP.runQuery.key)})`}
        onClick={isFetching ? stop : run}
      >
        {isFetching ? 'Stop' : 'Run'}
      </button>
      <button
        type="button"
        title={`List the REST calls without sending them (${formatShortcutForOS('Shift-Ctrl-Enter')})`}
        disabled={operations.length === 0}
        aria-disabled={isFetching} // A disabled button would lose the focus.
        onClick={isFetching ? undefined : explain}
      >
        Explain
      </button>
      {operations.length > 1 && (
        <select
          aria-label="Operation to run"
          value={operationName ?? ''}
          onChange={({ target }) => setOperationName(target.value)}
        >
          {operations.map(({ name }) => name && <option key={name.value}>{name.value}</option>)}
        </select>
      )}
      <button type="button" title={KEY_MAP.prettify.key} onClick={prettifyEditors}>
        Prettify
      </button>
      <button type="button" title={KEY_MAP.mergeFragments.key} onClick={mergeQuery}>
        Merge fragments
      </button>
      {window.isSecureContext && ( // Elsewhere, pages have no clipboard.
        <button type="button" title={KEY_MAP.copyQuery.key} onClick={copyQuery}>
          Copy
        </button>
      )}
    </div>
  );
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
    const types = new TypeInfo(schema);
    const visitor = visitWithTypeInfo(types, {
      [Kind.FIELD]({ name: { value: name, loc } }) {
        const count = report.fields[`${types.getParentType()?.name}.${name}`];
        if (loc !== undefined && count !== undefined) {
          const { line } = loc.startToken;
          const column = model.getLineMaxColumn(line);
          const content = countCalls({ min: count, max: count });
          decorations.append([
            {
              range: new monaco.Range(line, column, line, column),
              options: { after: { content, inlineClassName: 'field-count' }, showIfCollapsed: true },
            },
          ]);
        }
      },
    });
    try {
      visit(parse(model.getValue()), visitor);
    } catch {} // The document was changed after it was sent.
    return () => decorations.clear();
  }, [queryEditor, schema, monaco, report]);
}
