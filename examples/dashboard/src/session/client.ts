// Sends operations to the gateway with the token of the session.

import { authExchange } from '@urql/exchange-auth';
import { persistedExchange } from '@urql/exchange-persisted';
import { Client, type CombinedError, cacheExchange, fetchExchange, makeOperation } from 'urql';
import type { Session } from './session.ts';
import { stampExchange } from './stamp-exchange.ts';

/** Address of the gateway, inserted by vite.config.ts. It is no secret, and there is nothing else to configure. */
const GATEWAY_URL: string = import.meta.env.VITE_GATEWAY_URL;

/** Creates a client with an empty cache, one per sign-in, so that nobody sees data loaded by another person. */
export function createClient(session: Session): Client {
  return new Client({
    url: GATEWAY_URL,
    preferGetMethod: false,
    fetchOptions: {
      headers: { 'x-graphql-client-name': 'dashboard' }, // For the gateway's metrics and log.
      keepalive: true, // A link in a message leaves the page while the message is marked.
    },
    exchanges: [
      cacheExchange,
      stampExchange,
      authExchange(async (utilities) => {
        let refused: string | undefined;
        return {
          addAuthToOperation(operation) {
            const token = session.token();
            const { kind, context } = utilities.appendHeaders(operation, { Authorization: `Bearer ${token}` });
            return makeOperation(kind, operation, { ...context, token });
          },
          willAuthError: () => session.isExpiring(),
          didAuthError(error, { context }) {
            refused = context.token;
            return isTokenRefused(error);
          },
          // If the token was renewed while the refused request was on its way, the request is only repeated.
          refreshAuth: async () => (session.isExpiring() || refused === session.token() ? session.renew() : undefined),
        };
      }),
      // The gateway knows the app's documents by their hashes, and serves browsers no others: the texts never travel.
      persistedExchange({
        enforcePersistedQueries: true,
        enableForMutation: true,
        preferGetForPersistedQueries: false,
        generateHash: async (_text, document) => hashOf(document),
      }),
      fetchExchange,
    ],
  });
}

/** Whether a new token may help: the gateway names the reason. The service's own 401 has none, and no token changes it. */
const isTokenRefused = ({ graphQLErrors }: CombinedError): boolean =>
  graphQLErrors.some(
    ({ extensions }) => extensions.code === 'UNAUTHENTICATED' && String(extensions.reason).startsWith('TOKEN_'),
  );

/** codegen writes the hash of a document's text beside it. */
function hashOf(document: object): string {
  const { __meta__: meta } = document as { __meta__?: { hash?: string } };
  if (meta?.hash === undefined) {
    throw new Error('This document has no hash: run "npm run codegen".');
  }
  return meta.hash;
}
