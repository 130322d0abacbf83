import type { Plugin } from 'graphql-yoga';

/** The headers of an answer to a page of this origin; other origins get no `Access-Control-*` header at all. */
export type CorsHeaders = (origin: string | null | undefined) => Readonly<Record<string, string>>;

/** @param origins exact origins, such as `https://app.example.com`, whose pages may call the gateway */
export function createCorsHeaders(origins: ReadonlySet<string>): CorsHeaders {
  const ofOthers: Record<string, string> = origins.size === 0 ? {} : { vary: 'Origin' };
  return (origin) =>
    origin != null && origins.has(origin)
      ? {
          ...ofOthers,
          'access-control-allow-origin': origin,
          'access-control-expose-headers': 'x-request-id, retry-after',
        }
      : ofOthers;
}

export interface CorsPluginOptions {
  /** Whose pages may call the gateway. */
  origins: ReadonlySet<string>;
  corsHeaders: CorsHeaders;
}

/** What a page may send; credentials travel in `Authorization`, never in cookies. */
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers':
    'authorization, content-type, idempotency-key, x-request-id, graphql-require-preflight',
  'access-control-max-age': '86400',
};

/** Answers preflights of the origins on the list, and lets their pages read the answers. */
export function useCors({ origins, corsHeaders }: CorsPluginOptions): Plugin {
  return {
    onRequest({ request, fetchAPI, endResponse }) {
      if (request.method === 'OPTIONS') {
        const isAllowed = origins.has(request.headers.get('origin') ?? '');
        endResponse(
          isAllowed
            ? new fetchAPI.Response(null, { status: 204, headers: PREFLIGHT_HEADERS })
            : new fetchAPI.Response(null, { status: 405, headers: { allow: 'GET, POST' } }),
        );
      }
    },
    onResponse({ request, response }) {
      for (const [name, value] of Object.entries(corsHeaders(request.headers.get('origin')))) {
        response.headers.append(name, value);
      }
    },
  };
}
