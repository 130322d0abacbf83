// Responds to a request, whatever happens.

import { hash, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { SandboxDatabase } from './database.ts';
import { type Environment, findEnvironment } from './environments.ts';
import { ApiError, ChangingError, SandboxError } from './errors.ts';
import { createIdempotency } from './idempotency.ts';
import { writePage } from './page.ts';
import { createRateLimit } from './rate-limit.ts';
import { resources } from './resources/index.ts';
import { errorResponse, type Respond, type SandboxRequest, type SandboxResponse } from './response.ts';
import type { Router } from './router.ts';
import { isRow, type Row } from './rows.ts';
import type { ActiveTraits } from './traits.ts';

/**
 * Creates the function that handles a request: route, API key, rate limit, body, validation, operation. It responds to problems with the file and
 * to bugs too, and logs them.
 */
export function createHandler({
  database,
  router,
  rateLimit,
  clock,
  topUp,
  traits,
}: {
  database: SandboxDatabase;
  router: Router;
  /** Requests per second that each API key can send, per category. */
  rateLimit: number;
  clock: () => Date;
  /** Writes the sample traffic up to today. */
  topUp: () => void;
  traits: ActiveTraits;
}): Respond {
  const operations = new Map(
    resources.flatMap(({ createHandlers }) => Object.entries(createHandlers(database, clock, topUp))),
  );
  const countRequest = createRateLimit(rateLimit, clock);
  const respondOnce = createIdempotency(database);
  let loggedProblem: string | undefined;

  /** @param headers receives the headers of the response, whether the request fails or not */
  async function respond(request: SandboxRequest, headers: Record<string, string>): Promise<SandboxResponse> {
    const { method = 'GET', url = '/' } = request;
    const operation = router.match(method, url);
    const environment = authenticate(request.headers.authorization);
    Object.assign(headers, countRequest(environment, url));
    const handle = operations.get(operation.operationId ?? '');
    if (handle === undefined) {
      throw new Error(`The operation ${operation.operationId} has no handler.`);
    }

    const readBody = async () => (operation.requestBody === undefined ? undefined : readJsonBody(request));
    const run = (body: Row | undefined): SandboxResponse => {
      const { params, query } = router.validate(operation, method, url, body);
      try {
        return handle({ environment, params, query, body: body ?? {}, traits });
      } catch (error) {
        if (error instanceof ChangingError) {
          return toErrorResponse(error, request);
        }
        throw error;
      }
    };
    const key = traits.has('no-idempotency') ? undefined : readIdempotencyKey(request);
    if (key === undefined) {
      const body = await readBody();
      return method === 'GET'
        ? withETag(run(body), request.headers['if-none-match'])
        : database.transaction(() => run(body));
    }
    headers['Idempotency-Key'] = key;
    return respondOnce(key, readBody, (body) => {
      // An error response undoes the operation's writes, and is itself stored for the key, unless the file can't be written.
      try {
        return database.transaction(() => run(body));
      } catch (error) {
        if (error instanceof SandboxError) {
          throw error;
        }
        return toErrorResponse(error, request);
      }
    });
  }

  /** Logs a problem with the file once, until a write succeeds or there is another problem. */
  function logFileProblem(problem: string): void {
    if (problem !== loggedProblem) {
      loggedProblem = problem;
      console.error(`Sandbox: ${problem} Writes fail with status 507 until this is fixed.`);
    }
  }

  /** Returns the response for any error, and logs it unless it is the client's. */
  function toErrorResponse(error: unknown, { method, url = '/' }: SandboxRequest): SandboxResponse {
    if (error instanceof ApiError) {
      return errorResponse(error, url, clock, error.status === 500 ? randomUUID() : undefined);
    }
    if (error instanceof SandboxError) {
      logFileProblem(error.message);
      const message = "The sandbox can't write its file, so nothing was changed. See its log for the reason.";
      return errorResponse(new ApiError(507, message), url, clock);
    }
    const errorId = randomUUID();
    console.error(`Sandbox: unexpected error ${errorId} on ${method} ${url}\n`, error);
    const message = 'Unexpected error in the sandbox. See its log for details.';
    return errorResponse(new ApiError(500, message), url, clock, errorId);
  }

  return async (request) => {
    const { method, url } = request;
    const headers: Record<string, string> = {};
    let response: SandboxResponse;
    try {
      if (url === '/' && method === 'GET') {
        topUp();
        response = writePage(request.headers.host ?? 'localhost', database);
      } else {
        response = await respond(request, headers);
      }
      loggedProblem = method === 'GET' ? loggedProblem : undefined;
    } catch (error) {
      if (request.destroyed && !request.complete) {
        return undefined;
      }
      response = toErrorResponse(error, request);
    }
    return { ...response, headers: { ...headers, ...response.headers } };
  };
}

function authenticate(authorization: string | undefined): Environment {
  const environment = findEnvironment(authorization);
  if (environment === undefined) {
    const message =
      authorization === undefined
        ? 'API key required. Send the header "Authorization: ApiKey <key>".'
        : 'Invalid API key. Send the header "Authorization: ApiKey <key>" with a key of the sandbox.';
    throw new ApiError(401, message, { 'WWW-Authenticate': 'ApiKey' });
  }
  return environment;
}

/** Reads the key on the methods that are not idempotent by definition; it is ignored on others. */
function readIdempotencyKey({ method, headers }: SandboxRequest): string | undefined {
  const key = headers['idempotency-key'];
  return (method === 'POST' || method === 'PATCH') && typeof key === 'string' && key !== '' ? key : undefined;
}

/** Adds a weak `ETag` to the response to a read. Returns 304 if the client already has this version. */
function withETag(response: SandboxResponse, ifNoneMatch: string | undefined): SandboxResponse {
  if (response.status !== 200 || response.body === null) {
    return response;
  }
  const opaqueTag = `"${hash('sha256', response.body, 'base64url').slice(0, 27)}"`;
  const headers = { ...response.headers, ETag: `W/${opaqueTag}` };
  return matches(ifNoneMatch, opaqueTag) ? { status: 304, body: null, headers } : { ...response, headers };
}

/** Whether `If-None-Match` lists the tag, compared weakly (RFC 9110, section 13.1.2). */
const matches = (ifNoneMatch: string | undefined, opaqueTag: string): boolean =>
  ifNoneMatch === '*' || (ifNoneMatch ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === opaqueTag);

/** Maximum size of a body, and of one with events, which can have attachments. */
const [MAX_BODY_BYTES, MAX_EVENT_BYTES] = [100 * 1024, 20 * 1024 * 1024];
/** An oversized body is read up to this size, so that the client receives a response instead of a connection reset. */
const MAX_DISCARDED_BYTES = 2 * MAX_EVENT_BYTES;

/** Reads a JSON object. Returns undefined if the request has no body. */
async function readJsonBody(request: Pick<IncomingMessage, 'url' | 'headers' | 'iterator'>): Promise<Row | undefined> {
  const bytes = await readBytes(request);
  if (bytes.length === 0) {
    return undefined;
  }
  const mediaType = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json') {
    throw new ApiError(415, 'Send the body with the header "Content-Type: application/json".');
  }
  const body = parseJson(bytes.toString('utf8'));
  if (!isRow(body)) {
    throw new ApiError(422, ['The body must be a JSON object.']);
  }
  return body;
}

async function readBytes(request: Pick<IncomingMessage, 'url' | 'iterator'>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const limit = request.url?.startsWith('/v1/events/') ? MAX_EVENT_BYTES : MAX_BODY_BYTES;
  let size = 0;
  // The response needs the connection, so leaving the loop must not close it.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > MAX_DISCARDED_BYTES) {
      break;
    }
    if (size <= limit) {
      chunks.push(chunk);
    }
  }
  if (size > limit) {
    throw new ApiError(413, 'request entity too large', { Connection: 'close' });
  }
  return Buffer.concat(chunks);
}

function parseJson(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    throw new ApiError(400, 'The body is not valid JSON.');
  }
}
