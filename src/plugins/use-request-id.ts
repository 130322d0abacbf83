import { randomUUID } from 'node:crypto';
import type { Plugin } from 'graphql-yoga';
import type { ServerContext } from '../context.ts';

/** What an id from outside may look like, so that it can stand in a header and a log line. */
const ACCEPTABLE = /^[\w.:-]{1,128}$/;

/** The header, as Node names it. */
export const REQUEST_ID = 'x-request-id';

/** The caller's id where it is fit, or a new one. */
export const toRequestId = (given: string | string[] | null | undefined): string =>
  typeof given === 'string' && ACCEPTABLE.test(given) ? given : randomUUID();

/** Gives every request an id (the caller's `X-Request-Id` where it is fit) and answers it. Must be first: others read the id. */
export const useRequestId = (): Plugin<object, ServerContext> => ({
  onRequest({ request, serverContext }) {
    serverContext.requestId = toRequestId(request.headers.get(REQUEST_ID));
  },
  onResponse({ response, serverContext }) {
    if (serverContext.requestId !== undefined) {
      response.headers.set(REQUEST_ID, serverContext.requestId);
    }
  },
});
