import { isRecord } from '../is-record.ts';

/** What a client asks for. */
export interface Params {
  query: string;
  operationName: string | undefined;
  variables: Readonly<Record<string, unknown>>;
}

const KNOWN = new Set(['query', 'operationName', 'variables', 'extensions']);

/** Takes the parameters out of a parsed body; undefined: there is something about them that has to be refused. */
export function readParams(body: unknown): Params | undefined {
  if (!isRecord(body) || !Object.keys(body).every((key) => KNOWN.has(key))) {
    return undefined;
  }
  const { query, operationName = null, variables = null, extensions = null } = body;
  if (
    typeof query !== 'string' ||
    (operationName !== null && typeof operationName !== 'string') ||
    (variables !== null && !isRecord(variables)) ||
    (extensions !== null && !isRecord(extensions))
  ) {
    return undefined;
  }
  return { query, operationName: operationName ?? undefined, variables: variables ?? {} };
}
