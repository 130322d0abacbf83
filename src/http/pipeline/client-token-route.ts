// Answers requests for client tokens from servers with a tenant's API key.

import { normalizeScheme } from '../../auth/identity.ts';
import { Refusal, refusalErrors, refuse } from '../../errors/codes.ts';
import { toLoggedError } from '../../errors/logged-error.ts';
import { CLIENT_TOKENS_PATH, requireJson } from '../head.ts';
import { type IncomingRequest, REQUEST_ID, type Route, toRequestId } from '../message.ts';
import { parseBody, readBody } from '../params.ts';
import { rateLimited } from './admission.ts';
import type { HttpParts } from './parts.ts';

const MAX_BODY_BYTES = 16 * 1024;

/** Creates the route, which logs one line per request; undefined if no tokens are issued. */
export function createClientTokenRoute(parts: HttpParts): Route | undefined {
  const { auth, headOf, limiter, logger, telemetry, upstreamSelector } = parts;
  const { clientTokens } = auth;
  if (clientTokens === undefined) {
    return undefined;
  }
  const { tenantKeys, rateLimit, issue: sign } = clientTokens;

  async function issue(request: IncomingRequest) {
    if (request.method !== 'POST') {
      throw refuse('METHOD_NOT_ALLOWED', 'Use POST to request a token.', { headers: { allow: 'POST' } });
    }
    const tenant = tenantKeys.tenantOf(normalizeScheme(request.header('authorization') ?? ''));
    const allowance = await limiter.take(`client-tokens\n${tenant ?? ''}`, rateLimit, 1);
    if (!allowance.isAllowed) {
      throw rateLimited('for client tokens', allowance);
    }
    if (tenant === undefined) {
      const message = `Send the API key of one of this gateway's tenants: "Authorization: ApiKey <the tenant's key>".`;
      throw refuse('UNAUTHENTICATED', message, { headers: { 'www-authenticate': 'ApiKey realm="notigraph"' } });
    }
    const upstreamName = tenantKeys.upstreamOf(tenant);
    upstreamSelector.select(request, { clientKind: 'browser', upstreamName }); // Rejects the address of another upstream.
    requireJson(request);
    return sign(tenant, parseBody(await readBody(request, MAX_BODY_BYTES)));
  }

  async function route(request: IncomingRequest) {
    const requestId = toRequestId(request.header(REQUEST_ID));
    const respond = (status: number, body: object, headers: Readonly<Record<string, string>> = {}) => ({
      status,
      headers: headOf(request, { 'content-type': 'application/json', ...headers }, requestId),
      body: JSON.stringify(body),
    });
    try {
      const { subject, ...token } = await issue(request);
      const { tenant, scopes, expiresInSeconds } = token;
      const issued = { requestId, tenant, subject, scopes, expiresInSeconds };
      if (telemetry.audit?.noteToken(issued) === false) {
        const message = 'No token was issued, because the gateway cannot record it.';
        throw refuse('AUDIT_UNAVAILABLE', message, { retryAfterSeconds: 1 });
      }
      logger.info(issued, 'client token');
      return respond(200, token);
    } catch (error) {
      const refusal = error instanceof Refusal ? error : refuse('INTERNAL_SERVER_ERROR', 'Unexpected error.');
      if (refusal !== error) {
        logger.error({ requestId, err: toLoggedError(error) }, 'unexpected error');
      }
      const { status, headers, errors } = refusal;
      logger.info({ requestId, code: errors[0]?.code, httpStatus: status }, 'client token refused');
      return respond(status, { errors: refusalErrors(refusal, { requestId }) }, headers);
    }
  }

  return { paths: upstreamSelector.pathsOf(CLIENT_TOKENS_PATH), route };
}
