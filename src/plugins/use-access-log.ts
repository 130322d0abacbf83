import { createHmac, randomBytes } from 'node:crypto';
import { getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { GatewayContext, ServerContext } from '../context.ts';

export interface AccessLogPluginOptions {
  logger: Logger;
  /** Makes a tenant's name in the log the same over restarts and replicas. @default a new one for each gateway */
  secret?: string | undefined;
}

/** What becomes one line. Never a key, variables, or a body. */
interface Entry {
  startedAt: number;
  operation?: string;
  type?: string;
  code?: unknown;
  tally?: GatewayContext['tally'] | undefined;
}

/** An operation's name is the client's to choose. */
const MAX_NAME = 100;

/** Tenants whose names are remembered; a name costs a hash. */
const MAX_TENANTS = 10_000;

/**
 * Writes one JSON line an operation, and one for what is refused before it is one. Must come after the plugins that answer requests
 * which are no operations: theirs are not logged.
 */
export function useAccessLog({
  logger,
  secret = randomBytes(32).toString('hex'),
}: AccessLogPluginOptions): Plugin<object, ServerContext, GatewayContext> {
  const entries = new WeakMap<Request, Entry>();
  const tenants = new Map<string, string>();

  /** The first 8 hex digits of an HMAC of the header: tells callers apart without telling who they are. */
  function tenantOf(authorization: string): string {
    const known = tenants.get(authorization);
    if (known !== undefined) {
      return known;
    }
    if (tenants.size >= MAX_TENANTS) {
      tenants.clear();
    }
    const tenant = createHmac('sha256', secret).update(authorization).digest('hex').slice(0, 8);
    tenants.set(authorization, tenant);
    return tenant;
  }

  return {
    onRequest({ request }) {
      entries.set(request, { startedAt: performance.now() });
    },
    onExecute({ args: { document, operationName, contextValue } }) {
      const entry = entries.get(contextValue.request);
      if (entry !== undefined) {
        const operation = getOperationAST(document, operationName);
        entry.operation = operation?.name?.value.slice(0, MAX_NAME) ?? 'anonymous';
        entry.type = operation?.operation ?? 'unknown';
        entry.tally = 'tally' in contextValue ? contextValue.tally : undefined;
      }
    },
    onResultProcess({ request, result }) {
      const entry = entries.get(request);
      if (entry !== undefined && 'errors' in result && Array.isArray(result.errors)) {
        entry.code = result.errors[0]?.extensions?.code;
      }
    },
    onResponse({ request, response, serverContext }) {
      const entry = entries.get(request);
      if (entry === undefined) {
        return;
      }
      const { startedAt, tally, operation, type, code } = entry;
      const authorization = request.headers.get('authorization');
      logger.info(
        {
          requestId: serverContext.requestId,
          operation,
          type,
          code,
          status: response.status,
          ms: Math.round((performance.now() - startedAt) * 10) / 10,
          upstreamCalls: tally?.requests ?? 0,
          tenant: authorization === null ? undefined : tenantOf(authorization),
        },
        'operation',
      );
    },
  };
}
