import { pick, useGraphiQL } from '@graphiql/react';
import type { Fetcher, FetcherParams } from '@graphiql/toolkit';
import { type ExecutionResult, GraphQLError, getOperationAST, parse } from 'graphql';
import { useState } from 'react';
import type { Explanation, PageConfig, UpstreamReport } from './config.ts';
import type { Credential } from './credential.tsx';
import { type GatewayResult, send } from './send.ts';

/** Options of `createFetcher`. */
interface FetcherOptions extends Pick<Credential, 'read' | 'ask'> {
  channel: CostChannel;
  /** Returns whether requests with this header may ask for their calls. */
  mayExplain(authorization: string): boolean;
}

/** Creates the function that runs or explains operations. Without a credential it asks for one instead of sending. */
export function createFetcher({ read, ask, channel, mayExplain }: FetcherOptions): Fetcher {
  /** Returns the extensions that ask for the calls. A plan is also asked for if it isn't allowed, because the response says why. */
  const extensionsFor = (authorization: string, isExplaining: boolean): { extensions?: Record<string, true> } =>
    isExplaining
      ? { extensions: { explain: true } }
      : mayExplain(authorization)
        ? { extensions: { upstream: true } }
        : {};

  return (params, { headers: typed = {} } = {}) => {
    const headers = toStrings(typed);
    const header = Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization')?.[1];
    const authorization = header ?? read();
    const { isExplaining } = channel;
    return cancellable(async (signal) => {
      if (authorization === undefined) {
        ask();
        return undefined;
      }
      channel.receive({});
      const response = await send(
        { ...withOperationName(params), ...extensionsFor(authorization, isExplaining) },
        header === undefined ? { ...headers, authorization } : headers,
        { signal, onWait: (wait) => channel.receive({ wait }) },
      );
      const { result, costs } = takeCosts(response);
      channel.receive(costs);
      return result;
    });
  };
}

/** Converts a promise to an iterable of at most one response, because GraphiQL can't cancel promises. */
function cancellable(
  run: (signal: AbortSignal) => Promise<ExecutionResult | undefined>,
): AsyncIterable<ExecutionResult> {
  const abort = new AbortController();
  const done = { done: true, value: undefined } as const;
  let isSent = false;

  async function receive(): Promise<ExecutionResult | undefined> {
    isSent = true;
    try {
      return await run(abort.signal);
    } catch (error) {
      if (abort.signal.aborted) {
        return undefined;
      }
      return { errors: [new GraphQLError(error instanceof Error ? error.message : String(error))] }; // GraphiQL would show the stack.
    }
  }

  const iterator: AsyncIterator<ExecutionResult> = {
    async next() {
      const value = isSent ? undefined : await receive();
      return value === undefined ? done : { done: false, value };
    },
    async return() {
      abort.abort();
      return done;
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** Corrects the name for a moment after the tab has changed, when GraphiQL still sends that of the previous tab's operation. */
function withOperationName(params: FetcherParams): FetcherParams {
  const { operationName, ...others } = params;
  try {
    const document = parse(params.query);
    const operation = getOperationAST(document, operationName) ?? getOperationAST(document);
    const name = operation?.name?.value;
    return name === undefined ? others : { ...others, operationName: name };
  } catch {
    return others; // The gateway reports the syntax error.
  }
}

const toStrings = (headers: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

/** REST calls of an operation, from the extensions of its response, or its wait for one. */
export interface Costs {
  /** Calls that were made. */
  report?: UpstreamReport;
  /** Calls that would be made. */
  explanation?: Explanation;
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

/** Creates a channel that nothing listens to yet. */
export const createCostChannel = (): CostChannel => ({ isExplaining: false, receive() {} });

/** Returns the latest costs of the active tab. GraphiQL stops operations when their tab is left, so costs belong to the active one. */
export function useTabCosts(channel: CostChannel): Costs {
  const { tabs, activeTabIndex } = useGraphiQL(pick('tabs', 'activeTabIndex'));
  const [byTab, setByTab] = useState<Readonly<Record<string, Costs>>>({});
  const id = tabs[activeTabIndex]?.id ?? '';
  channel.receive = (costs) => setByTab((others) => ({ ...others, [id]: costs }));
  return byTab[id] ?? {};
}

/** Returns whether requests with this header may ask for their calls. */
export const mayExplain = ({ explains }: PageConfig, authorization: string): boolean =>
  explains.some((scheme) => authorization.toLowerCase().startsWith(`${scheme.toLowerCase()} `));

/** Separates the costs from a response, which is then shown as without them. */
export function takeCosts({ extensions, ...result }: GatewayResult): { result: ExecutionResult; costs: Costs } {
  const { upstream: report, explain: explanation, ...others } = extensions ?? {};
  return {
    result: Object.keys(others).length === 0 ? result : { ...result, extensions: others },
    costs: { ...(report && { report }), ...(explanation && { explanation }) },
  };
}

/** Returns a number with its noun, such as `1 call` or `0–20 calls`. */
export function countCalls({ min, max }: { min: number; max: number }): string {
  const count = min === max ? `${min}` : `${min}–${max}`;
  return `${count} ${count === '1' ? 'call' : 'calls'}`;
}
