// Runs operations, and loads the schema.

import type { useHistoryActions } from '@graphiql/plugin-history';
import { pick, useGraphiQL } from '@graphiql/react';
import type { Fetcher } from '@graphiql/toolkit';
import { type ExecutionResult, getIntrospectionQuery, getOperationAST, type IntrospectionQuery, parse } from 'graphql';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Explanation, PageConfig, UpstreamReport } from '../../../src/graphiql/page-config.ts';
import { mayWrite } from '../../client/src/typed-document.ts';
import type { Credential } from './credential.tsx';
import { type Reply, send } from './send.ts';

/** Last run of a tab's operation, apart from its result, which GraphiQL stores. */
export interface Run {
  reply?: Reply;
  report?: UpstreamReport | undefined;
  explanation?: Explanation | undefined;
  /** Sentence about the wait before the operation is sent again. */
  wait?: string;
  /** Sentence about why there is no result. */
  failure?: string;
  /** Sentence about a result, or about an operation that was stopped. */
  note?: string | undefined;
}

type HistoryItem = Parameters<ReturnType<typeof useHistoryActions>['addToHistory']>[0];

/** Connection of the function that runs operations with the parts of the page that show runs. */
export interface RunChannel {
  /** Whether the next operation is to be explained instead of executed. */
  isExplaining: boolean;
  /** Called with each wait before an operation is sent again, and when it ends. */
  receive(run: Run): void;
  /** Called with the texts of each operation that is sent to be executed. */
  record(operation: HistoryItem): void;
}

/** Returns the last run of the active tab. Operations are stopped when their tab is left, so what is received belongs to the active one. */
export function useLastRun(channel: RunChannel): Run {
  const { tabs, activeTabIndex, queryId } = useGraphiQL(pick('tabs', 'activeTabIndex', 'queryId'));
  const [byTab, setByTab] = useState<Readonly<Record<string, Run>>>({});
  const id = tabs[activeTabIndex]?.id ?? '';
  channel.receive = (run) => setByTab((others) => ({ ...others, [id]: run }));
  // GraphiQL counts all runs, also those that send nothing.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each run replaces the previous one.
  useEffect(() => channel.receive({}), [channel, queryId]);
  return byTab[id] ?? {};
}

/** Creates the function that runs or explains operations. Without a credential it asks for one instead of sending. */
export function createFetcher(
  { explains, isSandbox }: PageConfig,
  { read, ask }: Credential,
  channel: RunChannel,
): Fetcher {
  let countBefore: number | undefined;

  /** Returns the extensions that ask for the calls. A plan is also asked for if it isn't allowed, because the response says why. */
  function extensionsFor(authorization: string, isExplaining: boolean): { extensions?: Record<string, true> } {
    const mayAsk = explains.some((scheme) => authorization.toLowerCase().startsWith(`${scheme.toLowerCase()} `));
    return isExplaining ? { extensions: { explain: true } } : mayAsk ? { extensions: { upstream: true } } : {};
  }

  return ({ query, variables, operationName }, { headers } = {}) => {
    const { isExplaining } = channel;
    const stopped = mayWrite(query) && !isExplaining ? 'Stopped. The mutation may have been executed.' : 'Stopped.';
    return cancellable(channel.receive, stopped, async (signal) => {
      const header = Object.keys(headers ?? {}).find((name) => name.toLowerCase() === 'authorization');
      const authorization = header === undefined ? read() : String(headers?.[header]);
      if (authorization === undefined) {
        ask();
        return undefined;
      }
      const name = nameOf(query, operationName);
      if (!isExplaining) {
        channel.record({ query, variables: textOf(variables), headers: textOf(headers), operationName: name ?? '' });
      }
      const headersOfAll = { ...headers, [header ?? 'authorization']: authorization };
      if (isSandbox && !isExplaining && name === 'TriggerEvent') {
        countBefore = await countToday(headersOfAll, signal);
      }
      const { result: response, ...reply } = await send(
        {
          query,
          variables,
          operationName: name,
          ...extensionsFor(authorization, isExplaining),
        },
        headersOfAll,
        (wait) => channel.receive({ wait }),
        signal,
      );
      const { extensions: { upstream: report, explain: explanation, ...extensions } = {}, ...result } = response;
      const count = name === 'NotificationStats' ? readCount(result.data) : undefined;
      const note = describeGrowth(countBefore, count);
      channel.receive({ reply, report, explanation, note });
      return Object.keys(extensions).length === 0 ? result : { ...result, extensions };
    });
  };
}

