import type { Settings } from '../settings/settings.ts';
import type { Caller } from './caller.ts';
import { callBudgetExceeded, type Endpoint, missingCredential } from './errors.ts';
import { assertBody } from './input-rules.ts';
import type { UpstreamRequest } from './request.ts';
import { buildPath, pathPrefixOf } from './transport/path.ts';

/** Settings of calls. */
export type PrepareSettings = { upstream: URL } & Pick<Settings, 'maxUpstreamCalls' | 'maxBulkItems'>;

/** Validates a call before it is sent, and counts it. Throws an `UpstreamError` if it must not be sent. */
export type PrepareCall = (
  caller: Pick<Caller, 'authorization' | 'requestId' | 'usage'>,
  call: UpstreamRequest['call'],
) => UpstreamRequest;

/** Creates the function that prepares the calls to one upstream. */
export function createPrepareCall({ upstream, maxUpstreamCalls, maxBulkItems }: PrepareSettings): PrepareCall {
  const prefix = pathPrefixOf(upstream);
  return ({ authorization, requestId, usage }, call) => {
    const endpoint: Endpoint = { method: call.method ?? 'GET', route: call.route };
    if (authorization === undefined) {
      throw missingCredential(endpoint);
    }
    const path = prefix + buildPath(endpoint, call);
    if (call.body !== undefined) {
      assertBody(endpoint, call.body);
    }
    const [kind, limit] = call.isBulkItem
      ? (['bulkItems', maxBulkItems] as const)
      : (['calls', maxUpstreamCalls] as const);
    if (usage[kind] >= limit) {
      throw callBudgetExceeded(endpoint, limit);
    }
    usage[kind] += 1;
    return { endpoint, authorization, path, requestId, call };
  };
}
