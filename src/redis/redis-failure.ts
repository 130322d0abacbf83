import { SecretError } from '../lib/files/secret-files.ts';

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

/** The server has a mode that isn't supported, which is the message. */
export class NotSupportedError extends Error {}

const notSupported = (mode: string): Required<RedisFailure> => ({
  code: 'NOT_SUPPORTED',
  cause: `it is a ${mode}, which isn't supported; the URL must lead to one primary under a stable name`,
});

/** Failures of servers that are not, or no longer, the primary. */
const NOT_PRIMARY = new Set(['READONLY', 'MASTERDOWN', 'NOREPLICAS']);

/** Returns whether another server may be the primary, so that a new connection may help. */
export const isNotPrimary = ({ code }: RedisFailure): boolean => NOT_PRIMARY.has(code);

/** Errors of Redis that waiting doesn't resolve. */
const CAUSES_BY_REPLY: readonly [reply: RegExp, failure: Required<RedisFailure>][] = [
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
    const failure = CAUSES_BY_REPLY.find(([reply]) => reply.test(error.message))?.[1];
    return failure ?? { code: /^[A-Z]{2,20}(?= )/.exec(error.message)?.[0] ?? 'ERR' };
  }
  if (error instanceof NotSupportedError) {
    return notSupported(error.message);
  }
  if (error instanceof SecretError) {
    return { code: 'INVALID_FILE', cause: error.message };
  }
  if (error instanceof NotRedisError || error.message.startsWith('Unknown RESP type')) {
    return { code: 'NOT_REDIS', cause: "it doesn't respond like Redis" };
  }
  const { code: ofNode } = error as NodeJS.ErrnoException;
  const code = ofNode !== undefined && /^\w{1,60}$/.test(ofNode) ? ofNode : error.constructor.name;
  if (UNTRUSTED.test(code)) {
    return { code, cause: "its certificate isn't trusted; set ca to the certificate of its authority" };
  }
  if (usesTls && /^(ConnectionTimeoutError$|EPROTO$|ERR_SSL_)/.test(code)) {
    return { code, cause: "it doesn't respond to TLS; if it doesn't use TLS, the URL must start with redis://" };
  }
  if (!usesTls && !wasReady && /^(ECONNRESET|SocketClosedUnexpectedlyError)$/.test(code)) {
    return { code, cause: 'it closes the connection; if it requires TLS, the URL must start with rediss://' };
  }
  return { code };
}
