// Puts the heads of responses together, and decides which web pages of other origins may send requests and read responses (CORS).

import type { Logger } from 'pino';
import type { ClientKind, ClientRules, RulesByClientKind } from '../../auth/identity.ts';
import { limitLines } from '../../lib/log-limits.ts';
import { toPrintable } from '../../lib/text.ts';
import { type IncomingRequest, type OutgoingResponse, REQUEST_ID, toRequestId } from '../message.ts';

/** Response headers that web pages may read. */
const EXPOSED_HEADERS = 'x-request-id, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset';

const NO_HEADERS: OutgoingResponse['headers'] = {};

const VARIES: OutgoingResponse['headers'] = { vary: 'Origin' };

/** Maximum origins that are logged per minute, because anyone can invent them. */
const MAX_WARNINGS = 10;

/**
 * Creates the heads of responses, with the rules of CORS. They log a warning for each origin that is not allowed.
 *
 * @param clientRules exact origins from which web pages may send each kind of credential
 * @param monotonicNow returns the time in milliseconds. @default performance.now
 */
export function createResponseHeads(
  clientRules: RulesByClientKind,
  logger: Pick<Logger, 'warn'>,
  monotonicNow = () => performance.now(),
) {
  const { anonymous } = clientRules;
  const mayWarn = limitLines(MAX_WARNINGS, monotonicNow);

  function warn(origin: string, { originsSetting }: ClientRules): void {
    const printableOrigin = toPrintable(origin);
    if (mayWarn(printableOrigin)) {
      logger.warn(
        `Origin ${JSON.stringify(printableOrigin)} is not in ${originsSetting}, so browsers block its requests.`,
      );
    }
  }

  /** Whether pages of an origin may send requests with any kind of credential. */
  function allows(origin: string): boolean {
    const isAllowed = anonymous.origins.has(origin);
    if (!isAllowed) {
      warn(origin, anonymous);
    }
    return isAllowed;
  }

  /** Returns the headers with which pages may read the response. Origins that are not allowed get no `Access-Control-*` header. */
  function corsHeaders(request: IncomingRequest): OutgoingResponse['headers'] {
    if (anonymous.origins.size === 0) {
      return NO_HEADERS;
    }
    const origin = request.header('origin');
    const rules = clientRules[guessClientKind(request.header('authorization'))];
    if (origin !== undefined && rules.origins.has(origin)) {
      return { ...VARIES, 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED_HEADERS };
    }
    // Its preflight was allowed. Others have warned at theirs; pages of the gateway itself have none.
    if (origin !== undefined && anonymous.origins.has(origin)) {
      warn(origin, rules);
    }
    return VARIES;
  }

  return {
    /**
     * Returns the headers that every response has, also one that refuses the request, and its own.
     *
     * @param own headers of the response itself. @default none
     * @param requestId id of the request. @default that of the client, or a new one
     */
    headOf(
      request: IncomingRequest,
      own: OutgoingResponse['headers'] = NO_HEADERS,
      requestId = toRequestId(request.header(REQUEST_ID)),
    ): OutgoingResponse['headers'] {
      const common = corsHeaders(request);
      // Caches must not store a response: those of one path differ by credential and body.
      const head = { 'cache-control': 'no-store', [REQUEST_ID]: requestId, ...common, ...own };
      return own.vary === undefined || common.vary === undefined
        ? head
        : { ...head, vary: `${own.vary}, ${common.vary}` };
    },
    allowsOrigin: allows,
    /** Responds to a preflight. The origins of all kinds of clients are allowed, because a preflight contains no credential. */
    preflight(request: IncomingRequest): OutgoingResponse {
      const origin = request.header('origin');
      return origin !== undefined && allows(origin)
        ? { status: 204, headers: preflightHeaders(request.header('access-control-request-headers')), body: undefined }
        : { status: 405, headers: { allow: 'GET, POST' }, body: undefined };
    },
  };
}

/** Guesses the kind of client from the form of its credential, so that a page can read the error if the credential is rejected. */
function guessClientKind(authorization: string | undefined): ClientKind {
  if (authorization === undefined) {
    return 'anonymous';
  }
  return /^bearer /i.test(authorization) ? 'browser' : 'server';
}

/** Maximum length of the list of headers that a preflight asks for. */
const MAX_ASKED_LENGTH = 2_048;

/** Name of a header (RFC 9110, 5.6.2). */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** Allows all headers that the page asks for: the gateway ignores those that it doesn't know, and lets no page of another origin send cookies. */
function preflightHeaders(asked = ''): OutgoingResponse['headers'] {
  const names = asked.length > MAX_ASKED_LENGTH ? [] : asked.split(',').map((name) => name.trim());
  const allowed = names.filter((name) => HEADER_NAME.test(name)).join(', ');
  return {
    'access-control-allow-methods': 'GET, POST',
    ...(allowed !== '' && { 'access-control-allow-headers': allowed }),
    'access-control-max-age': '86400',
    vary: 'Access-Control-Request-Headers',
  };
}
