import { useState } from 'react';
import type { ExplainedCall, Explanation } from './config.ts';
import { countCalls } from './fetcher.ts';

const CACHE: Readonly<Record<NonNullable<ExplainedCall['cache']>['state'], (seconds: number) => string>> = {
  fresh: () => 'Answered from the cache',
  stale: () => 'Stored, but out of date',
  absent: (seconds) => `Not stored yet, then for ${seconds} s`,
  unknown: (seconds) => `Stored for ${seconds} s`,
};

/** REST calls that an operation would make, in the order in which they can start. */
export function Plan({ explanation }: { explanation: Explanation }) {
  const { calls } = explanation;
  return (
    <section className="plan" aria-label="Plan">
      <h2>Plan</h2>
      <p>{summarize(explanation)}</p>
      {calls.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">No.</th>
              <th scope="col">Fields</th>
              <th scope="col">Calls</th>
              <th scope="col">After</th>
              <th scope="col">Cache</th>
            </tr>
          </thead>
          {calls.map((call) => (
            <Rows key={call.id} call={call} />
          ))}
        </table>
      )}
    </section>
  );
}

function Rows({ call }: { call: ExplainedCall }) {
  const { id, method, route, fields, after, reason, cache, shared, curl } = call;
  return (
    <tbody>
      <tr>
        <td>{id}</td>
        <th scope="rowgroup" colSpan={4}>
          <code>
            {method} {route}
          </code>
        </th>
      </tr>
      <tr>
        <td />
        <td>
          {fields.map((field) => (
            <FieldName key={field} field={field} />
          ))}
        </td>
        <td>
          {countCalls(call)}
          {reason && <span>{reason}</span>}
        </td>
        <td>{after.length === 0 ? 'At once' : after.join(', ')}</td>
        <td>
          {cache === undefined ? 'Not cached' : CACHE[cache.state](cache.freshSeconds)}
          <span>{shared ? 'Shared in flight' : 'Never shared'}</span>
        </td>
      </tr>
      {curl !== undefined && (
        <tr className="curl">
          <td />
          <td colSpan={4}>
            <Curl command={curl} name={`${method} ${route}`} />
          </td>
        </tr>
      )}
    </tbody>
  );
}

/** Name of a field, which breaks after its type. */
function FieldName({ field }: { field: string }) {
  const end = field.indexOf('.') + 1;
  return (
    <span>
      {field.slice(0, end)}
      <wbr />
      {field.slice(end)}
    </span>
  );
}

function Curl({ command, name }: { command: string; name: string }) {
  const [isCopied, setCopied] = useState<boolean>();
  const copy = () =>
    navigator.clipboard.writeText(command).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  return (
    <details>
      <summary aria-label={`curl command of ${name}`}>curl</summary>
      <pre>{command}</pre>
      {window.isSecureContext && ( // Elsewhere, pages have no clipboard.
        <button type="button" aria-label={`Copy the curl command of ${name}`} onClick={() => void copy()}>
          {isCopied ? 'Copied' : 'Copy'}
        </button>
      )}
      <span role="status">
        {isCopied && 'Replace *** with your key.'}
        {isCopied === false && 'Your browser does not permit copying. Select the command.'}
      </span>
    </details>
  );
}

function summarize({ budget, bulkItems, scopes }: Explanation): string {
  const sentences = [`${countCalls(budget)} of at most ${budget.limit}.`];
  if (bulkItems !== undefined) {
    sentences.push(`${countCalls(bulkItems)} for items of bulk writes, of at most ${bulkItems.limit}.`);
  }
  if (scopes.length > 0) {
    sentences.push(`A token needs ${scopes.length === 1 ? 'the scope' : 'the scopes'} ${scopes.join(', ')}.`);
  }
  return [...sentences, 'Nothing was sent to the service.'].join(' ');
}
