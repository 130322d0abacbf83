import { type RefObject, useMemo, useRef, useState } from 'react';
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
