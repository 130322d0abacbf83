// Matches and validates requests by the OpenAPI documents.

import { type Document, OpenAPIBackend, type Operation } from 'openapi-backend';
import { ApiError } from './errors.ts';
import requests from './requests.gen.json' with { type: 'json' };
import { isRow, type Row } from './rows.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export type Router = Awaited<ReturnType<typeof createRouter>>;

let router: Promise<Router> | undefined;

/** Returns what matches and validates requests against the OpenAPI document. All sandboxes of a process share it and its compiled validators. */
export function openRouter(): Promise<Router> {
  router ??= createRouter();
  return router;
}

async function createRouter() {
  const api = new OpenAPIBackend({
    // A copy, because it is changed. Types of JSON files have no literals, such as names of types: codegen writes only what the contract has.
    definition: structuredClone(requests) as Document,
    // Compiles validators on first use, and skips openapi-backend's validation of the document, which supports only OpenAPI 3.0.
    quick: true,
    strict: true,
    coerceTypes: true,
    // `npm run check` validates the document. Without its schemas against JSON Schema, the first request takes half the time.
    ajvOpts: { allErrors: true, validateSchema: false, meta: false },
  });
  await api.init();

  const find = (method: string, path: string): Operation | undefined =>
    api.matchOperation({ method, path, headers: {} });

  function run(operation: Operation, request: Parameters<OpenAPIBackend['validateRequest']>[0]) {
    try {
      return api.validateRequest(request, operation);
    } catch (error) {
      if (error instanceof URIError) {
        throw new ApiError(400, 'The path contains an invalid percent escape.');
      }
      throw error;
    }
  }

  return {
    /**
     * Returns the operation of a request.
     *
     * @param url path and query as received; decoding them first would split an id at an encoded slash
     */
    match(method: string, url: string): Operation {
      const operation = find(method, url);
      if (operation !== undefined) {
        return operation;
      }
      const allowed = METHODS.filter((candidate) => find(candidate, url) !== undefined);
      if (allowed.length > 0) {
        const message = `${method} is not supported on this path. Use ${allowed.join(' or ')}.`;
        throw new ApiError(405, message, { Allow: allowed.join(', ') });
      }
      throw new ApiError(404, `Cannot ${method} ${url}`); // As the framework of the service says it.
    },
    /**
     * Returns the parameters of a valid request, decoded once.
     *
     * @param body the decoded JSON body; undefined if the request has none
     */
    validate(operation: Operation, method: string, url: string, body: Row | undefined): { params: Row; query: Row } {
      const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
      const result = run(operation, { method, path: url, headers, ...(body !== undefined && { body }) });
      if (result.errors) {
        throw new ApiError(422, [...new Set(result.errors.map(describeProblem))]);
      }
      const { params, query } = result.coerced ?? {};
      return { params: isRow(params) ? params : {}, query: isRow(query) ? query : {} };
    },
  };
}

interface Problem {
  keyword: string;
  instancePath: string;
  params: Record<string, unknown>;
  message?: string;
}

/** Describes a validation error in one sentence that starts with the name of the field. */
function describeProblem({ keyword, instancePath, params, message }: Problem): string {
  const name = nameOf(instancePath);
  switch (keyword) {
    case 'required':
      return params.missingProperty === 'requestBody'
        ? 'A JSON body is required.'
        : `"${nameOf(`${instancePath}/${params.missingProperty}`)}" is required.`;
    case 'type':
      return `"${name}" must be ${withArticle(String([params.type].flat()[0]))}.`;
    case 'minLength':
    case 'pattern':
      return `"${name}" must not be empty.`;
    case 'enum':
      return `"${name}" must be one of ${[params.allowedValues].flat().join(', ')}.`;
    case 'additionalProperties':
      return `Unknown query parameter "${params.additionalProperty}".`;
    default:
      return `"${name}" ${message ?? 'is invalid'}.`;
  }
}

/** Returns the field's path in the request: `/requestBody/channels/0` becomes `channels.0`. */
const nameOf = (instancePath: string): string => instancePath.split('/').slice(2).join('.') || 'body';

const withArticle = (type: string): string => (/^[aeio]/.test(type) ? `an ${type}` : `a ${type}`);
