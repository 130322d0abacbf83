import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Identity } from '../auth/identity.ts';

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

/** Names of tenants that are cached, because a name costs a hash; in bytes, because a key can have 2 KB. */
const MAX_TENANT_BYTES = 2 * 1024 * 1024;

/** Heap of a cached name, besides its key. */
const BYTES_PER_TENANT = 200;

/** Writes one JSON line an operation, and one for what is refused before it is one. */
export function createAccessLog({ logger, secret = randomBytes(32).toString('hex') }: AccessLogOptions): AccessLog {
  const names = new LRUCache<string, string>({
    maxSize: MAX_TENANT_BYTES,
    sizeCalculation: (_, credential) => BYTES_PER_TENANT + credential.length,
  });

  /** Returns the first 8 hex digits of an HMAC of the key that the service is called with: tells callers apart without revealing keys. */
  function tenantOf(credential: string): string {
    let name = names.get(credential);
    if (name === undefined) {
      name = createHmac('sha256', secret).update(credential).digest('hex').slice(0, 8);
      names.set(credential, name);
    }
    return name;
  }

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
        clientKind: identity?.clientKind,
        tenant: identity?.credential && tenantOf(identity.credential),
      },
      'operation',
    );
  };
}
