import { createHmac, randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { Identity } from '../audiences/identity.ts';
import { remember } from '../remember.ts';

export interface AccessLogOptions {
  logger: Logger;
  /** Makes a tenant's name in the log the same over restarts and replicas. @default a new one for each gateway */
  secret?: string | undefined;
}

/** What becomes one line. Never a key, variables, or a body. */
export interface AccessLogEntry {
  requestId: string | undefined;
  /** On the clock of `performance.now()`. */
  startedAt: number;
  /** The operation's name. */
  operation?: string | undefined;
  type?: string | undefined;
  /** Of the answer's first error. */
  code?: unknown;
  /** What is wrong with the credential, of the same error. */
  reason?: unknown;
  status: number;
  upstreamCalls: number;
  /** Who asked, where that could be found out. */
  identity: Identity | undefined;
}

/** Code and status of a request whose client has disconnected before the answer. 499 is the status that nginx logs; it is never sent. */
export const CLIENT_CLOSED = { code: 'CLIENT_CLOSED', status: 499 } as const;

export type AccessLog = (entry: AccessLogEntry) => void;

/** An operation's name is the client's to choose. */
const MAX_NAME = 100;

/** Tenants whose names are remembered; a name costs a hash. */
const MAX_TENANTS = 10_000;

/** Writes one JSON line an operation, and one for what is refused before it is one. */
export function createAccessLog({ logger, secret = randomBytes(32).toString('hex') }: AccessLogOptions): AccessLog {
  /** The first 8 hex digits of an HMAC of what the service is called with: tells callers apart without telling who they are. */
  const tenantOf = remember(
    (credential) => createHmac('sha256', secret).update(credential).digest('hex').slice(0, 8),
    MAX_TENANTS,
  );

  return ({ requestId, startedAt, operation, type, code, reason, status, upstreamCalls, identity }) => {
    logger.info(
      {
        requestId,
        operation: operation?.slice(0, MAX_NAME),
        type,
        code,
        reason,
        status,
        ms: Math.round((performance.now() - startedAt) * 10) / 10,
        upstreamCalls,
        audience: identity?.audience,
        tenant: identity?.credential && tenantOf(identity.credential),
      },
      'operation',
    );
  };
}
