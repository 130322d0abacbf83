import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { isCredential } from '../credentials.ts';

/**
 * Refuses a malformed `Authorization` header with 401 before anything is parsed. Without the header the operation runs: what needs
 * no upstream call answers, every other field is UNAUTHENTICATED.
 */
export const useAuthentication = (): Plugin => ({
  onRequestParse({ request }) {
    const authorization = request.headers.get('authorization');
    if (authorization !== null && !isCredential(authorization)) {
      throw new GraphQLError(
        'The Authorization header must be the word ApiKey, one space, and the API key: "Authorization: ApiKey <your key>".',
        {
          extensions: {
            code: 'UNAUTHENTICATED',
            http: { status: 401, headers: { 'WWW-Authenticate': 'ApiKey realm="notigraph"' } },
          },
        },
      );
    }
  },
});
