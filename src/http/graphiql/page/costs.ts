import { pick, useGraphiQL } from '@graphiql/react';
import type { ExecutionResult } from 'graphql';
import { useState } from 'react';
import type { Explanation, PageConfig, UpstreamReport } from './config.ts';

/** REST calls of an operation, from the extensions of its response, or its wait for one. */
export interface Costs {
  /** Calls that were made. */
  report?: UpstreamReport;
  /** Calls that would be made. */
  explanation?: Explanation;
  /** Sentence about the wait before the operation is sent again. */
  wait?: string;
}

/** Response of the gateway. */
export type GatewayResult = ExecutionResult<
  Record<string, unknown>,
  { upstream?: UpstreamReport; explain?: Explanation; [name: string]: unknown }
>;

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
