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
import { type GraphQLSchema, Kind, parse, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import { useCallback, useEffect, useState } from 'react';
import type { UpstreamReport } from './config.ts';
import type { CostChannel } from './fetcher.ts';
import { ChevronIcon, PlayIcon, StopIcon } from './icons.tsx';

/** Editor below the operation. */
type Tool = 'variables' | 'headers';

const TOOLS: Readonly<Record<Tool, string>> = { variables: 'Variables', headers: 'Headers' };

const declaresVariables = (query: string): boolean => /^\s*(?:query|mutation)\b[^{(]*\(\s*\$/m.test(query);

/** Operation with its variables and headers. */
export function Editors({ grow, channel }: { grow: number; channel: CostChannel }) {
  const explain = useExplain(channel);
  const [tool, toggle] = useTool();
  useLabels();
  return (
    <section className="editors" aria-label="Request" style={{ flexGrow: grow }}>
      <Toolbar onExplain={explain} />
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
            onClick={() => toggle(name === 'headers' ? name : 'variables')}
          >
            <ChevronIcon /> {label}
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

/** Returns the open tool: the one that the visitor has opened, or the variables if the operation has some and they were not closed in this tab. */
function useTool(): [Tool | undefined, toggle: (tool: Tool) => void] {
  const { tabs, activeTabIndex } = useGraphiQL(pick('tabs', 'activeTabIndex'));
  const { id, query } = tabs[activeTabIndex] ?? {};
  const [opened, setOpened] = useState<Tool>();
  const [closedIn, setClosedIn] = useState<string>();
  const suggested = declaresVariables(query ?? '') && closedIn !== id ? 'variables' : undefined;
  const tool = opened ?? suggested;
  return [
    tool,
    (clicked) => {
      setOpened(clicked === tool ? undefined : clicked);
      setClosedIn(clicked === tool ? id : undefined);
    },
  ];
}

/** Gives each editor a name of its own, for screen readers. */
function useLabels(): void {
  const { queryEditor, variableEditor, headerEditor, responseEditor } = useGraphiQL(
    pick('queryEditor', 'variableEditor', 'headerEditor', 'responseEditor'),
  );
  useEffect(() => {
    queryEditor?.updateOptions({ fontSize: 14, ariaLabel: 'Operation' });
    variableEditor?.updateOptions({ fontSize: 14, ariaLabel: 'Variables' });
    headerEditor?.updateOptions({ fontSize: 14, ariaLabel: 'Headers' });
    responseEditor?.updateOptions({ fontSize: 14, ariaLabel: 'Response' });
  }, [queryEditor, variableEditor, headerEditor, responseEditor]);
}

/** Shortcut of the button "Run", as on the keyboard. */
export const RUN_SHORTCUT = formatShortcutForOS(KEY_MAP.runQuery.key);

/** Buttons above the operation. */
function Toolbar({ onExplain }: { onExplain: () => void }) {
  const { run, stop, prettifyEditors, copyQuery, mergeQuery, setOperationName } = useGraphiQLActions();
  const { isFetching, operations = [], operationName } = useGraphiQL(pick('isFetching', 'operations', 'operationName'));
  const names = operations.flatMap(({ name }) => name?.value ?? []);
  return (
    <div className="toolbar" role="toolbar" aria-label="Operation">
      <button
        type="button"
        className="run"
        title={`${isFetching ? 'Stop' : 'Run'} (${RUN_SHORTCUT})`}
        onClick={isFetching ? stop : run}
      >
        {isFetching ? <StopIcon /> : <PlayIcon />} {isFetching ? 'Stop' : 'Run'}
      </button>
      <button
        type="button"
        className="button"
        title={`List the REST calls without sending them (${EXPLAIN_SHORTCUT})`}
        disabled={operations.length === 0}
        aria-disabled={isFetching} // A disabled button would lose the focus.
        onClick={isFetching ? undefined : onExplain}
      >
        Explain
      </button>
      {names.length > 1 && (
        <select
          aria-label="Operation to run"
          value={operationName ?? ''}
          onChange={({ target }) => setOperationName(target.value)}
        >
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
      <button type="button" className="button" title={KEY_MAP.prettify.key} onClick={prettifyEditors}>
        Prettify
      </button>
      <button type="button" className="button" title={KEY_MAP.mergeFragments.key} onClick={mergeQuery}>
        Merge fragments
      </button>
      {window.isSecureContext && ( // Elsewhere, pages have no clipboard.
        <button type="button" className="button" title={KEY_MAP.copyQuery.key} onClick={copyQuery}>
          Copy
        </button>
      )}
    </div>
  );
}

/** Shortcut of the button "Explain", as on the keyboard. */
const EXPLAIN_SHORTCUT = formatShortcutForOS('Shift-Ctrl-Enter');

/** Returns the function that explains the operation, and adds its shortcut to the editors. */
function useExplain(channel: CostChannel): () => void {
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

/** Field in a document that needed calls. */
interface CountedField {
  line: number;
  name: string;
  /** Name with its type, such as `Query.workflow`. */
  path: string;
}

/** Shows the calls of each field beside it in the editor, until the next operation or another tab. */
export function useFieldCounts(report: UpstreamReport | undefined): void {
  const { queryEditor, schema } = useGraphiQL(({ queryEditor, schema }) => ({ queryEditor, schema }));
  const monaco = useMonaco((state) => state.monaco);
  useEffect(() => {
    const model = queryEditor?.getModel();
    if (!queryEditor || !model || !schema || !monaco || !report) {
      return undefined;
    }
    const notes = toNotes(findFields(model.getValue(), schema, report.fields), report.fields);
    const decorations = queryEditor.createDecorationsCollection(
      [...notes].map(([line, note]) => {
        const column = model.getLineMaxColumn(line);
        return {
          range: new monaco.Range(line, column, line, column),
          options: { after: { content: note, inlineClassName: 'field-count' }, showIfCollapsed: true },
        };
      }),
    );
    return () => decorations.clear();
  }, [queryEditor, schema, monaco, report]);
}

function findFields(text: string, schema: GraphQLSchema, counts: UpstreamReport['fields']): CountedField[] {
  const found: CountedField[] = [];
  const types = new TypeInfo(schema);
  try {
    visit(
      parse(text),
      visitWithTypeInfo(types, {
        [Kind.FIELD]({ name: { value: name, loc } }) {
          const path = `${types.getParentType()?.name}.${name}`;
          if (loc !== undefined && Object.hasOwn(counts, path)) {
            found.push({ line: loc.startToken.line, name, path });
          }
        },
      }),
    );
  } catch {
    return []; // The document was changed after it was sent.
  }
  return found;
}

/** Returns the text for each line. Counts are those of all places in which a field is selected. */
function toNotes(fields: readonly CountedField[], counts: UpstreamReport['fields']): Map<number, string> {
  const notes = new Map<number, string>();
  for (const [line, inLine] of Map.groupBy(fields, (field) => field.line)) {
    const paths = new Set(inLine.map(({ path }) => path));
    const parts = [...paths].map((path) => {
      const count = counts[path] ?? 0;
      const name = paths.size === 1 ? '' : `${path.slice(path.indexOf('.') + 1)}: `;
      const isElsewhere = fields.some((other) => other.path === path && other.line !== line);
      return `${name}${count} ${count === 1 ? 'call' : 'calls'}${isElsewhere ? ' in all' : ''}`;
    });
    notes.set(line, parts.join(', '));
  }
  return notes;
}
