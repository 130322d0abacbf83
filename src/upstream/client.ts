import { isRecord } from '../lib/is-record.ts';
import type { Settings } from '../settings/settings.ts';
import { Reader } from './call.ts';
import type { CallEvents, Outcome } from './call-events.ts';
import {
  type CallArgs,
  type DeclaredEndpoint,
  isIdentified,
  type ReadEndpoint,
  type WriteEndpoint,
  type WriteOptions,
} from './endpoint.ts';
import { badResponse, callBudgetExceeded, isUpstreamError, missingCredential } from './errors.ts';
import { assertBody } from './input-rules.ts';
import { Deadline } from './policies/deadline.ts';
import type { UpstreamRequest, WriteResult } from './request.ts';
import type { CallTarget } from './service.ts';
import type { Signal } from './signal.ts';
import { buildPath, pathPrefixOf } from './transport/path.ts';

/** Credential, deadline and cancellation of the operation that makes the calls. */
export interface Caller {
  /** `Authorization` header, forwarded unchanged. If undefined, every call fails before it is sent. */
  authorization: string | undefined;
  /** Aborts every call when the client disconnects. */
  signal: Signal;
  /** Deadline of the operation, on the clock of `performance.now()`. Queueing and retries count too. */
  deadlineAt: number;
  /** Sent as `X-Request-Id`, to correlate the logs of both services. */
  requestId: string;
  /** Receiver of what happens to the calls. */
  events: CallEvents;
  /** Whether reads use no stored responses. Their responses are stored. @default false */
  bypassesCache?: boolean;
}

/** Settings of operations. */
export type OperationSettings = { upstream: URL } & Pick<Settings, 'maxUpstreamCalls' | 'maxBulkItems'>;

/**
 * Client of the upstream service, bound to one caller. Fails only with `UpstreamError`. The fields of a record are not validated here,
 * because GraphQL validates the requested ones.
 */
export interface UpstreamClient {
  /** Returns null if the service has no such record (404, 410). An invalid item of a list is an `UpstreamError` in its place. */
  read<Args extends CallArgs, Body>(endpoint: ReadEndpoint<Args, Body>, args: Args): Promise<Body | null>;
  /** Sends a write. Unlike `read`, fails with `NOT_FOUND` if the service has no such record. */
  write<Args extends CallArgs, Body>(
    endpoint: WriteEndpoint<Args, Body>,
    args: Args & WriteOptions,
  ): Promise<WriteResult<Body>>;
}

/** Calls that an operation may make. */
export class CallBudget {
  /** Calls so far. */
  calls = 0;
  /** Items of bulk writes so far. */
  bulkItems = 0;
  readonly #settings: OperationSettings;
  readonly #caller: Pick<Caller, 'authorization' | 'requestId'>;

  constructor(settings: OperationSettings, caller: Pick<Caller, 'authorization' | 'requestId'>) {
    this.#settings = settings;
    this.#caller = caller;
  }

  /**
   * Adds the credential to a call, and counts it.
   *
   * @throws {UpstreamError} if it must not be sent
   */
  prepare(endpoint: DeclaredEndpoint, args: UpstreamRequest['args']): UpstreamRequest {
    const { authorization, requestId } = this.#caller;
    const { upstream, maxUpstreamCalls, maxBulkItems } = this.#settings;
    if (authorization === undefined) {
      throw missingCredential(endpoint);
    }
    const path = pathPrefixOf(upstream) + buildPath(endpoint, args);
    if (args.body !== undefined) {
      assertBody(endpoint, args.body);
    }
    const [kind, limit] = args.isBulkItem
      ? (['bulkItems', maxBulkItems] as const)
      : (['calls', maxUpstreamCalls] as const);
    if (this[kind] >= limit) {
      throw callBudgetExceeded(endpoint, limit);
    }
    this[kind] += 1;
    return { endpoint, authorization, path, requestId, args };
  }
}

/** Client of one operation, which bounds its calls in number and time. */
export class OperationClient implements UpstreamClient {
  readonly budget: CallBudget;
  readonly #target: CallTarget;
  readonly #deadline: Deadline;
  readonly #events: CallEvents;
  readonly #bypassesCache: boolean;

  constructor(settings: OperationSettings, target: CallTarget, caller: Caller) {
    this.budget = new CallBudget(settings, caller);
    this.#target = target;
    this.#deadline = new Deadline(caller.signal, caller.deadlineAt);
    this.#events = caller.events;
    this.#bypassesCache = caller.bypassesCache === true;
  }

  read<Args extends CallArgs, Body>(endpoint: ReadEndpoint<Args, Body>, args: Args): Promise<Body | null> {
    return new Promise((resolve, reject) => {
      const request = this.budget.prepare(endpoint, args);
      const reader = this.#createReader((outcome) => {
        if (!isUpstreamError(outcome)) {
          resolve(withInvalidItems(endpoint, outcome.body) as Body); // The contract's type: GraphQL validates the requested fields.
        } else if (outcome.code === 'NOT_FOUND') {
          resolve(null);
        } else {
          reject(outcome);
        }
      });
      this.#target.read(request, reader);
    });
  }

  write<Args extends CallArgs, Body>(
    endpoint: WriteEndpoint<Args, Body>,
    args: Args & WriteOptions,
  ): Promise<WriteResult<Body>> {
    return new Promise((resolve, reject) => {
      const request = this.budget.prepare(endpoint, args);
      const reader = this.#createReader((outcome) => {
        if (isUpstreamError(outcome)) {
          reject(outcome);
        } else {
          resolve({ body: withInvalidItems(endpoint, outcome.body) as Body, replayed: outcome.replayed }); // As above.
        }
      });
      this.#target.write(request, reader);
    });
  }

  #createReader(onOutcome: (outcome: Outcome) => void): Reader {
    return new Reader(this.#deadline, this.#events, onOutcome, this.#bypassesCache);
  }
}

/**
 * Replaces the items of a list or page that are no records by errors, so that each costs only its own place. The body itself stays as it is, because
 * a cache may hold it.
 */
function withInvalidItems(endpoint: DeclaredEndpoint, body: unknown): unknown {
  const { expect: expected, identifiedBy } = endpoint;
  const isInvalid = (item: unknown) => !isIdentified(item, identifiedBy);
  const replaceIn = (list: unknown) => {
    if (!Array.isArray(list) || !list.some(isInvalid)) {
      return list;
    }
    const error = badResponse(endpoint, undefined, 'an item is not a record'); // One for all of them, because each takes 5 µs.
    return list.map((item) => (isInvalid(item) ? error : item));
  };
  if (expected === 'page' && isRecord(body)) {
    const data = replaceIn(body.data);
    return data === body.data ? body : { ...body, data };
  }
  return expected === 'list' || (expected === 'value' && identifiedBy.length > 0) ? replaceIn(body) : body;
}
