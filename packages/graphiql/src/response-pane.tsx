// Shows the response, its cost and help with errors.

import { CopyIcon, formatShortcutForOS, KEY_MAP, pick, ResponseEditor, Spinner, useGraphiQL } from '@graphiql/react';
import { useEffect, useRef } from 'react';
import type { PageConfig, UpstreamReport } from '../../../src/graphiql/page-config.ts';
import { IconButton, useCopy } from './controls.tsx';
import type { Run } from './fetcher.ts';
import { countCalls, Plan } from './plan.tsx';
import type { Reply } from './send.ts';

interface ResponsePaneProps {
  config: PageConfig;
  publicKey: string | undefined;
  run: Run;
  /** Part of the width that it takes. */
  share: number;
}

/** Response or plan of the active tab, or a welcome before the first one. */
export function ResponsePane({ config, publicKey, run, share }: ResponsePaneProps) {
  const { reply, report, explanation, wait, failure, note } = run;
  const { tabs, activeTabIndex, isFetching, queryId } = useGraphiQL(
    pick('tabs', 'activeTabIndex', 'isFetching', 'queryId'),
  );
  const response = tabs[activeTabIndex]?.response ?? '';
  const code = codeOf(response);
  const isEmpty = response === '' && !isFetching;
  const hasResult = !isEmpty && (explanation === undefined || code !== undefined);
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    // GraphiQL counts all runs, also those that send nothing because the variables are invalid.
    if (queryId > 0) {
      pane.current?.scrollIntoView({ block: 'nearest' }); // On a phone it is below the request.
    }
  }, [queryId]);
  return (
    <section ref={pane} className="response" aria-label="Response" style={{ flexGrow: share }}>
      {isEmpty && failure === undefined && note === undefined && <Welcome {...config} />}
      {isFetching && <Spinner />}
      {isFetching && wait && (
        <p className="notice" role="status">
          {wait} Press <strong>Stop</strong> to cancel.
        </p>
      )}
      {failure && (
        <p className="failure" role="alert">
          {failure}
        </p>
      )}
      {note && (
        <p className="notice" role="status">
          {note}
        </p>
      )}
      {explanation && <Plan explanation={explanation} publicKey={publicKey} />}
      {hasResult && response !== '' && <Summary reply={reply} response={response} />}
      <div className="result" hidden={!hasResult}>
        <ResponseEditor />
      </div>
      {report && <CostBar report={report} />}
      <div role="status" className="error-help">
        {code !== undefined && Object.hasOwn(config.errorCodes, code) && (
          <>
            <h2>{code}</h2>
            <p>{config.errorCodes[code]?.meaning}</p>
            <p>{config.errorCodes[code]?.remedy}</p>
          </>
        )}
      </div>
    </section>
  );
}

/** Status, duration and size of a response, and a button that copies it. */
function Summary({ reply, response }: { reply: Reply | undefined; response: string }) {
  const { result, copy } = useCopy();
  return (
    <div className="toolbar summary">
      <p title="HTTP status, time until the last byte, and size before compression">{reply && describeReply(reply)}</p>
      <span role="status">{result}</span>
      {window.isSecureContext && ( // Elsewhere, pages have no clipboard.
        <IconButton name="Copy response" icon={CopyIcon} onClick={() => copy(response)} />
      )}
    </div>
  );
}

function describeReply({ status, ms, bytes }: Reply): string {
  const size =
    bytes < 1_000 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
  return `${status} · ${Math.round(ms)} ms · ${size}`;
}

function Welcome({ isSandbox, tabs }: Pick<PageConfig, 'isSandbox' | 'tabs'>) {
  return (
    <div className="welcome">
      <h2>Welcome to Notigraph</h2>
      <p>
        {isSandbox
          ? 'This is the GraphQL API of a notification service. It runs on the sandbox with sample data, so you can try everything, including changes.'
          : 'This is the GraphQL API of your notification service. Operations use the real service: mutations change its data.'}
      </p>
      <p>
        Press <strong>Run</strong> or <kbd>{formatShortcutForOS(KEY_MAP.runQuery.key)}</kbd> to send the operation.
        {tabs[0] === 'TriggerEvent' &&
          ' Run the tabs from left to right to trigger a notification, see it in the inbox, mark it as read, and delete it.'}
      </p>
      <ul>
        <li>
          <strong>Operations</strong>, at the top, has a ready example of everything the API can do.
        </li>
        <li>
          <strong>Explain</strong> lists the REST calls of an operation without sending them.
        </li>
        <li>
          <strong>Docs</strong> describes every type and field. While you type, <kbd>Ctrl-Space</kbd> completes.
        </li>
      </ul>
    </div>
  );
}

/** Calls of the last operation: a line, and the calls of each field. */
function CostBar({ report }: { report: UpstreamReport }) {
  const { calls, shared, cached, unsent = 0, retries, ms, rateLimitRemaining, fields } = report;
  const summary = [
    countCalls(calls),
    shared > 0 && `${shared} shared`,
    cached > 0 && `${cached} cached`,
    unsent > 0 && `${unsent} not sent`,
    retries > 0 && `${retries} ${retries === 1 ? 'retry' : 'retries'}`,
    calls > 0 && `${Math.round(ms)} ms`,
    rateLimitRemaining !== undefined && `${rateLimitRemaining} left of the service’s rate limit`,
  ];
  return (
    <details className="cost-bar">
      <summary>Upstream: {summary.filter(Boolean).join(' · ')}</summary>
      <ul>
        {Object.entries(fields)
          .toSorted(([, a], [, b]) => b - a)
          .map(([field, count]) => (
            <li key={field}>
              <code>{field}</code>: {countCalls(count)}
            </li>
          ))}
      </ul>
      <p>A call that several fields needed counts for each of them.</p>
    </details>
  );
}

/** Returns the code of the first error of a response, which is JSON text; an empty one if it has none. */
function codeOf(response: string): string | undefined {
  try {
    const { errors } = JSON.parse(response);
    return errors && (errors[0]?.extensions?.code ?? '');
  } catch {
    return undefined; // There is no response.
  }
}
