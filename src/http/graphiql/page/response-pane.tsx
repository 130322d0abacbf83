import { pick, ResponseEditor, Spinner, useGraphiQL } from '@graphiql/react';
import { useEffect, useRef } from 'react';
import type { PageConfig } from './config.ts';
import { CostBar } from './cost-bar.tsx';
import type { Costs } from './costs.ts';
import { ErrorHelp } from './error-help.tsx';
import { Plan } from './plan.tsx';
import { Welcome } from './welcome.tsx';

/** Options of the pane. */
interface ResponsePaneProps {
  config: PageConfig;
  costs: Costs;
  grow: number;
}

/** Response or plan of the active tab, or a welcome before the first one. */
export function ResponsePane({ config, costs: { report, explanation, wait }, grow }: ResponsePaneProps) {
  const { tabs, activeTabIndex, isFetching, queryId } = useGraphiQL(
    pick('tabs', 'activeTabIndex', 'isFetching', 'queryId'),
  );
  const response = tabs[activeTabIndex]?.response ?? '';
  const isFirst = tabs.every((tab) => !tab.response);
  const isEmpty = response === '' && !isFetching;
  const isPlanned = explanation !== undefined && !response.includes('"errors"');
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    // GraphiQL counts all runs, also those that send nothing because the variables are invalid.
    if (queryId > 0) {
      pane.current?.scrollIntoView({ block: 'nearest' }); // On a phone it is below the request.
    }
  }, [queryId]);
  return (
    <section ref={pane} className="response" aria-label="Response" style={{ flexGrow: grow }}>
      {isEmpty && <Welcome config={config} isFirst={isFirst} />}
      {isFetching && <Spinner />}
      {isFetching && wait && (
        <p className="notice" role="status">
          {wait} Press <strong>Stop</strong> to cancel.
        </p>
      )}
      {explanation && <Plan explanation={explanation} />}
      <div className="result" hidden={isEmpty || isPlanned}>
        <ResponseEditor />
      </div>
      <CostBar report={report} />
      <ErrorHelp response={response} errorCodes={config.errorCodes} />
    </section>
  );
}
