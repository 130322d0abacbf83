// Handles requests to the GraphQL endpoint: `handle` is the list of the steps.

import type { ExecutionResult } from 'graphql';
import type { GraphQLParams } from 'graphql-yoga';
import type { Auth } from '../../auth/authenticate.ts';
import { type Identity, isVerified } from '../../auth/identity.ts';
import type { Operation } from '../../documents/prepared-documents.ts';
import { Refusal, type RefusalError } from '../../errors/codes.ts';
import { createContextFactory, type GatewayContext } from '../../graphql/context.ts';
import { isPromise } from '../../lib/promises.ts';
import type { Scope } from '../../settings/scopes.ts';
import { lazyRequest } from '../adapters/fetch-adapter.ts';
import { pathOf, queryOf, readHead } from '../head.ts';
import type { HandleRequest, IncomingRequest, OutgoingResponse } from '../message.ts';
import { type Params, paramsFromBody, paramsFromQuery, parseBody, readBody, readFlags } from '../params.ts';
import { createInFlightRequests } from './in-flight-requests.ts';
import type { HttpParts, RequestState } from './parts.ts';
import { createIdentifySession } from './sessions.ts';

/** End of a request: the result of its execution, or the value that was thrown instead. */
export type RequestEnd = { result: ExecutionResult } | { error: unknown };

/** Creates the response. Called exactly once per request, even if the client has disconnected. */
export type Respond = (state: RequestState, end: RequestEnd) => OutgoingResponse;

/**
 * Creates the function that handles every request to the GraphQL endpoint. Comments list the error statuses of each step. A step that may
 * finish at once returns a value or a promise, and only promises are awaited: each `await` takes a turn of the queue and memory.
 */
export function createPipeline(parts: HttpParts, respond: Respond): HandleRequest {
  const { settings, auth, telemetry, trustedDocuments, prepare, upstreamSelector, admission, createState } = parts;
  const { endpoint, maxBodyBytes } = settings;
  const { authenticate, clientRules, missingCredential } = auth;
  const { startTrace } = telemetry;
  const paths = upstreamSelector.pathsOf(endpoint);
  const identifySession = createIdentifySession(parts);
  const inFlight = createInFlightRequests(parts);
  const createContext = createContextFactory(telemetry.receivers, parts);

  const modeOf = ({ clientKind }: Identity) => clientRules[clientKind].trustedDocuments;

  /** Logs a document in no manifest, if that is to be logged and the caller is verified. */
  function noteUnlisted(text: string, { name }: Operation, { identity, budget }: GatewayContext, hasFailed: boolean) {
    if (modeOf(identity) === 'log' && isVerified(identity, budget.calls, hasFailed)) {
      trustedDocuments.logUnlisted(text, name, identity.clientKind);
    }
  }

  return async function handle(request: IncomingRequest): Promise<OutgoingResponse> {
    const state = createState(request);
    let entered: Identity | undefined;
    try {
      const method = readHead(request, paths, state.mediaType); // 400 403 404 405 406 415; the body is untouched
      state.route = pathOf(request);
      const session = identifySession && (await identifySession(request)); // 401 403
      const authenticated = session ?? authenticate(request.header('authorization'), state.requestId); // 401 503
      state.identity = isPromise(authenticated) ? await authenticated : authenticated;
      const trace = startTrace(state);
      state.trace = trace;
      const identity = upstreamSelector.identify(request, state.identity); // 421
      state.identity = identity;
      const allowance = admission.take(identity); // 429
      state.allowance = isPromise(allowance) ? await allowance : allowance;
      const body = method === 'GET' ? undefined : await readBody(request, maxBodyBytes); // 400 413
      inFlight.enter(identity); // 429 503; after the body, so that slow clients take no room.
      entered = identity;
      const params = body === undefined ? paramsFromQuery(queryOf(request)) : paramsFromBody(parseBody(body)); // 400
      state.flags = readFlags(params, clientRules[identity.clientKind]); // 400 403
      const { text, hash } = trustedDocuments.find(params, modeOf(identity), identity.documents); // 400
      const ofPlugins = { request: lazyRequest(request), params: toYogaParams(params, text) };
      const context = createContext(state, identity, ofPlugins);
      state.context = context;
      const { operation, execute } = prepare(text, context); // Yoga, once per document: parse, limits, validate; 400 405
      state.operation = operation;
      authorize(operation, identity, params.variables, missingCredential); // 401 403
      const executing =
        trace === undefined ? execute(params.variables) : trace.run(async () => execute(params.variables));
      const result = isPromise(executing) ? await executing : executing;
      if (hash === undefined) {
        noteUnlisted(text, operation, context, result.errors !== undefined);
      }
      const { explainer } = context;
      if (explainer !== undefined && 'data' in result) {
        const scopes = operation.findMissingScopes(NO_SCOPES, params.variables);
        return respond(state, { result: await explainer.explain(result, scopes) });
      }
      return respond(state, { result });
    } catch (error) {
      return respond(state, { error }); // Unexpected errors are logged and masked.
    } finally {
      if (entered !== undefined) {
        inFlight.leave(entered);
      }
    }
  };
}

/**
 * Checks the scopes of the whole operation before executing any of it, so that a mutation doesn't apply its first field if the second one is
 * forbidden.
 *
 * @throws {Refusal} UNAUTHENTICATED without a credential, or FORBIDDEN with one error per missing scope
 */
function authorize(
  operation: Operation,
  { clientKind, scopes, withheldScopes }: Identity,
  variables: Readonly<Record<string, unknown>>,
  missingCredential: Auth['missingCredential'],
): void {
  if (scopes === 'all') {
    return; // Before the scopes of the operation, which are computed when they are first read.
  }
  const missing = operation.findMissingScopes(scopes, variables);
  const [first, ...others] = missing.map((scope) => forbidden(scope, withheldScopes?.has(scope)));
  if (first !== undefined) {
    throw clientKind === 'anonymous' ? missingCredential() : new Refusal(403, [first, ...others]);
  }
}

const forbidden = (scope: Scope, isWithheld = false): RefusalError => ({
  code: 'FORBIDDEN',
  message: isWithheld
    ? `This operation requires the scope ${scope}. The token has it, but clients.browser.scopes doesn't permit it.`
    : `The token lacks the scope ${scope}, which this operation requires.`,
  retryable: false,
  scope,
});

/** Returns the parameters in Yoga's form for plugins, without absent ones. */
const toYogaParams = ({ operationName, variables, extensions }: Params, query: string): GraphQLParams => ({
  query,
  variables,
  ...(operationName !== undefined && { operationName }),
  ...(extensions !== undefined && { extensions }),
});

const NO_SCOPES = new Set<never>();
