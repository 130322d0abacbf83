import { pick, ResponseEditor, Spinner, useGraphiQL } from '@graphiql/react';
import { useEffect, useMemo, useRef } from 'react';
import type { PageConfig, UpstreamReport } from './config.ts';
import { RUN_SHORTCUT } from './editors.tsx';
import { type Costs, countCalls } from './fetcher.ts';
import { Plan } from './plan.tsx';

/** Response or plan of the active tab, or a welcome before the first one. */
export function ResponsePane({ config, costs, grow }: { config: PageConfig; costs: Costs; grow: number }) {
  const { report, explanation, wait } = costs;
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

/** Content of an empty response pane. The introduction is shown until the first operation is run. */
function Welcome({ config, isFirst }: { config: PageConfig; isFirst: boolean }) {
  const run = (
    <p>
      Press <strong>Run</strong> or <kbd>{RUN_SHORTCUT}</kbd> to send the operation.
    </p>
  );
  if (!isFirst) {
    return <div className="welcome">{run}</div>;
  }
  return (
    <div className="welcome">
      <h2>Welcome to Notigraph</h2>
      {config.isSandbox ? (
        <p>
          This is the GraphQL API of a notification service. It runs on the <strong>sandbox</strong> with sample data,
          so you can try everything, including changes.
        </p>
      ) : (
        <p>
          This is the GraphQL API of your notification service. Operations use <strong>the real service</strong>:
          mutations change its data.
        </p>
      )}
      {run}
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
function CostBar({ report }: { report: UpstreamReport | undefined }) {
  if (report === undefined) {
    return null;
  }
  const fields = Object.entries(report.fields).toSorted(([, a], [, b]) => b - a);
  return (
    <details className="cost-bar">
      <summary>Upstream: {summarize(report)}</summary>
      {fields.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Calls</th>
            </tr>
          </thead>
          <tbody>
            {fields.map(([field, count]) => (
              <tr key={field}>
                <th scope="row">{field}</th>
                <td>{count}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p>A call that several fields needed counts for each of them.</p>
    </details>
  );
}

function summarize({ calls, shared, cached, retries, unsent = 0, ms, rateLimitRemaining }: UpstreamReport): string {
  const parts = [countCalls({ min: calls, max: calls })];
  for (const [count, noun] of [
    [shared, 'shared'],
    [cached, 'cached'],
    [unsent, 'not sent'],
    [retries, retries === 1 ? 'retry' : 'retries'],
  ] as const) {
    if (count > 0) {
      parts.push(`${count} ${noun}`);
    }
  }
  if (calls > 0) {
    parts.push(`${Math.round(ms)} ms`);
  }
  if (rateLimitRemaining !== undefined) {
    parts.push(`${rateLimitRemaining} left of the service’s rate limit`);
  }
  return parts.join(' · ');
}

/** Explains the code of the first error of a response, which is JSON text. */
function ErrorHelp({ response, errorCodes }: { response: string; errorCodes: PageConfig['errorCodes'] }) {
  const code = useMemo(() => codeOf(response), [response]);
  const entry = code === undefined || !Object.hasOwn(errorCodes, code) ? undefined : errorCodes[code];
  return (
    <div role="status" className="error-help">
      {entry && (
        <>
          <h2>{code}</h2>
          <p>{entry.meaning}</p>
          <p>{entry.remedy}</p>
        </>
      )}
    </div>
  );
}

function codeOf(response: string): string | undefined {
  if (!response.includes('"errors"')) {
    return undefined;
  }
  try {
    return JSON.parse(response).errors?.[0]?.extensions?.code;
  } catch {
    return undefined; // Not a response of the gateway.
  }
}
