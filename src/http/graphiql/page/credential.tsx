import { type RefObject, useId, useMemo, useRef, useState } from 'react';
import type { PageConfig, Scheme } from './config.ts';

/** Value of the header `Authorization`. It exists only in memory, until the page is closed. */
export interface Credential {
  scheme: Scheme;
  secret: string;
  /** Whether running an operation failed because the field is empty. */
  isAskedFor: boolean;
  input: RefObject<HTMLInputElement | null>;
  setScheme(scheme: Scheme): void;
  setSecret(secret: string): void;
  /** Returns the current value of the header; undefined without a credential. */
  read(): string | undefined;
  /** Asks the visitor to fill in the field. */
  ask(): void;
}

/** Holds the credential, which is initially the one of the configuration. */
export function useCredential({ authorization = '', schemes }: PageConfig): Credential {
  const [initialScheme = schemes[0] ?? 'ApiKey', initialSecret = authorization] = splitScheme(authorization);
  const [scheme, setScheme] = useState(initialScheme);
  const [secret, setSecret] = useState(initialSecret);
  const [isAskedFor, setAskedFor] = useState(false);
  const input = useRef<HTMLInputElement>(null);

  const current = useRef('');
  current.current = secret.includes(' ') ? secret : secret && `${scheme} ${secret}`; // A pasted header value has its scheme.
  const actions = useMemo(
    () => ({
      read: () => current.current || undefined,
      ask() {
        setAskedFor(true);
        input.current?.focus();
      },
    }),
    [],
  );
  return {
    scheme,
    secret,
    isAskedFor: isAskedFor && secret === '',
    input,
    setScheme,
    setSecret: (value) => setSecret(value.trim()),
    ...actions,
  };
}

function splitScheme(authorization: string): [scheme?: Scheme, secret?: string] {
  const [scheme, secret] = authorization.split(' ', 2);
  return scheme === 'ApiKey' || scheme === 'Bearer' ? [scheme, secret ?? ''] : [];
}

const NAMES = { ApiKey: 'API key', Bearer: 'Token' };

/** Options of the field. */
interface CredentialFieldProps {
  config: PageConfig;
  credential: Credential;
  /** Called when the visitor has finished editing. */
  onCommit(): void;
}

/** Field for the API key or token that is sent with every operation. */
export function CredentialField({ config, credential, onCommit }: CredentialFieldProps) {
  const { scheme, secret, isAskedFor, input, setScheme, setSecret } = credential;
  const id = useId();
  const name = NAMES[scheme];
  return (
    <form
      className="credential"
      onSubmit={(event) => {
        event.preventDefault();
        onCommit();
      }}
    >
      {config.schemes.length > 1 ? (
        <select
          aria-label="Kind of credential"
          value={scheme}
          onChange={({ target }) =>
            setScheme(config.schemes.find((each): each is Scheme => each === target.value) ?? scheme)
          }
        >
          {config.schemes.map((each) => (
            <option key={each} value={each}>
              {NAMES[each]}
            </option>
          ))}
        </select>
      ) : (
        <label htmlFor={id}>{name}</label>
      )}
      <input
        id={id}
        ref={input}
        type={config.isSandbox && config.authorization?.endsWith(secret) && secret !== '' ? 'text' : 'password'}
        aria-label={config.schemes.length > 1 ? name : undefined}
        aria-invalid={isAskedFor}
        aria-describedby={`${id}-note`}
        autoComplete="off"
        spellCheck={false}
        value={secret}
        onChange={({ target }) => setSecret(target.value)}
        onBlur={onCommit}
      />
      <p id={`${id}-note`} className={isAskedFor ? 'problem' : 'note'} role={isAskedFor ? 'alert' : undefined}>
        {isAskedFor ? `Enter your ${lower(name)} to run operations.` : noteOf(config, credential)}
      </p>
    </form>
  );
}

function noteOf({ isSandbox, authorization }: PageConfig, { scheme, secret }: Credential): string {
  if (authorization?.endsWith(secret) && secret !== '') {
    return isSandbox ? 'The sandbox’s key' : 'Filled in by this server';
  }
  return scheme === 'ApiKey' ? 'Kept until you close the page' : 'A sign-in token, kept until you close the page';
}

/** Returns the name within a sentence. */
const lower = (name: string): string => (name === 'Token' ? 'token' : name);
