// Buttons that run, explain and copy the operation.

import {
  ChevronDownIcon,
  CopyIcon,
  DropdownMenu,
  formatShortcutForOS,
  KEY_MAP,
  MergeIcon,
  PrettifyIcon,
  pick,
  tryParseJSONC,
  useGraphiQL,
  useGraphiQLActions,
} from '@graphiql/react';
import { IconButton, LinkIcon, useCopy } from './controls.tsx';
import type { PageState } from './header.tsx';
import { type SnippetRequest, selectOperation, toClient, toCurl, toFetch, VARIABLES } from './snippets.ts';
import { readAddress } from './storage.ts';
import { useTabs } from './tabs.tsx';

type ToolbarState = Pick<PageState, 'config' | 'credential'>;

export function Toolbar({ explain, ...state }: ToolbarState & { explain: () => void }) {
  const { run, stop, prettifyEditors, mergeQuery, setOperationName } = useGraphiQLActions();
  const { isFetching, operations = [], operationName } = useGraphiQL(pick('isFetching', 'operations', 'operationName'));
  return (
    <div className="toolbar" role="toolbar" aria-label="Operation">
      <button
        type="button"
        className="run"
        title={`${isFetching ? 'Stop' : 'Run'} (${formatShortcutForOS(KEY_MAP.runQuery.key)})`}
        onClick={isFetching ? stop : run}
      >
        {isFetching ? 'Stop' : 'Run'}
      </button>
      <button
        type="button"
        title={`List the REST calls without sending them (${formatShortcutForOS('Shift-Ctrl-Enter')})`}
        disabled={operations.length === 0}
        aria-disabled={isFetching} // A disabled button would lose the focus.
        onClick={isFetching ? undefined : explain}
      >
        Explain
      </button>
      {operations.length > 1 && (
        <select
          aria-label="Operation to run"
          value={operationName ?? ''}
          onChange={({ target }) => setOperationName(target.value)}
        >
          {operations.map(({ name }) => name && <option key={name.value}>{name.value}</option>)}
        </select>
      )}
      <IconButton name="Prettify" icon={PrettifyIcon} shortcut={KEY_MAP.prettify.key} onClick={prettifyEditors} />
      <IconButton name="Merge fragments" icon={MergeIcon} shortcut={KEY_MAP.mergeFragments.key} onClick={mergeQuery} />
      {window.isSecureContext && <CopyTools {...state} /> /* Elsewhere, pages have no clipboard. */}
    </div>
  );
}

/** Menu that copies the operation as it is or as code, a button that copies its link, and what happened. */
function CopyTools({ config, credential }: ToolbarState) {
  const { queryEditor, variableEditor, headerEditor, operationName } = useGraphiQL(
    pick('queryEditor', 'variableEditor', 'headerEditor', 'operationName'),
  );
  const { save } = useTabs();
  const { result, copy, report } = useCopy();
  const query = () => queryEditor?.getValue() ?? '';

  function copyCode(toCode: (request: SnippetRequest) => string): void {
    const scheme = /^bearer /i.test(credential.read() ?? `${credential.scheme} `) ? 'Bearer' : 'ApiKey';
    const { publicKey } = credential;
    const hasHeaders = (headerEditor?.getValue() ?? '').trim() !== '';
    const hints = [
      publicKey === undefined && `Set ${VARIABLES[scheme]} to your ${scheme === 'Bearer' ? 'token' : 'key'}.`,
      hasHeaders && 'The headers below the operation are not copied, because they can be secret.',
    ];
    try {
      const variables = tryParseJSONC(variableEditor?.getValue());
      const url = location.origin + location.pathname;
      const code = toCode({ url, scheme, publicKey, query: selectOperation(query(), operationName), variables });
      copy(code, hints.filter(Boolean).join(' '));
    } catch (error) {
      report(`Not copied. Variables ${error instanceof Error ? error.message : error}`);
    }
  }

  function copyLink(): void {
    save(); // Brings the address up to date.
    const isTooLong = query() !== '' && !readAddress().has('query');
    if (isTooLong) {
      report('Not copied. The operation is too long for a link.');
    } else {
      copy(location.href, 'The link contains the operation and its variables: don’t share it if they are secret.');
    }
  }

  const items: Readonly<Record<string, () => void>> = {
    Operation: () => copy(query()),
    'curl command': () => copyCode(toCurl),
    'fetch call': () => copyCode(toFetch),
    'Typed client': () => copyCode((request) => toClient(request, config.operations)),
  };
  return (
    <>
      <DropdownMenu modal={false}>
        <DropdownMenu.Button type="button" className="icon" aria-label="Copy" title="Copy">
          <CopyIcon aria-hidden="true" />
          <ChevronDownIcon aria-hidden="true" />
        </DropdownMenu.Button>
        <DropdownMenu.Content className="copy-menu">
          {Object.entries(items).map(([name, select]) => (
            <DropdownMenu.Item key={name} onSelect={select}>
              {name}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu>
      <IconButton name="Copy link" icon={LinkIcon} onClick={copyLink} />
      <p role="status">{result}</p>
    </>
  );
}
