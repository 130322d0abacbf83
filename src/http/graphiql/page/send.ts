import type { FetcherParams } from '@graphiql/toolkit';
import type { GatewayResult } from './costs.ts';

/**
 * Sends an operation to the endpoint, which has the address of the page.
 *
 * @throws {Error} with a message for people, if there is no response or it has no JSON
 */
export async function send(
  params: FetcherParams & { extensions?: Readonly<Record<string, true>> },
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<GatewayResult> {
  const response = await fetch(location.pathname, {
    method: 'POST',
    headers: {
      accept: 'application/graphql-response+json, application/json',
      'content-type': 'application/json',
      'x-graphql-client-name': 'GraphiQL',
      ...headers,
    },
    body: JSON.stringify(params),
    ...(signal && { signal }),
  }).catch(({ message }: Error) => {
    throw new Error(`There is no response (${message}). The gateway may have received the request.`);
  });
  return response.json().catch(() => {
    throw new Error(`The server responded with status ${response.status} and without JSON.`);
  });
}
