import { getIntrospectionQuery, type IntrospectionQuery } from 'graphql';
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import type { Credential } from './credential.tsx';
import { send } from './send.ts';

const QUERY = getIntrospectionQuery({ schemaDescription: true, inputValueDeprecation: true });

/** Schema for completion and docs. */
export interface PageSchema {
  schema: IntrospectionQuery | null;
  /** Reason why there is no schema although a credential was sent. */
  problem: string | undefined;
  refresh(): void;
  /** Loads the schema if there is none. */
  retry(): void;
}

/** Loads the schema. Most gateways need no credential for it; those that do are asked again once there is one, and are no problem before. */
export function useSchema({ read }: Pick<Credential, 'read'>): PageSchema {
  const [schema, setSchema] = useState<IntrospectionQuery | null>(null);
  const [problem, setProblem] = useState<string>();
  const sent = useRef<string>(undefined);
  const loading = useRef<AbortController>(undefined);

  const refresh = useCallback(async () => {
    const authorization = read();
    const { signal } = startAgain(loading);
    sent.current = authorization;
    try {
      const { data, errors } = await send(
        { query: QUERY, operationName: 'IntrospectionQuery' },
        authorization === undefined ? {} : { authorization },
        { signal, onWait: setProblem },
      );
      const isRefused = errors?.some(({ extensions }) => extensions?.retryable !== true) === true;
      setSchema(isIntrospection(data) ? data : null);
      setProblem(isRefused && authorization === undefined ? undefined : errors?.[0]?.message);
    } catch (error) {
      if (!signal.aborted) {
        setProblem(error instanceof Error ? error.message : String(error));
      }
    }
  }, [read]);

  useEffect(() => void refresh(), [refresh]);
  return {
    schema,
    problem,
    refresh: () => void refresh(),
    retry: () => void (schema === null && read() !== sent.current && refresh()),
  };
}

/** Stops what a controller stops, and returns a new one in its place. */
function startAgain(current: RefObject<AbortController | undefined>): AbortController {
  current.current?.abort();
  const next = new AbortController();
  current.current = next;
  return next;
}

const isIntrospection = (data: unknown): data is IntrospectionQuery =>
  typeof data === 'object' && data !== null && '__schema' in data;