const COUNT = { query: 'query CountToday { notificationStats(days: 1) { date count } }', operationName: 'CountToday' };

/** Returns how many notifications the sandbox has counted today; undefined if it doesn't say so. */
const countToday = (headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<number | undefined> =>
  send(COUNT, headers, () => {}, signal).then(
    ({ result }) => readCount(result.data),
    () => undefined,
  );

/** Returns the count of today in statistics; undefined if they are of other fields or days. */
function readCount(data: Readonly<Record<string, unknown>> | null | undefined): number | undefined {
  const days = data?.notificationStats;
  const today = new Date().toISOString().slice(0, 10);
  const day = Array.isArray(days) ? days.find((each) => each?.date === today) : undefined;
  return typeof day?.count === 'number' ? day.count : undefined;
}

const describeGrowth = (before: number | undefined, after: number | undefined): string | undefined =>
  before !== undefined && after !== undefined && after > before
    ? `Counted today: ${before} before the event, ${after} after it, one per channel.`
    : undefined;

const textOf = (json: unknown): string => (json === undefined ? '' : JSON.stringify(json, null, 2));

/** Returns the name of the operation to run. For a moment after the tab has changed, GraphiQL's is that of the previous tab's operation. */
function nameOf(query: string, operationName?: string | null): string | null {
  try {
    const document = parse(query);
    return (getOperationAST(document, operationName) ?? getOperationAST(document))?.name?.value ?? null;
  } catch {
    return null; // The gateway reports the syntax error.
  }
}

/**
 * Converts a promise to an iterable of at most one response, because GraphiQL can't cancel promises.
 *
 * @param receive called if it rejects, because GraphiQL would show the stack, and if it is stopped
 * @param stopped sentence for an operation that is stopped
 */
function cancellable(
  receive: (run: Run) => void,
  stopped: string,
  run: (signal: AbortSignal) => Promise<ExecutionResult | undefined>,
): AsyncIterable<ExecutionResult> {
  const abort = new AbortController();
  let isRunning = true;
  async function* results() {
    try {
      const result = await run(abort.signal);
      if (result !== undefined) {
        yield result;
      }
    } catch (error) {
      if (!abort.signal.aborted) {
        receive({ failure: messageOf(error) });
      }
    } finally {
      isRunning = false;
    }
  }
  return Object.assign(results(), {
    async return() {
      if (isRunning) {
        receive({ note: stopped });
      }
      abort.abort(); // That of a generator would wait for its promise.
      return { done: true as const, value: undefined };
    },
  });
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const INTROSPECTION = {
  query: getIntrospectionQuery({ schemaDescription: true, inputValueDeprecation: true }),
  operationName: 'IntrospectionQuery',
};

/** Schema for completion and docs, and the reason why there is none although a credential was sent. */
export type PageSchema = ReturnType<typeof useSchema>;

/** Loads the schema. Most gateways need no credential for it; those that do are asked again once there is one, and are no problem before. */
export function useSchema({ read }: Credential) {
  const [schema, setSchema] = useState<IntrospectionQuery | null>(null);
  const [problem, setProblem] = useState<string>();
  const loading = useRef<AbortController>(undefined);
  const refresh = useCallback(() => {
    const authorization = read();
    loading.current?.abort(); // Its response could arrive last, and is that of another credential.
    loading.current = new AbortController();
    const { signal } = loading.current;
    send(INTROSPECTION, authorization === undefined ? {} : { authorization }, setProblem, signal).then(
      ({ result: { data, errors } }) => {
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
