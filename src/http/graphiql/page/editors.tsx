import { HeaderEditor, pick, QueryEditor, useGraphiQL, VariableEditor } from '@graphiql/react';
import { useEffect, useState } from 'react';
import type { CostChannel } from './costs.ts';
import { ChevronIcon } from './icons.tsx';
import { Toolbar } from './toolbar.tsx';
import { useExplain } from './use-explain.ts';

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
