import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Identity } from '../auth/identity.ts';
import type { CallEntry } from '../upstream/call-log.ts';

/** Options of `createAccessLog`. */
export interface AccessLogOptions {
  logger: Logger;
  /** Secret that keeps a tenant's name in the log stable across restarts and replicas. @default a random one per gateway */
  secret?: string | undefined;
}

/** Content of one line. It never contains a key, variables or a body. */
export interface AccessLogEntry {
  requestId: string | undefined;
  /** Start time, as in `performance.now()`. */
  startedAt: number;
  /** Name of the operation. */
  operation?: string | undefined;
  type?: string | undefined;
  /** Code of the first error in the response. */
  code?: unknown;
  /** Reason for rejecting the credential, from the same error. */
  reason?: unknown;
  status: number;
  upstreamCalls: number;
  /** Caller; undefined if the credential was rejected or not checked. */
  identity: Identity | undefined;
  /** REST calls; undefined unless the log has the level `debug`. */
  calls?: readonly CallEntry[] | undefined;
}

/** Code and status of a request whose client disconnected before the response. nginx logs the same status; it is never sent. */
export const CLIENT_CLOSED = { code: 'CLIENT_CLOSED', status: 499 } as const;

/** Writes one line. */
export type AccessLog = (entry: AccessLogEntry) => void;

/** Maximum length of an operation's name in the log, because clients choose the names. */
const MAX_NAME = 100;

/** Maximum size of the cache of tenant names, which saves a hash per line. Limited in bytes, because an API key can have 2 KB. */
const MAX_TENANT_BYTES = 2 * 1024 * 1024;

/** Heap used by a cached name, without its key. */
const BYTES_PER_TENANT = 200;

/** Creates the access log: one JSON line per operation, and one per request that is rejected before it is an operation. */
export function createAccessLog({ logger, secret = randomBytes(32).toString('hex') }: AccessLogOptions): AccessLog {
  const names = new LRUCache<string, string>({
    maxSize: MAX_TENANT_BYTES,
    sizeCalculation: (_, credential) => BYTES_PER_TENANT + credential.length,
  });

  /** Returns the first 8 hex digits of an HMAC of the API key, which distinguish callers without revealing keys. */
  function tenantOf(credential: string): string {
    let name = names.get(credential);
    if (name === undefined) {
      name = createHmac('sha256', secret).update(credential).digest('hex').slice(0, 8);
      names.set(credential, name);
    }
    return name;
  }

  return ({ requestId, startedAt, operation, type, code, reason, status, upstreamCalls, identity, calls }) => {
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
        calls,
      },
      'operation',
    );
  };
}
