/** Reason why Redis can't be used. */
export interface RedisFailure {
  /** Code from Node.js (`ECONNREFUSED`), the first word of an error of Redis (`WRONGPASS`), or a word of our own. */
  code: string;
  /** Clause with the cause, if waiting doesn't help because the configuration or the server must be changed. */
  cause?: string;
}

/** State of the connection that failed. */
interface FailedConnection {
  usesTls: boolean;
  /** Whether the connection was ever ready. */
  wasReady: boolean;
}

/** The server doesn't respond like Redis. */
export class NotRedisError extends Error {}

/** Errors of Redis that waiting doesn't resolve. */
const CAUSES_BY_REPLY: readonly [reply: RegExp, failure: Required<RedisFailure>][] = [
  [/^WRONGPASS /, { code: 'WRONGPASS', cause: 'the user name or password is wrong' }],
  [/^NOAUTH /, { code: 'NOAUTH', cause: 'it requires a password' }],
  [
    /^NOPERM /,
    {
      code: 'NOPERM',
      cause:
        'the user must be allowed to run the commands EVAL, EVALSHA, TIME, INFO, GET, GETRANGE, SET, DEL, PTTL, PEXPIRE, HMGET, HGET, HGETALL, HLEN, HSET and HDEL',
    },
  ],
  [/^READONLY /, { code: 'READONLY', cause: 'it is a read-only replica' }],
  [/^(MOVED|CLUSTERDOWN) /, { code: 'CLUSTER', cause: 'it is part of a cluster, which is not supported' }],
  [/^ERR .*\bAUTH\b.*\bpassword/, { code: 'NO_PASSWORD', cause: 'the URL has a password, but the server has none' }],
  [
    /^ERR (DB index|invalid DB|SELECT is not allowed)/,
    { code: 'DATABASE', cause: "the URL's database number doesn't exist" },
  ],
];

const UNTRUSTED = /^(DEPTH_ZERO_SELF|SELF|CERT|UNABLE_TO|ERR_TLS_CERT)_/;

/** Describes an error without quoting its message, which could contain secrets. */
export function describeRedisFailure(
  error: unknown,
  { usesTls, wasReady }: FailedConnection,
  isReply: (error: Error) => boolean,
): RedisFailure {
  if (!(error instanceof Error)) {
    return { code: 'UNKNOWN' };
  }
  if (isReply(error)) {
    const known = CAUSES_BY_REPLY.find(([reply]) => reply.test(error.message))?.[1];
    return known ?? { code: /^[A-Z]{2,20}(?= )/.exec(error.message)?.[0] ?? 'ERR' };
  }
  if (error instanceof NotRedisError || error.message.startsWith('Unknown RESP type')) {
    return { code: 'NOT_REDIS', cause: "it doesn't respond like Redis" };
  }
  const { code: ofNode } = error as NodeJS.ErrnoException;
  const code = ofNode !== undefined && /^\w{1,60}$/.test(ofNode) ? ofNode : error.constructor.name;
  if (UNTRUSTED.test(code)) {
    return { code, cause: "its certificate isn't trusted; see NODE_EXTRA_CA_CERTS" };
  }
  if (usesTls && /^(ConnectionTimeoutError$|EPROTO$|ERR_SSL_)/.test(code)) {
    return { code, cause: "it doesn't respond to TLS; if it doesn't use TLS, the URL must start with redis://" };
  }
  if (!usesTls && !wasReady && /^(ECONNRESET|SocketClosedUnexpectedlyError)$/.test(code)) {
    return { code, cause: 'it closes the connection; if it requires TLS, the URL must start with rediss://' };
  }
  return { code };
}
