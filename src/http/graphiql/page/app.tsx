import { DocExplorerStore } from '@graphiql/plugin-doc-explorer';
import { HistoryStore } from '@graphiql/plugin-history';
import {
  GraphiQLProvider,
  pick,
  type TabsState,
  Tooltip,
  useGraphiQL,
  useGraphiQLActions,
  useMonaco,
} from '@graphiql/react';
import { useEffect, useMemo, useState } from 'react';
import type { PageConfig } from './config.ts';
import { useCredential } from './credential.tsx';
import { Editors, useFieldCounts } from './editors.tsx';
import { ErrorBoundary } from './error-boundary.tsx';
import { type CostChannel, createCostChannel, createFetcher, mayExplain, useTabCosts } from './fetcher.ts';
import { Header, type PageState, PLUGINS, REFERENCE_PLUGIN } from './header.tsx';
import { CloseIcon } from './icons.tsx';
import { openStorage } from './page-storage.ts';
import { ResponsePane } from './response-pane.tsx';
import { TabBar } from './tabs.tsx';
import { useSchema } from './use-schema.ts';

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

function Layout({ config, credential, schema, channel }: PageState & { channel: CostChannel }) {
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

/** Steps of the arrow keys, in percent. */
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -5, ArrowRight: 5 };

const clamp = (share: number): number => Math.min(80, Math.max(20, Math.round(share)));

/** Returns the width of the request, in percent, and a function that changes and stores it. */
function useShare(): [share: number, setShare: (share: number) => void] {
  const storage = useGraphiQL((state) => state.storage);
  const [share, setShare] = useState(() => clamp(Number(storage.get('editorShare')) || 50));
  return [
    share,
    (next) => {
      setShare(clamp(next));
      storage.set('editorShare', String(clamp(next)));
    },
  ];
}

/** Divider between request and response. Moves with the pointer and the arrow keys. */
function Splitter({ share, onMove }: { share: number; onMove(share: number): void }) {
  return (
    <hr
      className="splitter"
      tabIndex={0}
      aria-label="Width of the request"
      aria-orientation="vertical"
      aria-valuenow={share}
      aria-valuemin={20}
      aria-valuemax={80}
      onKeyDown={({ key }) => STEPS[key] && onMove(share + STEPS[key])}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={({ currentTarget: splitter, pointerId, clientX }) => {
        const left = splitter.previousElementSibling?.getBoundingClientRect().left;
        const right = splitter.nextElementSibling?.getBoundingClientRect().right;
        if (left !== undefined && right !== undefined && splitter.hasPointerCapture(pointerId)) {
          onMove(((clientX - left) / (right - left)) * 100);
        }
      }}
    />
  );
}

type MonacoState = Parameters<Parameters<typeof useMonaco>[0]>[0];

type Monaco = NonNullable<MonacoState['monaco']>;

/** Names of the editor's themes. */
const EDITOR_THEMES = { light: 'notigraph-light', dark: 'notigraph-dark' };

/** Background of the page: the editor is transparent, but not its menus. */
const BACKGROUNDS = { light: '#ffffff', dark: '#212a3b' };
const ACCENTS = { light: '#294fbc', dark: '#92b6fc' };

/** Defines the themes: Monaco's own in the colors of the page, with enough contrast for comments and line numbers. */
function defineThemes({ editor }: Monaco): void {
  editor.defineTheme(EDITOR_THEMES.light, {
    base: 'vs',
    inherit: true,
    colors: colorsOf('light'),
    rules: [
      { token: 'comment', foreground: '#007000' },
      { token: 'argument.identifier.gql', foreground: '#5a3bbd' },
      { token: 'number', foreground: '#06603f' },
    ],
  });
  editor.defineTheme(EDITOR_THEMES.dark, {
    base: 'vs-dark',
    inherit: true,
    colors: { ...colorsOf('dark'), 'editorLineNumber.foreground': '#a3acbd' },
    rules: [
      { token: 'comment', foreground: '#8fc27b' },
      { token: 'argument.identifier.gql', foreground: '#c4b0fb' },
    ],
  });
}

const colorsOf = (theme: 'light' | 'dark') => ({
  'editor.background': '#ffffff00',
  'editorGutter.background': '#ffffff00',
  'scrollbar.shadow': '#ffffff00',
  'editorWidget.background': BACKGROUNDS[theme],
  'editorSuggestWidget.background': BACKGROUNDS[theme],
  'editorSuggestWidget.selectedBackground': `${ACCENTS[theme]}30`,
  'editorHoverWidget.background': BACKGROUNDS[theme],
  'quickInput.background': BACKGROUNDS[theme],
  'textLink.foreground': ACCENTS[theme],
  'editorLink.activeForeground': ACCENTS[theme],
  focusBorder: ACCENTS[theme],
});

/** Longest query of the address. Servers reject longer ones, so that the page could not be reloaded. */
const MAX_LENGTH = 6_000;

/** Writes the operation of the active tab into the address, which can then be shared, unless it is too long. */
function shareInAddress({ tabs, activeTabIndex }: TabsState): void {
  const { query, variables } = tabs[activeTabIndex] ?? {};
  const search = `?${new URLSearchParams({ ...(query && { query }), ...(query && variables && { variables }) })}`;
  const address = query && search.length <= MAX_LENGTH ? search : location.pathname;
  if (address !== location.search) {
    history.replaceState(null, '', address);
  }
}
