import { isRecord } from '../is-record.ts';

/** What a client asks for. */
export interface Params {
  /** The document's text, */
  query: string | undefined;
  /** or its id, */
  documentId: string | undefined;
  /** which can stand in here too. */
  extensions: Readonly<Record<string, unknown>> | undefined;
  operationName: string | undefined;
  variables: Readonly<Record<string, unknown>>;
}

const KNOWN = new Set(['query', 'documentId', 'operationName', 'variables', 'extensions']);

/** Not by recursion: a body can be nested thousands of levels deep. */
function holdsInexactInteger(variables: object): boolean {
  const waiting: unknown[] = [variables];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      return true;
    }
    if (typeof value === 'object' && value !== null) {
      for (const child of Object.values(value)) {
        waiting.push(child);
      }
    }
  }
  return false;
}

/** Takes the parameters out of a parsed body; undefined: there is something about them that has to be refused. */
export function readParams(body: unknown): Params | undefined {
  if (!isRecord(body) || !Object.keys(body).every((key) => KNOWN.has(key))) {
    return undefined;
  }
  if (isRecord(body.variables) && holdsInexactInteger(body.variables)) {
    return undefined; // graphql-jit takes any integer for an ID.
  }
  const { query = null, documentId = null, operationName = null, variables = null, extensions = null } = body;
  if (
    (query !== null && typeof query !== 'string') ||
    (documentId !== null && typeof documentId !== 'string') ||
    (operationName !== null && typeof operationName !== 'string') ||
    (variables !== null && !isRecord(variables)) ||
    (extensions !== null && !isRecord(extensions))
  ) {
    return undefined;
  }
  return {
    query: query ?? undefined,
    documentId: documentId ?? undefined,
    extensions: extensions ?? undefined,
    operationName: operationName ?? undefined,
    variables: variables ?? {},
  };
}
