import type { IncomingMessage } from 'node:http';

import { type Answer, errorAnswer } from './answer.ts';
import { readJsonBody } from './body.ts';
import type { Clock } from './clock.ts';
import type { SandboxDatabase } from './database.ts';
import { type Environment, findEnvironment } from './environments.ts';
import { ApiError } from './errors.ts';
import type { Idempotency } from './idempotency.ts';
import type { OperationHandler } from './operations.ts';
import type { Router } from './router.ts';

export interface HandlerDependencies {
  database: SandboxDatabase;
  router: Router;
  idempotency: Idempotency;
  operations: ReadonlyMap<string, OperationHandler>;
  clock: Clock;
}

export type RequestHandler = (request: IncomingMessage) => Promise<Answer>;

/** The way of a request: route, key, body, checks, then the operation. Rejects only when there is a bug. */
export function createHandler({
  database,
  router,
  idempotency,
  operations,
  clock,
}: HandlerDependencies): RequestHandler {
  return async (request) => {
    const { method = 'GET', url = '/' } = request;
    try {
      const operation = router.match(method, url);
      const environment = authenticate(request.headers.authorization);
      const run = operations.get(operation.operationId ?? '');
      if (run === undefined) {
        throw new Error(`No handler for the operation ${operation.operationId}`);
      }

      const key = readIdempotencyKey(request);
      const release = key === undefined ? undefined : idempotency.reserve(environment, key);
      try {
        const body = operation.requestBody === undefined ? undefined : await readJsonBody(request);
        const carryOut = (): Answer => {
          const { params, query } = router.check(operation, method, url, body);
          return run({ environment, params, query, body: body ?? {} });
        };
        if (key !== undefined) {
          // A refusal undoes what it may have written, but is stored as the key's answer.
          return idempotency.answer(environment, key, body ?? null, () => {
            try {
              return database.savepoint(carryOut);
            } catch (error) {
              return answerRefusal(error, url, clock);
            }
          });
        }
        return method === 'GET' ? carryOut() : database.transaction(carryOut);
      } finally {
        release?.();
      }
    } catch (error) {
      return answerRefusal(error, url, clock);
    }
  };
}

function answerRefusal(error: unknown, url: string, clock: Clock): Answer {
  if (error instanceof ApiError) {
    return errorAnswer(error, url, clock);
  }
  throw error;
}

function authenticate(authorization: string | undefined): Environment {
  const environment = findEnvironment(authorization);
  if (environment === undefined) {
    const sentence =
      authorization === undefined
        ? 'An API key is needed: send the header "Authorization: ApiKey <key>".'
        : 'This API key is not valid; the header must read "Authorization: ApiKey <key>".';
    throw new ApiError(401, sentence, { headers: { 'WWW-Authenticate': 'ApiKey' } });
  }
  return environment;
}

/** Keys count on the methods that are not repeatable by themselves. */
function readIdempotencyKey({ method, headers }: IncomingMessage): string | undefined {
  const key = headers['idempotency-key'];
  return (method === 'POST' || method === 'PATCH') && typeof key === 'string' && key !== '' ? key : undefined;
}
