// Creates the context of each operation, with its caller, upstream client, loaders and deadline.

import type { YogaInitialContext } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { Identity } from '../auth/identity.ts';
import type { Deadline, Signal } from '../lib/signal.ts';
import type { GatewaySettings } from '../settings/settings.ts';
import { type CallsOrigin, Usage, type UsageReceivers } from '../telemetry/usage.ts';
import type { OperationClient, OperationWrites } from '../upstream/calls.ts';
import { readToTryKey } from '../upstream/endpoints.ts';
import { errorOf, isUpstreamError } from '../upstream/errors.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import { Explainer } from './calls/explainer.ts';
import { FieldCallCounts } from './calls/field-calls.ts';
import { OperationLoaders } from './calls/operation-loaders.ts';
import type { FieldContext } from './loaders.ts';

/** Parameters of the operation and its request, for plugins. The request has no body, because it was already read. */
type PluginContext = Pick<YogaInitialContext, 'params' | 'request'>;

/** Context of one operation. Each operation has its own, so that callers share nothing. */
export interface GatewayContext extends PluginContext, FieldContext {
  /** Id of this request in the response, the gateway's log and the upstream's log. */
  readonly requestId: string;
  readonly identity: Identity;
  /** Cost of the upstream calls made for the operation so far. */
  readonly usage: Usage;
  /** Calls that the operation has made, none if it is only explained. */
  readonly budget: OperationClient['budget'];
  /**
   * Tries the caller's API key with a read, which fails if the service doesn't accept it. Returns undefined if the service has accepted it within the last
   * minute, or the gateway has verified a token. For fields that may answer without a call, because only the service knows its keys.
   *
   * Fails with UNAUTHENTICATED if the operation is only explained, because then nothing is sent.
   */
  readonly tryKey: () => Promise<unknown> | undefined;
  readonly writes: OperationWrites;
  /** Ends the operation, whatever its resolvers do. */
  readonly deadline: Deadline;
  /** Calls by field; undefined unless the request asks for a report of its calls. */
  readonly fieldCalls?: FieldCallCounts | undefined;
  /** Whether the operation is only explained: what a resolver does itself, such as a request to another service, must not happen. */
  readonly isExplained: boolean;
  /** Explains the operation; undefined if it is executed. */
  readonly explainer: Explainer | undefined;
  /** Derivation of idempotency keys: see the setting. */
  readonly idempotencyKeys: GatewaySettings['idempotencyKeys'];
  /** `Idempotency-Key` header of the request: the default of every input's `idempotencyKey`. */
  readonly idempotencyKey: string | undefined;
  readonly logger: Logger;
  readonly now: () => Date;
}

/** Flags in the extensions of a request. */
export interface RequestFlags {
  /** Whether the operation is only explained: nothing is sent upstream. */
  readonly isExplained: boolean;
  /** Whether the response reports the calls of the operation. */
  readonly reportsCalls: boolean;
}

/** Request of an operation, as far as its execution depends on it. */
export interface OperationRequest {
  readonly requestId: string;
  readonly request: {
    /** Aborted when the client disconnects. */
    readonly signal: Signal;
    header(name: string): string | undefined;
  };
  /** IP address of the client; undefined if it is not logged or unknown. */
  readonly address: string | undefined;
  /** Trace of the operation; undefined if there is none. */
  readonly trace?: CallsOrigin['trace'];
  /** Whether reads use no stored responses. */
  readonly bypassesCache: boolean;
  /** @default none */
  readonly flags?: RequestFlags;
}

const UNTRIED_KEY =
  'This field is explained only for an API key that the service has accepted within the last minute. Send an operation that calls it first.';

/**
 * Ignores a failure of the read that tries a key: services can forbid that read to a key, not have it, or fail on it.
 *
 * @throws {UpstreamError} the failure, if the service refused the key, or didn't answer by itself: whoever invents a key can bring that about
 */
function passUnlessRefused(error: unknown): void {
  const { status = 401, isOutage = false, isForeign = false } = isUpstreamError(error) ? error : {};
  if (isOutage || [401, 429].includes(status) || (isForeign && status !== 404)) {
    throw error;
  }
}

export type CreateContext = (operation: OperationRequest, identity: Identity, plugins: PluginContext) => GatewayContext;

/** @param receivers receive what happens to the calls of all operations */
export function createContextFactory(
  receivers: UsageReceivers,
  {
    upstreams,
    logger,
    now,
    settings: { operationTimeoutMs, idempotencyKeys },
  }: {
    upstreams: Pick<Upstreams, 'of'>;
    logger: Logger;
    now: () => Date;
    settings: Pick<GatewaySettings, 'operationTimeoutMs' | 'idempotencyKeys'>;
  },
): CreateContext {
  return (operation, identity, { params, request }) => {
    const { requestId, bypassesCache, flags } = operation;
    const { credential, upstreamName } = identity;
    const upstream = upstreams.of(upstreamName);
    const usage = new Usage(receivers, identity, operation);
    const writes: OperationWrites = { ofField: undefined };
    const explainer = flags?.isExplained
      ? new Explainer(upstream.record({ credential, requestId, writes }))
      : undefined;
    const sender = upstream.bind({
      credential,
      person: identity.clientKind === 'browser' ? identity.callerId : undefined,
      signal: operation.request.signal,
      deadlineAt: performance.now() + operationTimeoutMs,
      requestId,
      events: usage,
      bypassesCache,
      writes,
    });
    const client = explainer?.client ?? sender;
    const fieldCalls = flags?.reportsCalls === true ? new FieldCallCounts(sender) : undefined;
    const tryKey = () => {
      if (identity.clientKind !== 'server' || upstream.hasAccepted(credential)) {
        return undefined;
      }
      return explainer === undefined
        ? sender.read(readToTryKey, {}).catch(passUnlessRefused)
        : Promise.reject(errorOf('missingCredential', readToTryKey, { message: UNTRIED_KEY }));
    };
    return {
      requestId,
      identity,
      usage,
      budget: sender.budget,
      upstream: client,
      tryKey,
      writes,
      deadline: sender.deadline,
      loaders: new OperationLoaders(client, explainer ?? fieldCalls),
      fieldCalls,
      isExplained: explainer !== undefined,
      explainer,
      idempotencyKeys,
      idempotencyKey: operation.request.header('idempotency-key') || undefined,
      logger,
      now,
      params,
      request,
    };
  };
}
