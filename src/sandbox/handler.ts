import type { IncomingMessage } from 'node:http';

import { readJsonBody } from './body.ts';
import type { Clock } from './clock.ts';
import type { SandboxDatabase } from './database.ts';
import { type Environment, findEnvironment } from './environments.ts';
import { ApiError } from './errors.ts';
import { withETag } from './etag.ts';
import type { Idempotency } from './idempotency.ts';
import type { WriteLandingPage } from './landing-page.ts';
import type { RateLimit } from './rate-limit.ts';
import type { OperationHandler } from './resource.ts';
import { errorResponse, type SandboxResponse } from './response.ts';
import type { Router } from './router.ts';

/** Dependencies of `createHandler`. */
export interface HandlerDependencies {
  database: SandboxDatabase;
  router: Router;
  idempotency: Idempotency;
  rateLimit: RateLimit;
  operations: ReadonlyMap<string, OperationHandler>;
  landingPage: WriteLandingPage;
  clock: Clock;
}

/** Part of a `node:http` request that the sandbox uses. */
export type SandboxRequest = Pick<
  IncomingMessage,
  'method' | 'url' | 'headers' | 'iterator' | 'destroyed' | 'complete'
>;

/** Handles a request. Rejects only if there is a bug. */
export type RequestHandler = (request: SandboxRequest) => Promise<SandboxResponse>;

/** Creates the function that handles a request: route, API key, rate limit, body, validation, operation. It rejects only if there is a bug. */
export function createHandler({
  database,
  router,
  idempotency,
  rateLimit,
  operations,
  landingPage,
  clock,
}: HandlerDependencies): RequestHandler {
  /** @param headers receives the headers of the response, whether the request fails or not */
  async function respond(request: SandboxRequest, headers: Record<string, string>): Promise<SandboxResponse> {
    const { method = 'GET', url = '/' } = request;
    const operation = router.match(method, url);
    const environment = authenticate(request.headers.authorization);
    Object.assign(headers, rateLimit.count(environment));
    const handle = operations.get(operation.operationId ?? '');
    if (handle === undefined) {
      throw new Error(`The operation ${operation.operationId} has no handler.`);
    }

    const key = readIdempotencyKey(request);
    if (key !== undefined) {
      headers['Idempotency-Key'] = key;
    }
    const release = key === undefined ? undefined : idempotency.reserve(environment, key);
    try {
      const body = operation.requestBody === undefined ? undefined : await readJsonBody(request);
      const run = (): SandboxResponse => {
        const { params, query } = router.validate(operation, method, url, body);
        return handle({ environment, params, query, body: body ?? {} });
      };
      if (key !== undefined) {
        // An error response undoes the operation's writes, and is itself stored for the key.
        return idempotency.respond(environment, key, body ?? null, () => {
          try {
            return database.savepoint(run);
          } catch (error) {
            return toErrorResponse(error, url, clock);
          }
        });
      }
      return method === 'GET' ? withETag(run(), request.headers['if-none-match']) : database.transaction(run);
    } finally {
      release?.();
    }
  }

  return async (request) => {
    const { method, url = '/' } = request;
    if (url === '/' && method === 'GET') {
      return landingPage(request.headers.host ?? 'localhost');
    }
    const headers: Record<string, string> = {};
    const response = await respond(request, headers).catch((error) => toErrorResponse(error, url, clock));
    return { ...response, headers: { ...headers, ...response.headers } };
  };
}

/** Returns the response for an `ApiError`, and throws any other error again. */
function toErrorResponse(error: unknown, url: string, clock: Clock): SandboxResponse {
  if (error instanceof ApiError) {
    return errorResponse(error, url, clock);
  }
  throw error;
}

function authenticate(authorization: string | undefined): Environment {
  const environment = findEnvironment(authorization);
  if (environment === undefined) {
    const message =
      authorization === undefined
        ? 'API key required. Send the header "Authorization: ApiKey <key>".'
        : 'Invalid API key. Send the header "Authorization: ApiKey <key>" with a key of the sandbox.';
    throw new ApiError(401, message, { headers: { 'WWW-Authenticate': 'ApiKey' } });
  }
  return environment;
}

/** Reads the key on the methods that are not idempotent by definition; it is ignored on others. */
function readIdempotencyKey({ method, headers }: SandboxRequest): string | undefined {
  const key = headers['idempotency-key'];
  return (method === 'POST' || method === 'PATCH') && typeof key === 'string' && key !== '' ? key : undefined;
}
