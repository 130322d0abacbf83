import { getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { GatewayContext, ServerContext } from '../context.ts';
import { type AccessLog, type AccessLogEntry, CLIENT_CLOSED } from './access-log.ts';

export interface AccessLogPluginOptions {
  /** See `createAccessLog`. */
  log: AccessLog;
}

type Entry = Pick<AccessLogEntry, 'startedAt' | 'operation' | 'type' | 'code' | 'reason'> & {
  tally?: GatewayContext['tally'] | undefined;
};

/** Logs every operation; must come after the plugins that answer requests which are no operations: theirs are not logged. */
export function useAccessLog({ log }: AccessLogPluginOptions): Plugin<object, ServerContext, GatewayContext> {
  const entries = new WeakMap<Request, Entry>();
  return {
    onRequest({ request, serverContext: { startedAt = performance.now() } }) {
      entries.set(request, { startedAt });
    },
    onExecute({ args: { document, operationName, contextValue } }) {
      const entry = entries.get(contextValue.request);
      if (entry !== undefined) {
        const operation = getOperationAST(document, operationName);
        entry.operation = operation?.name?.value ?? 'anonymous';
        entry.type = operation?.operation ?? 'unknown';
        entry.tally = 'tally' in contextValue ? contextValue.tally : undefined;
      }
    },
    onResultProcess({ request, result }) {
      const entry = entries.get(request);
      if (entry !== undefined && 'errors' in result && Array.isArray(result.errors)) {
        const { code, reason } = result.errors[0]?.extensions ?? {};
        entry.code = code;
        entry.reason = reason;
      }
    },
    onResponse({ request, response, serverContext }) {
      const entry = entries.get(request);
      if (entry !== undefined) {
        const { tally, ...known } = entry;
        log({
          ...known,
          requestId: serverContext.requestId,
          status: response.status,
          ...(request.signal.aborted && CLIENT_CLOSED),
          upstreamCalls: tally?.requests ?? 0,
          identity: serverContext.identity,
        });
      }
    },
  };
}
