// Shows the REST calls of an explained operation.

import type { ExplainedCall, Explanation } from '../../../src/graphiql/page-config.ts';
import { useCopy } from './controls.tsx';
import { VARIABLES, withKey } from './snippets.ts';

/** Returns a number with its noun, such as `1 call` or `0–20 calls`. */
export function countCalls(min: number, max = min): string {
  const count = min === max ? `${min}` : `${min}–${max}`;
  return `${count} ${count === '1' ? 'call' : 'calls'}`;
}

const CACHE: Readonly<Record<NonNullable<ExplainedCall['cache']>['state'], (seconds: number) => string>> = {
  fresh: () => 'Answered from the cache',
  stale: () => 'Stored, but out of date',
  absent: (seconds) => `Not stored yet, then for ${seconds} s`,
  unknown: (seconds) => `Stored for ${seconds} s`,
};

/** REST calls that an operation would make, in the order in which they can start. */
export function Plan({ explanation, publicKey }: { explanation: Explanation; publicKey: string | undefined }) {
  const { budget, bulkItems, notExplained = [], scopes, calls } = explanation;
  return (
    <section className="plan" aria-label="Plan">
      <h2>Plan</h2>
      <p>
        {`${countCalls(budget.min, budget.max)} of at most ${budget.limit}. `}
        {bulkItems &&
          `${countCalls(bulkItems.min, bulkItems.max)} for items of bulk writes, of at most ${bulkItems.limit}. `}
        {notExplained.length > 0 && `Not explained: ${notExplained.join(', ')}. `}
        {scopes.length > 0 && `A token needs the scope${scopes.length === 1 ? '' : 's'} ${scopes.join(', ')}. `}
        Nothing was sent to the service.
      </p>
      <ol>
        {calls.map((call) => (
          <Call key={call.id} call={call} publicKey={publicKey} />
        ))}
      </ol>
    </section>
  );
}

/** Call of a plan. Its number is that of the list. */
function Call({ call, publicKey }: { call: ExplainedCall; publicKey: string | undefined }) {
  const { method, route, fields, after, reason, cache, shared, curl } = call;
  return (
    <li>
      <code>{`${method} ${route}`}</code>
      <p>
        {countCalls(call.min, call.max)} for {fields.join(', ')},{' '}
        {after.length === 0 ? 'at once' : `after ${after.join(' and ')}`}. {reason && <span>{reason}</span>}
      </p>
      <p>
        {cache === undefined ? 'Not cached' : CACHE[cache.state](cache.freshSeconds)}.{' '}
        {shared ? 'Shared in flight.' : 'Never shared.'}
      </p>
      {curl && <Curl command={withKey(curl, publicKey)} name={`${method} ${route}`} />}
    </li>
  );
}

function Curl({ command, name }: { command: string; name: string }) {
  const { result, copy } = useCopy();
  return (
    <details>
      <summary aria-label={`curl command of ${name}`}>curl</summary>
      <pre>{command}</pre>
      {window.isSecureContext && ( // Elsewhere, pages have no clipboard.
        <button
          type="button"
          aria-label={`Copy the curl command of ${name}`}
          onClick={() =>
            copy(command, command.includes(VARIABLES.ApiKey) ? `Set ${VARIABLES.ApiKey} to your key.` : '')
          }
        >
          Copy
        </button>
      )}
      <span role="status">{result}</span>
    </details>
  );
}
