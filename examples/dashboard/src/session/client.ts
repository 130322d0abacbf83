import { authExchange } from '@urql/exchange-auth';
import { persistedExchange } from '@urql/exchange-persisted';
import { Client, type CombinedError, cacheExchange, fetchExchange } from 'urql';
import { GATEWAY_URL } from '../settings.ts';
import type { Session } from './session.ts';
import { stampExchange } from './stamp-exchange.ts';

/** Creates a client with an empty cache, one per sign-in, so that nobody sees data loaded by another person. */
export function createClient(session: Session): Client {
  return new Client({
    url: GATEWAY_URL,
    preferGetMethod: false,
    fetchOptions: { headers: { 'x-graphql-client-name': 'dashboard' } }, // For the gateway's metrics and log.
    exchanges: [
      cacheExchange,
      stampExchange,
      authExchange(async (utilities) => ({
        addAuthToOperation: (operation) =>
          utilities.appendHeaders(operation, { Authorization: `Bearer ${session.token()}` }),
        willAuthError: () => session.isExpiring(),
        didAuthError: isTokenRefused,
        refreshAuth: () => session.renew(),
      })),
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
