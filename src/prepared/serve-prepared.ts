import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Identity } from '../audiences/identity.ts';
import type { AudiencePolicies } from '../audiences/policies.ts';
import type { ServerContext } from '../context.ts';
import { joinBytes } from '../join-bytes.ts';
import type { Allowance } from '../rate-limits/rate-limiter.ts';
import type { TrustedDocuments } from '../trusted-documents/trusted-documents.ts';
import { type CarryOutOptions, carryOut, type Found, type Passage } from './carry-out.ts';
import { createIsHost, isTarget, refuseAddress } from './host.ts';
import type { PreparedOperations } from './prepared-operations.ts';
import { createReadHead, type ReadHeadOptions } from './read-head.ts';
import { readParams } from './read-params.ts';

export interface ServePreparedOptions extends ReadHeadOptions, CarryOutOptions {
  operations: PreparedOperations;
  documents: TrustedDocuments;
  policies: AudiencePolicies;
  /** Answers everything else: Yoga. What was read of the request is in the server context. */
  otherwise: (request: IncomingMessage, response: ServerResponse, context: ServerContext) => void;
}

/**
 * The short way: a POST of an operation that is prepared goes from the socket to its execution and back. Whatever is out of the ordinary
 * (another method, a header that must be refused, an operation that is new, variables that do not fit) goes the whole way through Yoga,
 * which answers the same, and says what is wrong.
 */
export function servePrepared(options: ServePreparedOptions): RequestListener {
  const { otherwise } = options;
  const readHead = createReadHead(options);
  const isHost = createIsHost();

  function take(passage: Passage, text: string): void {
    const { request, response, startedAt, head } = passage;
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      otherwise(request, response, { startedAt, bodyText: text });
      return;
    }
    const found = findOperation(head.identity, body, options);
    const allowance = found && options.admission.take(head.identity);
    if (allowance instanceof Promise) {
      void allowance.then((settled) => proceed(passage, body, found, settled)); // From Redis: within its time-out.
    } else {
      proceed(passage, body, found, allowance);
    }
  }

  function proceed(passage: Passage, body: unknown, found: Found | undefined, allowance: Allowance | undefined): void {
    const { request, response, startedAt, head } = passage;
    if (response.destroyed) {
      if (allowance?.isAllowed) {
        options.admission.settle(head.identity, 0); // Who left while the limit was looked at has cost nothing.
      }
      return;
    }
    const mayRun = found !== undefined && allowance?.isAllowed !== false;
    if (!mayRun || !carryOut({ ...passage, allowance }, found, options)) {
      otherwise(request, response, { startedAt, body, identity: head.identity, allowance });
    }
  }

  return (request, response) => {
    if (!isHost(request.headers.host)) {
      return refuseAddress(response);
    }
    const head = readHead(request);
    if (head === undefined && !isTarget(request.url)) {
      return refuseAddress(response);
    }
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

/** undefined: it is not prepared, or may not be asked for. */
function findOperation(
  { audience, scopes, documents: permitted }: Identity,
  body: unknown,
  { operations, documents, policies }: ServePreparedOptions,
): Found | undefined {
  const params = readParams(body);
  const text =
    params && documents.admit(params, { audience, mode: policies[audience].trustedDocuments, documents: permitted });
  const operation = typeof text === 'string' ? operations.find(text, params?.operationName) : undefined;
  if (params === undefined || operation === undefined) {
    return undefined;
  }
  const { variables } = params;
  return scopes === 'all' || operation.scopes.missing(scopes, variables).length === 0
    ? { operation, variables }
    : undefined;
}
