import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';

/** Headers of which one proves that a GET request is no "simple" one: browsers ask before sending them across origins. */
const PROOF_HEADERS = ['authorization', 'graphql-require-preflight', 'apollo-require-preflight', 'x-requested-with'];

/** Whether a body is said to be JSON. */
export const isJsonType = (contentType: string | null | undefined): boolean =>
  /^application\/(?:graphql\+)?json\s*(?:;|$)/i.test(contentType ?? '');

export interface RequestGatePluginOptions {
  /** The exact path of the GraphQL endpoint. */
  endpoint: string;
}

/**
 * Answers at the exact path alone, for Yoga takes every URL that ends like it. Refuses what a page of another origin could make a browser send without asking (CSRF), and what is not JSON: a POST must be
 * `application/json`, uncompressed; a GET needs a header that only a preflight allows. Must run before the body is read.
 */
export const useRequestGate = ({ endpoint }: RequestGatePluginOptions): Plugin => ({
  onRequest({ url, endResponse, fetchAPI }) {
    if (url.pathname !== endpoint) {
      const message = `There is nothing at this path; GraphQL is at ${endpoint}.`;
      const body = JSON.stringify({ errors: [{ message, extensions: { code: 'NOT_FOUND', retryable: false } }] });
      endResponse(new fetchAPI.Response(body, { status: 404, headers: { 'content-type': 'application/json' } }));
    }
  },
  onRequestParse({ request: { method, headers } }) {
    if (method === 'GET' && !PROOF_HEADERS.some((name) => headers.has(name))) {
      throw refuse(
        403,
        'CSRF_REFUSED',
        'A GET request needs a header that browsers do not send across origins without asking: send Authorization, or "GraphQL-Require-Preflight: true".',
      );
    }
    if (method !== 'POST') {
      return;
    }
    if (!isJsonType(headers.get('content-type'))) {
      throw refuse(
        415,
        'UNSUPPORTED_MEDIA_TYPE',
        'Send the request as JSON, with the header "Content-Type: application/json".',
      );
    }
    if ((headers.get('content-encoding') ?? 'identity') !== 'identity') {
      throw refuse(
        415,
        'UNSUPPORTED_MEDIA_TYPE',
        'Send the request uncompressed, without the header Content-Encoding.',
      );
    }
  },
});

const refuse = (status: number, code: string, message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code, http: { status } } });
