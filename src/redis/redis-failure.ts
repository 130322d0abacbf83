// Describes why Redis can't be used.

import { SecretError } from '../lib/files/secret-files.ts';

/** Reason why Redis can't be used. */
export interface RedisFailure {
  /** Code from Node.js (`ECONNREFUSED`), the first word of an error of Redis (`WRONGPASS`), or a word of our own. */
  code: string;
  /** Clause with the cause, if waiting doesn't help because the configuration or the server must be changed. */
  cause?: string;
}

/** Error with a failure that this process has found itself. */
export class RedisError extends Error {
  readonly failure: RedisFailure;

  constructor(failure: RedisFailure) {
    super(failure.code);
    this.failure = failure;
  }
}

export const NOT_REDIS: RedisFailure = { code: 'NOT_REDIS', cause: "it doesn't respond like Redis" };

export const notSupported = (mode: 'Redis Cluster' | 'Sentinel'): RedisFailure => ({
  code: 'NOT_SUPPORTED',
  cause: `it is a ${mode}, which isn't supported; the URL must lead to one primary under a stable name`,
});

/** Errors of Redis that waiting doesn't resolve. */
const FAILURES_BY_REPLY: readonly [reply: RegExp, failure: RedisFailure][] = [
  [/^WRONGPASS /, { code: 'WRONGPASS', cause: 'the user name or password is wrong' }],
  [/^NOAUTH /, { code: 'NOAUTH', cause: 'it requires a password' }],
  [
    /^NOPERM /,
    {
      code: 'NOPERM',
      cause:
        'the user must be allowed to run the commands EVAL, EVALSHA, TIME, INFO, GET, MGET, SET, DEL, PEXPIRE, HVALS, HSET and HDEL',
    },
  ],
  [/^READONLY /, { code: 'READONLY', cause: 'it is a read-only replica; the URL must lead to the primary' }],
  [/^(MOVED|CROSSSLOT|CLUSTERDOWN) |^ERR SELECT is not allowed/, notSupported('Redis Cluster')],
  [/^ERR .*\bAUTH\b.*\bpassword/, { code: 'NO_PASSWORD', cause: 'the URL has a password, but the server has none' }],
  [/^ERR (DB index|invalid DB)/, { code: 'DATABASE', cause: "the URL's database number doesn't exist" }],
];

/** Describes an error that Redis has replied, without quoting it. */
export function describeReply(message: string): RedisFailure {
  const failure = FAILURES_BY_REPLY.find(([reply]) => reply.test(message))?.[1];
  return failure ?? { code: /^[A-Z]{2,20}(?= )/.exec(message)?.[0] ?? 'ERR' };
}

/**
 * Describes an error of a connection without quoting its message, which could contain secrets.
 *
 * @param hasConnected whether there was a connection to the server before
 */
export function describeConnectionError(error: unknown, usesTls: boolean, hasConnected: boolean): RedisFailure {
  if (!(error instanceof Error)) {
    return { code: 'UNKNOWN' };
  }
  if (error instanceof RedisError) {
    return error.failure;
  }
  if (error instanceof SecretError) {
    return { code: 'INVALID_FILE', cause: error.message };
  }
  if (error.message.startsWith('Unknown RESP type')) {
    return NOT_REDIS;
  }
  const codeOfNode: unknown = Reflect.get(error, 'code');
  const code = typeof codeOfNode === 'string' && /^\w{1,60}$/.test(codeOfNode) ? codeOfNode : error.constructor.name;
  if (/^(DEPTH_ZERO_SELF|SELF|CERT|UNABLE_TO|ERR_TLS_CERT)_/.test(code)) {
    return { code, cause: "its certificate isn't trusted; set ca to the certificate of its authority" };
  }
  if (usesTls && /^(ConnectionTimeoutError$|EPROTO$|ERR_SSL_)/.test(code)) {
    return { code, cause: "it doesn't respond to TLS; if it doesn't use TLS, the URL must start with redis://" };
  }
  if (!usesTls && !hasConnected && /^(ECONNRESET|SocketClosedUnexpectedlyError)$/.test(code)) {
    return { code, cause: 'it closes the connection; if it requires TLS, the URL must start with rediss://' };
  }
  return { code };
}
