import { randomUUID } from 'node:crypto';
import type { Plugin } from 'graphql-yoga';
import type { ServerContext } from '../context.ts';

/** What an id from outside may look like, so that it can stand in a header and a log line. */
const ACCEPTABLE = /^[\w.:-]{1,128}$/;

const HEADER = 'x-request-id';

/** Gives every request an id (the caller's `X-Request-Id` where it is fit) and answers it. Must be first: others read the id. */
export const useRequestId = (): Plugin<object, ServerContext> => ({
  onRequest({ request, serverContext }) {
    const given = request.headers.get(HEADER);
    serverContext.requestId = given !== null && ACCEPTABLE.test(given) ? given : randomUUID();
  },
  onResponse({ response, serverContext }) {
    if (serverContext.requestId !== undefined) {
      response.headers.set(HEADER, serverContext.requestId);
    }
  },
});
