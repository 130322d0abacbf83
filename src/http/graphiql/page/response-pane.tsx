import { pick, ResponseEditor, Spinner, useGraphiQL } from '@graphiql/react';
import { useEffect, useRef } from 'react';
import type { PageConfig } from './config.ts';
import { ErrorHelp } from './error-help.tsx';
import { Welcome } from './welcome.tsx';

/** Response of the active tab, or a welcome before the first one. */
export function ResponsePane({ config, grow }: { config: PageConfig; grow: number }) {
  const { tabs, activeTabIndex, isFetching } = useGraphiQL(pick('tabs', 'activeTabIndex', 'isFetching'));
  const response = tabs[activeTabIndex]?.response ?? '';
  const isFirst = tabs.every((tab) => !tab.response);
  const isEmpty = response === '' && !isFetching;
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isFetching) {
      pane.current?.scrollIntoView({ block: 'nearest' }); // On a phone it is below the request.
    }
  }, [isFetching]);
  return (
    <section ref={pane} className="response" aria-label="Response" style={{ flexGrow: grow }}>
      {isEmpty && <Welcome config={config} isFirst={isFirst} />}
      {isFetching && <Spinner />}
      <div className="result" hidden={isEmpty}>
        <ResponseEditor />
      </div>
      <ErrorHelp response={response} errorCodes={config.errorCodes} />
    </section>
  );
}
