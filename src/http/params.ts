import { isRecord } from '../lib/is-record.ts';
import { refuse } from '../settings/refuse.ts';

/** Parameters of a GraphQL request (GraphQL over HTTP, section 5.1), and the id of a trusted document. */
export interface Params {
  /** Text of the document. */
  query: string | undefined;
  /** Id of a trusted document. */
  documentId: string | undefined;
  operationName: string | undefined;
  variables: Readonly<Record<string, unknown>>;
  extensions: Readonly<Record<string, unknown>> | undefined;
}

const KNOWN = new Set(['query', 'documentId', 'operationName', 'variables', 'extensions']);

/**
 * Reads the parameters from a parsed body.
 *
 * @throws {Refusal} BAD_REQUEST with the name of the invalid parameter
 */
export function paramsFromBody(body: unknown): Params {
  if (Array.isArray(body)) {
    throw refuse('BAD_REQUEST', 'Batching is not supported; send one operation per request.');
  }
  if (!isRecord(body)) {
    throw refuse('BAD_REQUEST', 'The request body must be a JSON object with a "query".');
  }
  for (const name in body) {
    if (!KNOWN.has(name) && body[name] != null) {
      throw refuse('BAD_REQUEST', `Unknown parameter "${name.slice(0, 100)}". Use only ${[...KNOWN].join(', ')}.`);
    }
  }
  return {
    query: readString(body, 'query'),
    documentId: readString(body, 'documentId'),
    operationName: readString(body, 'operationName'),
    variables: readObject(body, 'variables') ?? {},
    extensions: readObject(body, 'extensions'),
  };
}

/**
 * Reads the parameters from the query string of a GET request. Unknown parameters are ignored, because links can contain tracking parameters.
 *
 * @throws {Refusal} BAD_REQUEST with the name of the invalid parameter
 */
export function paramsFromQuery(query: string): Params {
  const search = new URLSearchParams(query);
  return paramsFromBody({
    query: search.get('query') || undefined,
    documentId: search.get('documentId') ?? undefined,
    operationName: search.get('operationName') || undefined,
    variables: parseParam('variables', search),
    extensions: parseParam('extensions', search),
  });
}

function parseParam(name: string, search: URLSearchParams): unknown {
  try {
    return JSON.parse(search.get(name) || 'null');
  } catch {
    throw refuse('BAD_REQUEST', `The URL parameter "${name}" is not valid JSON.`);
  }
}

function readString(body: Record<string, unknown>, name: string): string | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && typeof value !== 'string') {
    throw refuse('BAD_REQUEST', `"${name}" must be a string.`);
  }
  return value;
}

function readObject(body: Record<string, unknown>, name: string): Record<string, unknown> | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && !isRecord(value)) {
    throw refuse('BAD_REQUEST', `"${name}" must be an object.`);
  }
  return value;
}
