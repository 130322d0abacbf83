// The API key or token of the visitor, and its field.

import { useId, useMemo, useRef, useState } from 'react';
import type { PageConfig } from '../../../src/graphiql/page-config.ts';

/** Value of the header `Authorization`. It exists only in memory, until the page is closed. */
export type Credential = ReturnType<typeof useCredential>;

/** Holds the credential, which is initially the one of the configuration. */
export function useCredential({ isSandbox, authorization = '', schemes }: PageConfig) {
  const [first = '', initialSecret = ''] = authorization.split(' ', 2);
  const initialScheme = (['ApiKey', 'Bearer'] as const).find((scheme) => scheme === first);
  const given = initialScheme ? initialSecret : authorization;
  const [scheme, setScheme] = useState(initialScheme ?? schemes[0] ?? 'ApiKey');
  const [secret, setSecret] = useState(given);
  const [isAskedFor, setAskedFor] = useState(false);
  const input = useRef<HTMLInputElement>(null);

  const isOfServer = secret !== '' && secret === given;
  const current = useRef('');
  current.current = secret.includes(' ') ? secret : secret && `${scheme} ${secret}`; // A pasted header value has its scheme.
  const actions = useMemo(
    () => ({
      /** Returns the current value of the header; undefined without a credential. */
      read: () => current.current || undefined,
      ask() {
        setAskedFor(true);
        input.current?.focus();
      },
    }),
    [],
  );
  return {
    ...{ scheme, secret, input, setScheme },
    /** Whether the secret is the one of the configuration. */
    isOfServer,
    /** The secret if it is the sandbox's, which may be shown and copied; undefined for any other. */
    publicKey: isSandbox && isOfServer ? secret : undefined,
    /** Whether running an operation failed because the field is empty. */
    isAskedFor: isAskedFor && secret === '',
    setSecret: (value: string) => setSecret(value.trim()),
    /** Fills in the credential of the configuration again. */
    restore() {
      setScheme(initialScheme ?? scheme);
      setSecret(given);
      input.current?.focus(); // The button that was pressed disappears.
    },
    ...actions,
  };
}

const NAMES = { ApiKey: 'API key', Bearer: 'Token' };

/**
 * Field for the API key or token that is sent with every operation.
 *
 * @param onCommit called when the visitor has finished editing
 */
export function CredentialField({
  config,
  credential,
  onCommit,
}: {
  config: PageConfig;
  credential: Credential;
  onCommit(): void;
}) {
  const { isSandbox, authorization, schemes } = config;
  const { scheme, secret, isOfServer, publicKey, isAskedFor, input, setScheme, setSecret, restore } = credential;
  const id = useId();
  return (
    <form
      className="credential"
      onSubmit={(event) => {
        event.preventDefault();
        onCommit();
      }}
    >
      {schemes.length > 1 ? (
        <select
          aria-label="Kind of credential"
          value={scheme}
          onChange={({ target }) => setScheme(target.value === 'Bearer' ? 'Bearer' : 'ApiKey')}
        >
          {schemes.map((each) => (
            <option key={each} value={each}>
              {NAMES[each]}
            </option>
          ))}
        </select>
      ) : (
        <label htmlFor={id}>{NAMES[scheme]}</label>
      )}
      <input
        id={id}
        ref={input}
        type={publicKey === undefined ? 'password' : 'text'}
        aria-label={NAMES[scheme]}
        aria-invalid={isAskedFor}
        aria-describedby={`${id}-note`}
        autoComplete="off"
        spellCheck={false}
        value={secret}
        onChange={({ target }) => setSecret(target.value)}
        onBlur={onCommit}
      />
      {isSandbox && authorization !== undefined && secret === '' && (
        <button type="button" onClick={restore}>
          Use the sandbox’s key
        </button>
      )}
      <p id={`${id}-note`} className={isAskedFor ? 'problem' : undefined} role={isAskedFor ? 'alert' : undefined}>
        {isAskedFor && `Enter your ${scheme === 'ApiKey' ? 'API key' : 'token'} to run operations.`}
        {!isAskedFor && isOfServer && (isSandbox ? 'The sandbox’s key' : 'Filled in by this server')}
        {!isAskedFor && !isOfServer && 'Kept until you close the page'}
      </p>
    </form>
  );
}
