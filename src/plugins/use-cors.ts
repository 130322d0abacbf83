import type { Plugin } from 'graphql-yoga';
import type { Audience } from '../audiences/identity.ts';
import type { AudiencePolicies } from '../audiences/policies.ts';

/** The headers of an answer to a page of this origin; other origins get no `Access-Control-*` header at all. */
export type CorsHeaders = (
  origin: string | null | undefined,
  authorization: string | null | undefined,
) => Readonly<Record<string, string>>;

/** What pages may read of an answer's headers. */
const EXPOSED = 'x-request-id, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset';

const NONE: Readonly<Record<string, string>> = {};

/** @param policies the exact origins whose pages each audience's credential may come from */
export function createCorsHeaders(policies: AudiencePolicies): CorsHeaders {
  if (policies.anonymous.origins.size === 0) {
    return () => NONE;
  }
  return (origin, authorization) =>
    origin != null && policies[audienceOf(authorization)].origins.has(origin)
      ? { vary: 'Origin', 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED }
      : { vary: 'Origin' };
}

/** Told by the credential's form, so that a page can read why its own was refused. */
function audienceOf(authorization: string | null | undefined): Audience {
  if (authorization == null) {
    return 'anonymous';
  }
  return authorization.startsWith('Bearer ') ? 'browser' : 'server';
}

export interface CorsPluginOptions {
  policies: AudiencePolicies;
  corsHeaders: CorsHeaders;
}

/** What a page may send; credentials travel in `Authorization`, never in cookies. */
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers':
    'authorization, content-type, idempotency-key, x-request-id, graphql-require-preflight',
  'access-control-max-age': '86400',
};

/** Answers preflights of the origins on the lists, and lets their pages read the answers. A preflight does not say what will be sent. */
export function useCors({ policies, corsHeaders }: CorsPluginOptions): Plugin {
  return {
    onRequest({ request, fetchAPI, endResponse }) {
      if (request.method === 'OPTIONS') {
        const isAllowed = policies.anonymous.origins.has(request.headers.get('origin') ?? '');
        endResponse(
          isAllowed
            ? new fetchAPI.Response(null, { status: 204, headers: PREFLIGHT_HEADERS })
            : new fetchAPI.Response(null, { status: 405, headers: { allow: 'GET, POST' } }),
        );
      }
    },
    onResponse({ request: { headers }, response }) {
      for (const [name, value] of Object.entries(corsHeaders(headers.get('origin'), headers.get('authorization')))) {
        response.headers.append(name, value);
      }
    },
  };
}
