import type { Explanation } from '../../src/graphql/explain/explainer.ts';
import type { TestGateway, TestRequest } from './gateway.ts';

export type { Explanation };

export interface ExplainResponse {
  status: number;
  body: {
    data?: Record<string, unknown> | null;
    errors?: { message: string; path?: unknown[]; extensions: { code: string; scope?: string } }[];
    extensions?: { explain?: Explanation };
  };
}

/** Asks a gateway to explain an operation. */
export async function sendExplain(
  { url }: Pick<TestGateway, 'url'>,
  request: { query?: string; variables?: unknown; operationName?: string | undefined; documentId?: string },
  { authorization, headers }: TestRequest = {},
): Promise<ExplainResponse> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(authorization != null && { authorization }), ...headers },
    body: JSON.stringify({ ...request, extensions: { explain: true } }),
  });
  return { status: response.status, body: await response.json() };
}
