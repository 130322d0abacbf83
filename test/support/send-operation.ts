// Sends an operation to a GraphQL endpoint.

import { SANDBOX_KEYS } from '../../packages/sandbox/src/sandbox.ts';

/** Uses a connection of its own, for which no shutdown waits. Returns the parsed response body. */
export async function sendOperation(url: string, query: string, variables?: object, authorization?: string | null) {
  const credential = authorization === undefined ? `ApiKey ${SANDBOX_KEYS.development}` : authorization;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      connection: 'close',
      ...(credential !== null && { authorization: credential }),
    },
    body: JSON.stringify({ query, variables }),
  });
  return response.json();
}
