import { formatShortcutForOS, KEY_MAP, pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { PlayIcon, StopIcon } from './icons.tsx';
import { EXPLAIN_SHORTCUT } from './use-explain.ts';

/** Shortcut of the button "Run", as on the keyboard. */
export const RUN_SHORTCUT = formatShortcutForOS(KEY_MAP.runQuery.key);

/** Buttons above the operation. */
export function Toolbar({ onExplain }: { onExplain: () => void }) {
  const { run, stop, prettifyEditors, copyQuery, mergeQuery, setOperationName } = useGraphiQLActions();
  const { isFetching, operations = [], operationName } = useGraphiQL(pick('isFetching', 'operations', 'operationName'));
  const names = operations.flatMap(({ name }) => name?.value ?? []);
  return (
    <div className="toolbar" role="toolbar" aria-label="Operation">
      <button
        type="button"
        className="run"
        title={`${isFetching ? 'Stop' : 'Run'} (${RUN_SHORTCUT})`}
        onClick={isFetching ? stop : run}
      >
        {isFetching ? <StopIcon /> : <PlayIcon />} {isFetching ? 'Stop' : 'Run'}
      </button>
      <button
        type="button"
        className="button"
        title={`List the REST calls without sending them (${EXPLAIN_SHORTCUT})`}
        disabled={operations.length === 0}
        aria-disabled={isFetching} // A disabled button would lose the focus.
        onClick={isFetching ? undefined : onExplain}
      >
        Explain
      </button>
      {names.length > 1 && (
        <select
          aria-label="Operation to run"
          value={operationName ?? ''}
          onChange={({ target }) => setOperationName(target.value)}
        >
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
      <button type="button" className="button" title={KEY_MAP.prettify.key} onClick={prettifyEditors}>
        Prettify
      </button>
      <button type="button" className="button" title={KEY_MAP.mergeFragments.key} onClick={mergeQuery}>
        Merge fragments
      </button>
      {window.isSecureContext && ( // Elsewhere, pages have no clipboard.
        <button type="button" className="button" title={KEY_MAP.copyQuery.key} onClick={copyQuery}>
          Copy
        </button>
      )}
    </div>
  );
}
