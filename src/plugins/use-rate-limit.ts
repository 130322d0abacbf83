import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { ServerContext } from '../context.ts';
import type { Admission } from '../rate-limits/admission.ts';
import { rateLimitHeaders } from '../rate-limits/headers.ts';
import type { Allowance } from '../rate-limits/rate-limiter.ts';

export interface RateLimitPluginOptions {
  admission: Admission;
}

/** Refuses with 429 whoever has used up the calls of their limit; afterwards counts what the operation has cost. Must come after authentication. */
export function useRateLimit({ admission }: RateLimitPluginOptions): Plugin<object, ServerContext> {
  return {
    async onRequestParse({ serverContext }) {
      const { identity } = serverContext;
      if (identity === undefined) {
        return;
      }
      serverContext.allowance ??= await admission.take(identity);
      if (serverContext.allowance?.isAllowed === false) {
        throw tooMany(serverContext.allowance);
      }
    },
    onResponse({ response, serverContext: { identity, allowance, tally, errors } }) {
      if (identity !== undefined && allowance?.isAllowed) {
        admission.settle(identity, tally?.requests ?? 0);
      }
      const news = { allowance: allowance?.isAllowed === false ? undefined : allowance, tally };
      for (const [name, value] of Object.entries(rateLimitHeaders({ ...news, errors }))) {
        response.headers.set(name, value);
      }
    },
  };
}

const tooMany = ({ limit, remaining, resetSeconds, retryAfterSeconds = 1 }: Allowance): GraphQLError =>
  new GraphQLError('More calls were asked for than the limit allows: send the request again later.', {
    extensions: {
      code: 'RATE_LIMITED',
      retryable: true,
      retryAfterSeconds,
      http: {
        status: 429,
        headers: {
          'Retry-After': String(retryAfterSeconds),
          'RateLimit-Limit': String(limit),
          'RateLimit-Remaining': String(remaining),
          'RateLimit-Reset': String(resetSeconds),
        },
      },
    },
  });
