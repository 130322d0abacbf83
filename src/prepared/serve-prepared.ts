import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type ExecutionResult, GraphQLError } from 'graphql';
import type { CreateContext, ServerContext } from '../context.ts';
import { parseExactJson } from '../exact-json.ts';
import { joinBytes } from '../join-bytes.ts';
import type { AccessLog } from '../plugins/access-log.ts';
import type { ClientError, CreateClientErrors } from '../plugins/client-errors.ts';
import type { CorsHeaders } from '../plugins/use-cors.ts';
import { REQUEST_ID, toRequestId } from '../plugins/use-request-id.ts';
import { Abort } from '../upstream/signal.ts';
import type { PreparedOperation } from './compile.ts';
import type { PreparedOperations } from './prepared-operations.ts';
import { createReadHead, type Head, type ReadHeadOptions } from './read-head.ts';
import { readParams } from './read-params.ts';

export interface ServePreparedOptions extends ReadHeadOptions {
  operations: PreparedOperations;
  createContext: CreateContext;
  clientErrors: CreateClientErrors;
  log: AccessLog;
  corsHeaders: CorsHeaders;
  /** Answers everything else: Yoga. What was read of the request is in the server context. */
  otherwise: (request: IncomingMessage, response: ServerResponse, context: ServerContext) => void;
}

/** One request on the short way. */
interface Passage {
  request: IncomingMessage;
  response: ServerResponse;
  head: Head;
  startedAt: number;
}

/**
 * The short way: a POST of an operation that is prepared goes from the socket to its execution and back. Whatever is out of the ordinary
 * (another method, a header that must be refused, an operation that is new, variables that do not fit) goes the whole way through Yoga,
 * which answers the same, and says what is wrong.
 */
export function servePrepared(options: ServePreparedOptions): RequestListener {
  const { operations, otherwise } = options;
  const readHead = createReadHead(options);

  function take(passage: Passage, text: string): void {
    const { request, response, startedAt } = passage;
    let body: unknown;
    try {
      body = parseExactJson(text);
    } catch {
      otherwise(request, response, { startedAt, bodyText: text });
      return;
    }
    const params = readParams(body);
    const operation = params && operations.find(params.query, params.operationName);
    if (operation === undefined || !carryOut(passage, operation, params?.variables ?? {}, options)) {
      otherwise(request, response, { startedAt, body });
    }
  }

  return (request, response) => {
    const head = readHead(request);
    if (head === undefined) {
      otherwise(request, response, {});
      return;
    }
    const passage: Passage = { request, response, head, startedAt: performance.now() };
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      take(passage, joinBytes(chunks).toString('utf8'));
    });
  };
}

/** @returns false when the variables do not fit, and nothing has happened */
function carryOut(
  { request: { headers }, response, head, startedAt }: Passage,
  operation: PreparedOperation,
  variables: Readonly<Record<string, unknown>>,
  { createContext, clientErrors, log, corsHeaders }: ServePreparedOptions,
): boolean {
  const requestId = toRequestId(headers[REQUEST_ID]);
  const client = new Abort();
  const context = createContext({
    authorization: head.authorization,
    idempotencyKey: headers['idempotency-key']?.toString(),
    requestId,
    signal: client,
  });

  function showAll(errors: readonly GraphQLError[]) {
    const toClientError = clientErrors({
      requestId,
      isMutation: operation.type === 'mutation',
      isGone: client.aborted,
    });
    return errors.map((error) => show(error, toClientError(error)));
  }

  function finish({ data, errors }: ExecutionResult, status = 200): void {
    const shown = errors && showAll(errors);
    const text = JSON.stringify(shown === undefined ? { data } : { data, errors: shown });
    const length = Buffer.byteLength(text);
    response.writeHead(status, {
      'content-type': head.mediaType,
      'content-length': length,
      [REQUEST_ID]: requestId,
      ...corsHeaders(headers.origin),
    });
    response.end(text, length === text.length ? 'latin1' : 'utf8'); // ASCII is ASCII in both, and one is copied faster.
    log({
      requestId,
      startedAt,
      operation: operation.name,
      type: operation.type,
      code: shown?.[0]?.extensions.code,
      status,
      upstreamCalls: context.tally.requests,
      authorization: head.authorization,
    });
  }

  /** Executions do not fail: it is a fault of ours. */
  const fail = (fault: unknown): void => finish({ errors: [toGraphQLError(fault)] }, 500);

  const result = operation.execute(context, variables);
  if (result === undefined) {
    return false;
  }
  response.once('close', () => {
    if (!response.writableFinished) {
      client.abort();
    }
  });
  if (result instanceof Promise) {
    void result.then(finish, fail);
  } else {
    finish(result);
  }
  return true;
}

/** As `GraphQLError` writes itself, in this order; errors of compiled operations have locations without their nodes. */
const show = ({ locations, path }: GraphQLError, { message, extensions }: ClientError) => ({
  message,
  ...(locations !== undefined && { locations }),
  ...(path !== undefined && { path }),
  extensions,
});

const toGraphQLError = (fault: unknown): GraphQLError =>
  new GraphQLError('Unexpected error.', { originalError: fault instanceof Error ? fault : new Error(String(fault)) });
