import { pick, useGraphiQL } from '@graphiql/react';
import type { Fetcher } from '@graphiql/toolkit';
import {
  type ExecutionResult,
  GraphQLError,
  getIntrospectionQuery,
  getOperationAST,
  type IntrospectionQuery,
  parse,
} from 'graphql';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Explanation, PageConfig, UpstreamReport } from '../page-config.ts';
import type { Credential } from './credential.tsx';
import { send } from './send.ts';

/** REST calls of an operation, from the extensions of its response, or its wait for one. */
export interface Costs {
  /** Calls that were made. */
  report?: UpstreamReport | undefined;
  /** Calls that would be made. */
  explanation?: Explanation | undefined;
  /** Sentence about the wait before the operation is sent again. */
  wait?: string;
}

/** Connection of the function that runs operations with the parts of the page that show costs. */
export interface CostChannel {
  /** Whether the next operation is to be explained instead of executed. */
  isExplaining: boolean;
  /** Called without costs before an operation is sent, with each wait before it is sent again, and with the costs of its response. */
  receive(costs: Costs): void;
}

/** Returns the latest costs of the active tab. GraphiQL stops operations when their tab is left, so costs belong to the active one. */
export function useTabCosts(channel: CostChannel): Costs {
  const { tabs, activeTabIndex } = useGraphiQL(pick('tabs', 'activeTabIndex'));
  const [byTab, setByTab] = useState<Readonly<Record<string, Costs>>>({});
  const id = tabs[activeTabIndex]?.id ?? '';
  channel.receive = (costs) => setByTab((others) => ({ ...others, [id]: costs }));
  return byTab[id] ?? {};
}

/** Creates the function that runs or explains operations. Without a credential it asks for one instead of sending. */
export function createFetcher({ explains }: PageConfig, { read, ask }: Credential, channel: CostChannel): Fetcher {
  /** Returns the extensions that ask for the calls. A plan is also asked for if it isn't allowed, because the response says why. */
  function extensionsFor(authorization: string, isExplaining: boolean): { extensions?: Record<string, true> } {
    const mayAsk = explains.some((scheme) => authorization.toLowerCase().startsWith(`${scheme.toLowerCase()} `));
    return isExplaining ? { extensions: { explain: true } } : mayAsk ? { extensions: { upstream: true } } : {};
  }

  return ({ query, variables, operationName }, { headers = {} } = {}) => {
    const { isExplaining } = channel;
    return cancellable(async (signal) => {
      const header = Object.keys(headers).find((name) => name.toLowerCase() === 'authorization');
      const authorization = header === undefined ? read() : String(headers[header]);
      if (authorization === undefined) {
        ask();
        return undefined;
      }
      channel.receive({});
      const { extensions: { upstream: report, explain: explanation, ...extensions } = {}, ...result } = await send(
        {
          query,
          variables,
          operationName: nameOf(query, operationName),
          ...extensionsFor(authorization, isExplaining),
        },
        { ...headers, [header ?? 'authorization']: authorization },
        (wait) => channel.receive({ wait }),
        signal,
      );
      channel.receive({ report, explanation });
      return Object.keys(extensions).length === 0 ? result : { ...result, extensions };
    });
  };
}

/** Returns the name of the operation to run. For a moment after the tab has changed, GraphiQL's is that of the previous tab's operation. */
function nameOf(query: string, operationName?: string | null): string | null {
  try {
    const document = parse(query);
    return (getOperationAST(document, operationName) ?? getOperationAST(document))?.name?.value ?? null;
  } catch {
    return null; // The gateway reports the syntax error.
  }
}

/** Converts a promise to an iterable of at most one response, because GraphiQL can't cancel promises. */
function cancellable(
  run: (signal: AbortSignal) => Promise<ExecutionResult | undefined>,
): AsyncIterable<ExecutionResult> {
  const abort = new AbortController();
  async function* results() {
    try {
      const result = await run(abort.signal);
      if (result !== undefined) {
        yield result;
      }
    } catch (error) {
      if (!abort.signal.aborted) {
        yield { errors: [new GraphQLError(messageOf(error))] }; // GraphiQL would show the stack.
      }
    }
  }
  const iterator = results();
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => iterator.next(),
      async return() {
        abort.abort(); // A generator would return only after its promise.
        return { done: true, value: undefined };
      },
    }),
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const INTROSPECTION = {
  query: getIntrospectionQuery({ schemaDescription: true, inputValueDeprecation: true }),
  operationName: 'IntrospectionQuery',
};

/** Schema for completion and docs. */
export interface PageSchema {
  schema: IntrospectionQuery | null;
  /** Reason why there is no schema although a credential was sent. */
  problem: string | undefined;
  refresh(): void;
}

/** Loads the schema. Most gateways need no credential for it; those that do are asked again once there is one, and are no problem before. */
export function useSchema({ read }: Credential): PageSchema {
  const [schema, setSchema] = useState<IntrospectionQuery | null>(null);
  const [problem, setProblem] = useState<string>();
  const loading = useRef<AbortController>(undefined);
  const refresh = useCallback(() => {
    const authorization = read();
    loading.current?.abort(); // Its response could arrive last, and is that of another credential.
    loading.current = new AbortController();
    const { signal } = loading.current;
    send(INTROSPECTION, authorization === undefined ? {} : { authorization }, setProblem, signal).then(
      ({ data, errors }) => {
        const isRefused = errors?.some(({ extensions }) => extensions?.retryable !== true) === true;
        setSchema(isIntrospection(data) ? data : null);
        setProblem(isRefused && authorization === undefined ? undefined : errors?.[0]?.message);
      },
      (error: unknown) => signal.aborted || setProblem(messageOf(error)),
    );
  }, [read]);
  useEffect(refresh, [refresh]);
  return { schema, problem, refresh };
}

const isIntrospection = (data: unknown): data is IntrospectionQuery =>
  typeof data === 'object' && data !== null && '__schema' in data;
