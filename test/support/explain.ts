// Asks gateways for explanations, and compares them with the calls that were made.

import type { Explanation } from '../../src/graphql/declared-calls.ts';
import type { StartedGateway, TestRequest } from './gateway.ts';

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
  { url }: Pick<StartedGateway, 'url'>,
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

/** Returns one line per call: `id after method route min..max fields`. */
export const linesOf = ({ calls }: Explanation): string[] =>
  calls.map(({ id, after, method, route, min, max, fields }) =>
    [id, JSON.stringify(after), method, route.slice('/v1/'.length), `${min}..${max}`, ...fields].join(' '),
  );

/** Returns the endpoints that were called less or more often than an explanation says. @param sent methods and paths of the requests */
export function numbersOf({ calls }: Explanation, sent: readonly string[]): string[] {
  const formOf = (method: string, route: string) =>
    new RegExp(`^${method} ${route.replace(/\{[^}]*\}/g, '[^/?]+')}(\\?.*)?$`);
  const endpoints = Map.groupBy(calls, ({ method, route }) => `${method} ${route}`);
  const counted = [...endpoints].map(([endpoint, same]) => {
    const [method = '', route = ''] = endpoint.split(' ');
    const form = formOf(method, route);
    const min = same.reduce((sum, call) => sum + call.min, 0);
    const max = same.reduce((sum, call) => sum + call.max, 0);
    return { endpoint, form, min, max, number: sent.filter((call) => form.test(call)).length };
  });
  const unlisted = sent.filter((call) => !counted.some(({ form }) => form.test(call)));
  const wrong = counted.filter(({ min, max, number }) => number < min || number > max);
  return [...unlisted, ...wrong.map(({ endpoint, min, max, number }) => `${endpoint}: ${number}, not ${min}..${max}`)];
}
