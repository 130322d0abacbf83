import { DocExplorerStore } from '@graphiql/plugin-doc-explorer';
import { HistoryStore } from '@graphiql/plugin-history';
import { GraphiQLProvider, pick, Tooltip, useGraphiQL, useGraphiQLActions, useMonaco } from '@graphiql/react';
import { useEffect, useMemo, useState } from 'react';
import type { PageConfig } from './config.ts';
import { type CostChannel, createCostChannel, mayExplain, useTabCosts } from './costs.ts';
import { type Credential, useCredential } from './credential.ts';
import { Editors } from './editors.tsx';
import { ErrorBoundary } from './error-boundary.tsx';
import { createFetcher } from './fetcher.ts';
import { useFieldCounts } from './field-counts.ts';
import { Header } from './header.tsx';
import { CloseIcon } from './icons.tsx';
import { openStorage } from './page-storage.ts';
import { PLUGINS, REFERENCE_PLUGIN } from './plugins.ts';
import { ResponsePane } from './response-pane.tsx';
import { shareInAddress } from './share-in-address.ts';
import { Splitter, useShare } from './splitter.tsx';
import { TabBar } from './tab-bar.tsx';
import { defineThemes, EDITOR_THEMES } from './themes.ts';
import { type PageSchema, useSchema } from './use-schema.ts';

/** The page. */
export function App({ config }: { config: PageConfig }) {
  const [storage] = useState(() => openStorage(config, location.search));
  const credential = useCredential(config);
  const { read, ask } = credential;
  const [channel] = useState(createCostChannel);
  const fetcher = useMemo(
    () => createFetcher({ read, ask, channel, mayExplain: (authorization) => mayExplain(config, authorization) }),
    [read, ask, channel, config],
  );
  const schema = useSchema(credential);
  return (
    <GraphiQLProvider
      fetcher={fetcher}
      schema={schema.schema}
      storage={storage}
      plugins={PLUGINS}
      editorTheme={EDITOR_THEMES}
      referencePlugin={REFERENCE_PLUGIN}
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

/** Options of the layout. */
interface LayoutProps {
  config: PageConfig;
  credential: Credential;
  schema: PageSchema;
  channel: CostChannel;
}

function Layout({ config, credential, schema, channel }: LayoutProps) {
  const isReady = useThemes();
  const [share, setShare] = useShare();
  const costs = useTabCosts(channel);
  useFieldCounts(costs.report);
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
          <>
            <Editors grow={share} channel={channel} />
            <Splitter share={share} onMove={setShare} />
            <ResponsePane grow={100 - share} config={config} costs={costs} />
          </>
        )}
      </main>
    </>
  );
}

/** Defines the editor's themes once the editor is loaded, and follows the system's. Returns whether the editor can be shown. */
function useThemes(): boolean {
  const monaco = useMonaco((state) => state.monaco);
  const [isDefined, setDefined] = useState(false);
  const { setTheme } = useGraphiQLActions();
  const theme = useGraphiQL((state) => state.theme);
  useEffect(() => {
    if (monaco !== undefined) {
      defineThemes(monaco);
      setDefined(true);
    }
  }, [monaco]);
  useEffect(() => {
    const system = matchMedia('(prefers-color-scheme: dark)');
    const follow = () => setTheme(theme); // GraphiQL reads the system's scheme only then.
    system.addEventListener('change', follow);
    return () => system.removeEventListener('change', follow);
  }, [theme, setTheme]);
  return isDefined;
}

/** Content of the open plugin. */
function PluginPane() {
  const { setVisiblePlugin } = useGraphiQLActions();
  const { visiblePlugin } = useGraphiQL(pick('visiblePlugin'));
  const Content = visiblePlugin?.content;
  return (
    Content && (
      <aside
        className="plugin"
        aria-label={visiblePlugin?.title}
        onKeyDown={({ key }) => {
          if (key === 'Escape') {
            setVisiblePlugin(null);
          }
        }}
      >
        <button
          type="button"
          className="close"
          aria-label={`Close ${visiblePlugin?.title}`}
          onClick={() => setVisiblePlugin(null)}
        >
          <CloseIcon />
        </button>
        <ErrorBoundary key={visiblePlugin?.title} part={visiblePlugin?.title ?? ''}>
          <Content />
        </ErrorBoundary>
      </aside>
    )
  );
}
