import type { Plugin } from 'graphql-yoga';
import type { Logger } from 'pino';
import { ClientTokenRefusal, type ClientTokens } from '../audiences/client-tokens.ts';
import type { ServerContext } from '../context.ts';
import { isCredential } from '../credentials.ts';
import type { Allowance, RateLimit, RateLimiter } from '../rate-limits/rate-limiter.ts';
import { CLIENT_CLOSED } from './access-log.ts';
import { ClientClosedError, readText, TooLargeError } from './read-text.ts';
import { isJsonType } from './use-request-gate.ts';

export interface ClientTokensPluginOptions {
  /** The exact path. */
  path: string;
  clientTokens: ClientTokens;
  limiter: RateLimiter;
  /** For each tenant; and for all keys together that are no tenant's. */
  rateLimit: RateLimit;
  logger: Logger;
}

/** No request for a token is larger. */
const MAX_BODY_BYTES = 16 * 1024;

/** An answer that is no token. */
class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** Answers `POST` requests of servers that hold a tenant's key with a token for their frontend; writes a line for each. */
export function useClientTokens({
  path,
  clientTokens,
  limiter,
  rateLimit,
  logger,
}: ClientTokensPluginOptions): Plugin<object, ServerContext> {
  async function issue(request: Request) {
    if (request.method !== 'POST') {
      throw new Refusal(405, 'METHOD_NOT_ALLOWED', 'Ask for a token by POST.', { allow: 'POST' });
    }
    const authorization = request.headers.get('authorization') ?? '';
    const tenant = isCredential(authorization) ? clientTokens.tenantOf(authorization) : undefined;
    const allowance = await limiter.take(`client-tokens\n${tenant ?? ''}`, rateLimit, 1);
    if (!allowance.isAllowed) {
      throw tooMany(allowance);
    }
    if (tenant === undefined) {
      throw new Refusal(
        401,
        'UNAUTHENTICATED',
        'Send the API key of one of this gateway\'s tenants: "Authorization: ApiKey <the tenant\'s key>".',
        { 'www-authenticate': 'ApiKey realm="notigraph"' },
      );
    }
    if (!isJsonType(request.headers.get('content-type'))) {
      throw new Refusal(
        415,
        'UNSUPPORTED_MEDIA_TYPE',
        'Send the request as JSON, with the header "Content-Type: application/json".',
      );
    }
    return clientTokens.issue(tenant, parse(await readText(request, MAX_BODY_BYTES)));
  }

  return {
    async onRequest({ request, url, endResponse, fetchAPI, serverContext: { requestId } }) {
      if (url.pathname !== path) {
        return;
      }
      const respond = (status: number, body: object, headers: Readonly<Record<string, string>> = {}) =>
        endResponse(
          new fetchAPI.Response(JSON.stringify(body), {
            status,
            headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
          }),
        );
      try {
        const token = await issue(request);
        const { tenant, scopes, expiresInSeconds } = token;
        logger.info({ requestId, tenant, scopes, expiresInSeconds }, 'client token');
        respond(200, token);
      } catch (error) {
        const { status, code, message, headers } = toRefusal(error) ?? unexpected(logger, requestId, error);
        logger.info({ requestId, code, status }, 'client token refused');
        const retryAfter = headers['retry-after'];
        const extensions = {
          code,
          retryable: retryAfter !== undefined,
          ...(retryAfter !== undefined && { retryAfterSeconds: Number(retryAfter) }),
        };
        respond(status, { errors: [{ message, extensions }] }, headers);
      }
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, 'BAD_REQUEST', 'The body is not valid JSON.');
  }
}

/** undefined: it is a fault of ours. */
function toRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) {
    return error;
  }
  if (error instanceof ClientTokenRefusal) {
    return new Refusal(error.code === 'FORBIDDEN' ? 403 : 400, error.code, error.message);
  }
  if (error instanceof TooLargeError) {
    return new Refusal(413, 'PAYLOAD_TOO_LARGE', `The request is larger than ${MAX_BODY_BYTES} bytes.`, {
      connection: 'close',
    });
  }
  if (error instanceof ClientClosedError) {
    return new Refusal(CLIENT_CLOSED.status, CLIENT_CLOSED.code, error.message);
  }
  return undefined;
}

function unexpected(logger: Logger, requestId: string | undefined, error: unknown): Refusal {
  logger.error({ requestId, err: error }, 'unexpected error');
  return new Refusal(500, 'INTERNAL_SERVER_ERROR', 'Unexpected error.');
}

const tooMany = ({ retryAfterSeconds = 1 }: Allowance): Refusal =>
  new Refusal(429, 'RATE_LIMITED', 'More tokens were asked for than the limit allows: ask again later.', {
    'retry-after': String(retryAfterSeconds),
  });
