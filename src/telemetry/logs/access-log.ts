// Logs one line per operation, with callers named without their keys.

import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Identity } from '../../auth/identity.ts';
import { infoWriterOf } from '../json-logger.ts';

/** Content of one line. It never contains a key, variables or a body. */
export interface AccessLogEntry {
  requestId: string | undefined;
  /** Ids of its span; undefined if there is none. */
  traceIds?: TraceIds | undefined;
  /** Time from the request to its response, in milliseconds. */
  ms: number;
  operation?: string | undefined;
  type?: string | undefined;
  /** Code of the first error in the response. */
  code?: unknown;
  /** Reason for rejecting the credential, or the scope that the token lacks, from the same error. */
  reason?: unknown;
  status: number;
  upstreamCalls: number;
  /** Calls made by resolvers, including those that shared the response of another operation's call. Not logged. */
  resolverCalls: number;
  /** Calls that used the response of an identical call in flight. @default none */
  shared?: number | undefined;
  /** Reads that were answered from the cache. @default none */
  cached?: number | undefined;
  /** Requests that were sent again. @default none */
  retries?: number | undefined;
  /** Age of the oldest stored response that was used because the service failed; undefined if none was. */
  staleSeconds?: number | undefined;
  /** Caller; undefined if the credential was rejected or not checked. */
  identity: Identity | undefined;
  /** IP address of the client. @default not logged */
  address?: string | undefined;
  /** Name that the client gave itself. */
  client?: string | undefined;
  clientVersion?: string | undefined;
  /** Whether the operation was executed, and not rejected before. */
  isExecuted: boolean;
  /** Failures that mutations returned as data. @default none */
  results?: readonly FailedResult[] | undefined;
  /** Deprecated elements of the schema that the operation uses, such as `Workflow.name`. */
  deprecated?: readonly string[] | undefined;
  /** Whether the operation was explained, not executed. @default false */
  explained?: boolean | undefined;
  /** REST calls; undefined unless the log has the level `debug`. */
  calls?: readonly CallEntry[] | undefined;
}

/** Ids of an operation's span, with OpenTelemetry's names for fields of log lines. */
export interface TraceIds {
  readonly trace_id: string;
  readonly span_id: string;
}

/**
 * Failure that the field of a mutation returned as data: its `code`, or a kind of failure within a success, such as the status of an event,
 * `INVALID_RECIPIENTS`.
 */
export type FailedResult = readonly [field: string, kind: string];

export interface CallEntry {
  method: string;
  /** Template of the path, without ids. */
  route: string;
  /** Status of the response; absent if there was none. */
  httpStatus?: number;
  code?: string;
  /** Duration; absent if the operation ended first. */
  ms?: number;
  /** Number of the attempt, from 1; absent if the call was shared. */
  attempt?: number;
  /** Whether the call used the response of another operation's identical call. */
  shared?: true;
  /** Age of the stored response that was used instead of a call, in milliseconds. */
  ageMs?: number;
}

/** Maximum length of an operation's name in logs and traces, because clients choose the names. */
const MAX_NAME = 100;

const MAX_DEPRECATED = 10;

/** Maximum different failures as data in a line. */
const MAX_RESULTS = 20;

/** Returns the name of an operation, shortened to a reasonable length. */
export const shortenName = (name: string): string => name.slice(0, MAX_NAME);

/** Duration from which an operation is always logged, in milliseconds: users notice it (RAIL: beyond a second, they lose focus). */
const SLOW_MS = 1_000;

/**
 * Creates the access log: one JSON line per operation, and one per request that is rejected before it is an operation.
 *
 * @param sample share of the fast and successful operations that are logged
 */
export function createAccessLog(logger: Logger, nameTenant: TenantNames, sample: number) {
  const write = infoWriterOf(logger);
  return (entry: AccessLogEntry): void => {
    if (!logger.isLevelEnabled('info')) {
      return;
    }
    const { identity, results } = entry;
    const ms = Math.round(entry.ms * 10) / 10;
    if (sample < 1 && (entry.code ?? results) === undefined && ms < SLOW_MS && Math.random() >= sample) {
      return;
    }
    write(
      {
        requestId: entry.requestId,
        ...entry.traceIds,
        operation: entry.operation && shortenName(entry.operation),
        type: entry.type,
        code: entry.code,
        reason: entry.reason,
        results: results && [...new Set(results.map((each) => each.join(': ')))].slice(0, MAX_RESULTS),
        httpStatus: entry.status,
        ms,
        upstreamCalls: entry.upstreamCalls,
        shared: entry.shared,
        cached: entry.cached,
        retries: entry.retries,
        staleSeconds: entry.staleSeconds,
        clientKind: identity?.clientKind,
        tenant: identity?.credential && nameTenant(identity.credential),
        upstream: identity?.upstreamName,
        address: entry.address,
        client: entry.client,
        clientVersion: entry.clientVersion,
        deprecated: entry.deprecated?.slice(0, MAX_DEPRECATED),
        explained: entry.explained,
        calls: entry.calls,
      },
      'operation',
    );
  };
}

/** Maximum size of the cache of names, which saves a hash per line. Limited in bytes, because an API key can have 2 KB. */
const MAX_NAMES_BYTES = 2 * 1024 * 1024;

/** Heap used by a cached name, without its key. */
const BYTES_PER_TENANT = 200;

/**
 * Returns the name of an API key in logs: that of the tenant in the configuration, or the first 8 hex digits of an HMAC, which distinguish
 * callers without revealing keys.
 */
export type TenantNames = (credential: string) => string;

/**
 * Creates a function that names API keys.
 *
 * @param secret secret that keeps the names stable across restarts and replicas
 * @param tenantOf returns the tenant that an API key belongs to, if it is one of the configuration's
 */
export function createTenantNames(secret: string, tenantOf: (credential: string) => string | undefined): TenantNames {
  const names = new LRUCache<string, string>({
    maxSize: MAX_NAMES_BYTES,
    sizeCalculation: (_, credential) => BYTES_PER_TENANT + credential.length,
    memoMethod: (credential) => createHmac('sha256', secret).update(credential).digest('hex').slice(0, 8),
  });
  return (credential) => tenantOf(credential) ?? names.memo(credential);
}
