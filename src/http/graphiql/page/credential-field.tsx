import { useId } from 'react';
import type { PageConfig, Scheme } from './config.ts';
import type { Credential } from './credential.ts';

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
