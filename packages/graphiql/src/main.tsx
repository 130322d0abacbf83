// The page: its parts, plugins and themes.

import '@graphiql/react/setup-workers/vite';
import '@graphiql/react/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import '@graphiql/plugin-history/style.css';
import './style.css';
import { DOC_EXPLORER_PLUGIN, DocExplorerStore } from '@graphiql/plugin-doc-explorer';
import { HISTORY_PLUGIN, History, HistoryStore, useHistory, useHistoryActions } from '@graphiql/plugin-history';
import {
  type GraphiQLPlugin,
  GraphiQLProvider,
  Tooltip,
  useGraphiQL,
  useGraphiQLActions,
  useMonaco,
} from '@graphiql/react';
import { type ComponentProps, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import type { PageConfig } from '../../../src/graphiql/page-config.ts';
import { useCredential } from './credential.tsx';
import { DocsPanel } from './docs-search.tsx';
import { Editors, useFieldCounts } from './editors.tsx';
import { ErrorBoundary } from './error-boundary.tsx';
import { createFetcher, type RunChannel, useLastRun, useSchema } from './fetcher.ts';
import { Header, type PageState } from './header.tsx';
import { ResponsePane } from './response-pane.tsx';
import { findInitialTabs, readAddress, shareInAddress, storage } from './storage.ts';
import { TabBar } from './tabs.tsx';

/** Plugins in the order of their buttons. A plugin of our own has a file, which exports its title, icon and content. */
const DOCS: GraphiQLPlugin = { ...DOC_EXPLORER_PLUGIN, content: DocsPanel };
const PLUGINS: GraphiQLPlugin[] = [DOCS, { ...HISTORY_PLUGIN, content: HistoryPanel }];

/** Values of variables that GraphiQL would mark as wrong: it expects texts and numbers for other scalars. */
const SCALARS: Required<ComponentProps<typeof GraphiQLProvider>>['customScalarSchemas'] = {
  JSON: { type: ['object', 'array', 'string', 'number', 'boolean'] },
  JSONObject: { type: 'object' },
};

const DARK_THEME = 'notigraph-dark';

function App({ config }: { config: PageConfig }) {
  const [tabs] = useState(() => findInitialTabs(config, readAddress()));
  const [channel] = useState<RunChannel>({ isExplaining: false, receive() {}, record() {} });
  const credential = useCredential(config);
  const [fetcher] = useState(() => createFetcher(config, credential, channel));
  const schema = useSchema(credential);
  return (
    <GraphiQLProvider
      {...tabs}
      fetcher={fetcher}
      schema={schema.schema}
      customScalarSchemas={SCALARS}
      storage={storage}
      plugins={PLUGINS}
      referencePlugin={DOCS}
      editorTheme={{ light: 'graphiql-LIGHT', dark: DARK_THEME }}
      onTabChange={shareInAddress}
    >
      <DocExplorerStore>
        <HistoryStore>
          <Tooltip.Provider>
            <Layout config={config} credential={credential} schema={schema} channel={channel} />
          </Tooltip.Provider>
        </HistoryStore>
      </DocExplorerStore>
    </GraphiQLProvider>
  );
}

function Layout({ config, credential, schema, channel }: PageState & { channel: RunChannel }) {
  const isReady = useThemes();
  const [share, setShare] = useState(50);
  const run = useLastRun(channel);
  useHistoryOfSent(channel);
  useFieldCounts(run.report);
  return (
    <>
      <Header config={config} credential={credential} schema={schema} />
      {schema.problem && (
        <p className="notice" role="status">
          The schema is unavailable, so there are no docs and no completion: {schema.problem}
        </p>
      )}
      <TabBar />
      <main className="panes">
        <PluginPane />
        {isReady && (
          <div className="session">
            <Editors share={share} channel={channel} config={config} credential={credential} />
            <input
              type="range"
              className="splitter"
              aria-label="Width of the request, in percent"
              step={5}
              value={share}
              onChange={({ target }) => setShare(Math.min(80, Math.max(20, target.valueAsNumber)))}
            />
            <ResponsePane share={100 - share} config={config} publicKey={credential.publicKey} run={run} />
          </div>
        )}
      </main>
    </>
  );
}

/** Defines the editor's dark theme once the editor is loaded, and follows the system's. Returns whether the editor can be shown. */
function useThemes(): boolean {
  const monaco = useMonaco((state) => state.monaco);
  const [isDefined, setDefined] = useState(false);
  const { setTheme } = useGraphiQLActions();
  const theme = useGraphiQL((state) => state.theme);
  useEffect(() => {
    // GraphiQL's own has too little contrast for comments and line numbers.
    monaco?.editor.defineTheme(DARK_THEME, {
      base: 'vs-dark',
      inherit: true,
      colors: {
        'editor.background': '#ffffff00',
        'scrollbar.shadow': '#ffffff00',
        'editorLineNumber.foreground': '#a3acbd',
      },
      rules: [
        { token: 'comment', foreground: '#8fc27b' },
        { token: 'argument.identifier.gql', foreground: '#c4b0fb' },
      ],
    });
    setDefined(monaco !== undefined);
    const remeasure = () => monaco?.editor.remeasureFonts(); // With the metrics of another font, lines would wrap too early.
    document.fonts.load('14px "Fira Code"').then(remeasure, remeasure);
  }, [monaco]);
  useEffect(() => {
    const system = matchMedia('(prefers-color-scheme: dark)');
    const follow = () => setTheme(theme); // GraphiQL reads the system's scheme only then.
    system.addEventListener('change', follow);
    return () => system.removeEventListener('change', follow);
  }, [theme, setTheme]);
  return isDefined;
}

/** Adds operations to the history when they are sent. GraphiQL would add what its tab has during a run, also if nothing is sent. */
function useHistoryOfSent(channel: RunChannel): void {
  const actions = useHistoryActions();
  useEffect(() => {
    const { addToHistory } = actions;
    actions.addToHistory = () => {};
    channel.record = addToHistory;
    return () => {
      actions.addToHistory = addToHistory;
    };
  }, [actions, channel]);
}

function HistoryPanel() {
  const items = useHistory();
  return (
    <>
      <History />
      {items.length === 0 && (
        <p>The last 20 operations that you run appear here. Your browser stores them, without their headers.</p>
      )}
    </>
  );
}

function PluginPane() {
  const { setVisiblePlugin } = useGraphiQLActions();
  const plugin = useGraphiQL((state) => state.visiblePlugin);
  if (plugin === null) {
    return null;
  }
  const { title, content: Content } = plugin;
  return (
    <aside className="plugin" aria-label={title}>
      <button type="button" className="close" aria-label={`Close ${title}`} onClick={() => setVisiblePlugin(null)}>
        ×
      </button>
      <ErrorBoundary key={title} part={title}>
        <Content />
      </ErrorBoundary>
    </aside>
  );
}

const root = document.getElementById('root');
const config: PageConfig = JSON.parse(document.getElementById('config')?.textContent ?? '');
addEventListener('hashchange', () => location.reload()); // Somebody has opened a link in this tab.
if (root !== null) {
  createRoot(root).render(
    <ErrorBoundary part="GraphiQL">
      <App config={config} />
    </ErrorBoundary>,
  );
}
