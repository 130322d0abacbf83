// Creates what the endpoints share, and the state of a request from its head to its response.

import type { Logger } from 'pino';
import type { Auth } from '../../auth/authenticate.ts';
import type { Identity, SessionResult } from '../../auth/identity.ts';
import type { Prepare } from '../../documents/engine.ts';
import type { Operation } from '../../documents/prepared-documents.ts';
import type { TrustedDocuments } from '../../documents/trusted-documents.ts';
import type { GatewayContext, OperationRequest, RequestFlags } from '../../graphql/context.ts';
import type { RateLimiter } from '../../rate-limits/rate-limiter.ts';
import type { GatewaySettings } from '../../settings/settings.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { Upstreams } from '../../upstream/upstreams.ts';
import { bypassesCache, CLIENT_TOKENS_PATH, createKnownHosts, MCP_PATH } from '../head.ts';
import { type IncomingRequest, type NodeMessage, REQUEST_ID, toRequestId } from '../message.ts';
import { type AdmissionAllowance, createAdmission } from './admission.ts';
import { createAddressOf, createNegotiateMediaType } from './request-headers.ts';
import { createResponseHeads } from './response-head.ts';
import { createUpstreamSelector } from './select-upstream.ts';

/** Rooms below, as far as they answer requests. */
export interface HttpDeps {
  readonly settings: GatewaySettings;
  readonly auth: Auth;
  readonly telemetry: Telemetry;
  readonly trustedDocuments: TrustedDocuments;
  readonly prepare: Prepare;
  readonly upstreams: Upstreams;
  readonly limiter: RateLimiter;
  /** Identifies people by sessions of the host; undefined if only the header `Authorization` identifies callers. */
  readonly authenticate: ((request: NodeMessage | Request) => SessionResult | Promise<SessionResult>) | undefined;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Returns the time in milliseconds. @default performance.now */
  readonly monotonicNow: (() => number) | undefined;
}

/** Request from its head to its response. Each step adds what it finds. */
export interface RequestState extends OperationRequest {
  readonly request: IncomingRequest;
  /** Start time, as in `performance.now()`. */
  readonly startedAt: number;
  /** Media type of the response; undefined if the client accepts none of the available types. */
  readonly mediaType: string | undefined;
  /** Path of the endpoint; undefined before it is known to be one. Any other path is data of the client. */
  route?: string;
  identity?: Identity;
  /** State of the caller's rate limit; undefined if the caller has none, or before it is checked. */
  allowance?: AdmissionAllowance | undefined;
  /** Undefined if there is none, or before the caller is identified. */
  trace?: ReturnType<Telemetry['startTrace']>;
  /** Undefined before they are read. */
  flags?: RequestFlags;
  context?: GatewayContext;
  operation?: Operation;
}

export type HttpParts = ReturnType<typeof createParts>;

/** Creates what the endpoints share. */
export function createParts(deps: HttpDeps) {
  const { settings, auth, limiter, logger, monotonicNow } = deps;
  const negotiateMediaType = createNegotiateMediaType();
  const addressOf = createAddressOf(settings.trustedProxies);
  const endpoints = [settings.endpoint, CLIENT_TOKENS_PATH, MCP_PATH];
  return {
    ...deps,
    ...createResponseHeads(auth.clientRules, logger, monotonicNow),
    /** Whether a `Host` is known. Pages of others could be an attacker's. */
    isKnownHost: createKnownHosts(settings),
    upstreamSelector: createUpstreamSelector(settings.upstreams, endpoints),
    admission: createAdmission(limiter, auth.clientRules),
    createState: (request: IncomingRequest): RequestState => ({
      request,
      startedAt: performance.now(),
      requestId: toRequestId(request.header(REQUEST_ID)),
      mediaType: negotiateMediaType(request.header('accept')),
      address: addressOf(request),
      bypassesCache: bypassesCache(request),
    }),
  };
}
