import type { Plugin } from 'graphql-yoga';

export interface CorsPluginOptions {
  /** Exact origins, such as `https://app.example.com`, whose pages may call the gateway. @default none */
  origins?: readonly string[];
}

/** What a page may send; credentials travel in `Authorization`, never in cookies. */
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers':
    'authorization, content-type, idempotency-key, x-request-id, graphql-require-preflight',
  'access-control-max-age': '86400',
};

/** Answers other origins only where they are on the list; every other origin gets no `Access-Control-*` header at all. */
export function useCors({ origins = [] }: CorsPluginOptions = {}): Plugin {
  const allowed = new Set(origins);
  return {
    onRequest({ request, fetchAPI, endResponse }) {
      if (request.method === 'OPTIONS') {
        const isAllowed = allowed.has(request.headers.get('origin') ?? '');
        endResponse(
          isAllowed
            ? new fetchAPI.Response(null, { status: 204, headers: PREFLIGHT_HEADERS })
            : new fetchAPI.Response(null, { status: 405, headers: { allow: 'GET, POST' } }),
        );
      }
    },
    onResponse({ request, response }) {
      if (allowed.size === 0) {
        return;
      }
      response.headers.append('vary', 'Origin');
      const origin = request.headers.get('origin');
      if (origin !== null && allowed.has(origin)) {
        response.headers.set('access-control-allow-origin', origin);
        response.headers.set('access-control-expose-headers', 'x-request-id, retry-after');
      }
    },
  };
}
